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

// A project is what installs into an environment of its own.
type project struct{ managers.Manager }

type (
	pixi   struct{ project }
	poetry struct{ project }
)

// byManager has one for each row of the table; a test holds that.
var byManager = map[string]installer{
	"uv":         uv{},
	"pip":        pip{},
	"conda":      conda{row("conda")},
	"mamba":      conda{row("mamba")},
	"micromamba": conda{row("micromamba")},
	"pixi":       pixi{project{row("pixi")}},
	"poetry":     poetry{project{row("poetry")}},
}

func row(name string) managers.Manager {
	m, _ := managers.Find(name)
	return m
}
