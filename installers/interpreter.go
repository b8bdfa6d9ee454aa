package installers

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

func (b *builder) bin() string {
	return say.Either(b.h.Platform.OS == "windows", "Scripts", "bin")
}

// unseen reports whether nobody looked which programs the machine has: it was described.
func unseen(r resolver.Request, h machine.Machine) bool { return r.Described && len(h.Tools) == 0 }

func (b *builder) python() string {
	if b.h.Platform.OS == "windows" && b.isConda() { // it has its Python in its root
		return gen + "/python"
	}
	return gen + "/" + b.bin() + "/python"
}

// interpreter returns a found Python that is the chosen version: the release of the
// environment in use first, since what is carried over may ask for it
// (Requires-Python), then the active one, and a virtual environment's own only where
// there is no other.
func (b *builder) interpreter() (machine.Python, bool) {
	inUse, _ := xslices.Find(b.h.Pythons, func(p machine.Python) bool { return p.Source == "venv" && p.Active })
	able := xslices.Filter(b.h.Pythons, func(p machine.Python) bool { return isPython(p, b.choice.Python) && whole(p.Path) })
	for _, preferred := range []func(machine.Python) bool{
		func(p machine.Python) bool { return p.Source != "venv" },
		func(p machine.Python) bool { return p.Source != "venv" && p.Active },
		func(p machine.Python) bool { return p.Source != "venv" && p.Version == inUse.Version },
	} {
		able = xslices.First(able, preferred)
	}
	if len(able) == 0 {
		return machine.Python{}, false
	}
	return able[0], true
}

// isPython reports whether p is the wanted "3.12" or "3.14t".
func isPython(p machine.Python, want string) bool {
	minor, free := strings.CutSuffix(want, "t")
	return free == p.FreeThreaded && (p.Version == minor || strings.HasPrefix(p.Version, minor+"."))
}

// anyPython returns an interpreter that can make a tool environment, if possible
// one that needs nothing more for that.
func anyPython(h machine.Machine) (machine.Python, bool) {
	able := xslices.Filter(h.Pythons, func(p machine.Python) bool {
		v, err := version.ParsePython(p.Version)
		return err == nil && whole(p.Path) && v.Compare(version.MustPython("3.8")) >= 0
	})
	if len(able) == 0 {
		return machine.Python{}, false
	}
	return xslices.First(able, func(p machine.Python) bool { return !p.NoEnsurepip })[0], true
}
