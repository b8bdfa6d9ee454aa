package installers

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// What stays is copied from its files wherever that can be: the same bytes, and no
// index is asked for a name that may be somebody else's there. An installer writes
// down where a package came from only where that was an address or a path (PEP 610);
// one of a private index looks as one of any other.

// copyable reports whether a package is carried over by its files. What came from an
// address that can be used again comes from there.
func (c *keeper) copyable(d machine.HeldDist) bool {
	if d.Origin != nil {
		if d.Origin.Kind == machine.FromEditable {
			return false // its files are elsewhere
		}
		if _, why := again(d.Origin); why == "" {
			return false
		}
	}
	if slices.Contains(c.b.t.FromIndex, d.Name) { // as the user said
		return false
	}
	if !c.held.Files {
		return c.samePython()
	}
	return d.Whole && !c.forOtherPython(d)
}

// samePython reports whether the environment that is replaced has the Python of the
// new one, where only facts tell of it.
func (c *keeper) samePython() bool {
	return slices.ContainsFunc(c.b.h.Pythons, func(p machine.Python) bool {
		return p.Active && p.Source == "venv" && version.Minor(p.Version) == c.b.choice.Python
	})
}

// mayAsk reports whether the index in use may be asked for a package by its name,
// because it is known to be from there: envfix's data names it, the installer's cache
// has it from the default index, or the user says so.
func (c *keeper) mayAsk(d machine.HeldDist) bool {
	_, label := version.SplitLocal(d.Version)
	if d.Origin != nil || label != "" {
		return false
	}
	known, _ := c.b.m.KnownName(d.Name)
	return known || d.Indexed || slices.Contains(torchsOwn, d.Name) || slices.Contains(c.b.t.FromIndex, d.Name) ||
		slices.Contains(c.b.t.FromIndex, "all")
}

// unasked says why the index in use is not asked for a package; "" it is. Where an
// environment is built anew because its files are broken, the same ones are needed:
// others are found before anything of them runs, see [plan.KeptPackage].
func (c *keeper) unasked(d machine.HeldDist) string {
	switch {
	case c.mayAsk(d), c.b.t.Rebuild() && d.Digest != "" && len(d.Tags) > 0 && !c.forOtherPython(d):
		return ""
	case c.forOtherPython(d) || !c.held.Files:
		return fmt.Sprintf("needs another file for Python %s, and nothing here says that it is from the index in use (`--from-index %s`)", c.b.choice.Python, d.Name)
	}
	return fmt.Sprintf("nothing proves its files, and nothing here says that it is from the index in use (`--from-index %s`)", d.Name)
}

// copySteps has what is copied packed and installed, before anything is fetched.
func (b *builder) copySteps(exe string, packs []string, disk int64) {
	if len(packs) == 0 {
		return
	}
	b.add(plan.Step{ID: "copy", Title: fmt.Sprintf("copy the %s that %s", text.Count(len(packs), "package"), say.Either(len(packs) == 1, "stays", "stay")), Disk: disk,
		Why:  "their files, each compared with the hash that it was installed with",
		Copy: &plan.Copy{Dir: b.t.Dir, Packages: packs}})
	from := []string{"--no-index", "--find-links", plan.CopiedDir, "--no-deps", "-r", plan.CopiedDir + "/requirements.txt"}
	run := &plan.Run{Argv: append(b.tool.copies(b, exe), from...), Env: b.src.environment(b.tool)}
	b.add(plan.Step{ID: plan.Copied, Title: "install the copies", Disk: disk, Why: "from those files alone: no index is asked for anything by its name", Run: run})
}
