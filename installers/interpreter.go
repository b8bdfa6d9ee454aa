package installers

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/resolver"
)

func (b *builder) bin() string {
	if b.h.Platform.OS == "windows" {
		return "Scripts"
	}
	return "bin"
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
	best, rank := machine.Python{}, 0
	inUse := ""
	if i := slices.IndexFunc(b.h.Pythons, func(p machine.Python) bool { return p.Source == "venv" && p.Active }); i >= 0 {
		inUse = b.h.Pythons[i].Version
	}
	for _, p := range b.h.Pythons {
		if !isPython(p, b.choice.Python) || !whole(p.Path) {
			continue
		}
		score := 1 // an environment's own link to its interpreter
		if p.Source != "venv" {
			score = 2
		}
		if p.Source != "venv" && p.Active {
			score = 3
		}
		if p.Source != "venv" && p.Version == inUse {
			score = 4
		}
		if score > rank {
			best, rank = p, score
		}
	}
	return best, rank > 0
}

// isPython reports whether p is the wanted "3.12" or "3.14t".
func isPython(p machine.Python, want string) bool {
	minor, free := strings.CutSuffix(want, "t")
	return free == p.FreeThreaded && (p.Version == minor || strings.HasPrefix(p.Version, minor+"."))
}

// anyPython returns an interpreter that can make a tool environment, if possible
// one that needs nothing more for that.
func anyPython(h machine.Machine) (machine.Python, bool) {
	var found *machine.Python
	for i, p := range h.Pythons {
		v, err := version.ParsePython(p.Version)
		if err != nil || !whole(p.Path) || v.Compare(version.MustPython("3.8")) < 0 {
			continue
		}
		if found == nil || found.NoEnsurepip && !p.NoEnsurepip {
			found = &h.Pythons[i]
		}
	}
	if found == nil {
		return machine.Python{}, false
	}
	return *found, true
}
