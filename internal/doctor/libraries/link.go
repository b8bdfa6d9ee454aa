package libraries

import (
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// unlinked: a library that importing torch needs is not there, or the one that is taken
// has not what is asked of it. Rows of the data say so (rules_libraries.yaml); here is what
// none of them knows, by whose library it is.
func unlinked(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	evidence.LinkRows(e, found, out, func(l machine.LinkFault) {
		said := evidence.Fact("%s needs %s: it is in no directory that the loader looks into", l.By, l.Library)
		stem := strings.TrimRight(strings.SplitN(l.Library, ".so", 2)[0], "-.0123456789")
		own := ours().MatchString(stem) && stem != "libstdc++"
		if !own && packaged(e, out, stem, said) {
			return
		}
		check := "LD018"
		if own {
			check = "PY010"
		}
		f := out.Find(check, evidence.Proven, said).Says("%s is not here, and torch does not import without it", l.Library)
		switch {
		case own:
			f.Do("`pip install --force-reinstall " + e.Repair().TorchAgain() + "` brings what it needs").Mends(e.Repair().Rebuild(l.By))
		case stem == "libstdc++":
			f.Do("`sudo apt install libstdc++6`", "Fedora, RHEL: `sudo dnf install libstdc++`")
		}
	})
}
