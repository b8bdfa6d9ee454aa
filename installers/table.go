package installers

import "envfix/internal/managers"

// An installer is how a manager of the table installs.
type installer interface {
	// steps adds to b what installs its choice.
	steps(b *builder) error
}

// A leaver carries no package over from an environment that its own replaces.
type leaver interface {
	// leavesAll says why, of n packages.
	leavesAll(b *builder, n int) string
}

type pixi struct{ managers.Manager }

// byManager has one for each row of the table; a test holds that.
var byManager = map[string]installer{
	"uv":         uv{},
	"pip":        pip{},
	"conda":      conda{row("conda")},
	"mamba":      conda{row("mamba")},
	"micromamba": conda{row("micromamba")},
	"pixi":       pixi{row("pixi")},
}

func row(name string) managers.Manager {
	m, _ := managers.Find(name)
	return m
}
