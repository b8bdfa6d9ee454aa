package probe

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// variants end the names of packages that are one for several kinds of machines.
var variants = lazy.Regexp(`^(.+?)-(?:gpu|cpu|cuda|cuda1\d[a-z]?|cu1\d\d?|cuda11x|rocm[\d.]*|directml|openvino|nightly|headless)$`)

// clashes are pairs of installed distributions that are the same one for another machine,
// and whose files lie over each other.
func clashes(h *sysroot.Host, dists []Dist) [][2]string {
	first := map[string]Dist{}
	var out [][2]string
	for _, d := range dists { // sorted: the plain name comes first
		stem := d.Name
		if m := variants().FindStringSubmatch(d.Name); m != nil && !strings.HasPrefix(d.Name, "nvidia-") {
			stem = m[1]
		}
		other, twice := first[stem]
		if !twice {
			first[stem] = d
			continue
		}
		mine, theirs := machine.ReadRecord(h.Bytes(d.Info+"/RECORD", sysroot.MaxFile)), machine.ReadRecord(h.Bytes(other.Info+"/RECORD", sysroot.MaxFile))
		unknown := len(mine) == 0 || len(theirs) == 0 // then their names tell
		if unknown && strings.HasSuffix(d.Name, "-gpu") || slices.ContainsFunc(theirs, func(f machine.RecordFile) bool {
			return strings.HasSuffix(f.Path, "/__init__.py") && slices.ContainsFunc(mine, func(o machine.RecordFile) bool { return o.Path == f.Path })
		}) {
			out = append(out, [2]string{other.Name, d.Name})
		}
	}
	return out
}
