package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
)

// branchDropsGPU: the installed driver branch no longer drives the GPU, or does
// not drive it yet.
func (e *exam) branchDropsGPU() {
	d := e.Machine.Driver
	if e.Matrix == nil || d == nil || d.Version.IsZero() || e.available() {
		return
	}
	for _, g := range e.Machine.GPUs {
		a, ok := e.Matrix.Arch(g.SM)
		if g.Vendor != machine.NVIDIA || !ok {
			continue
		}
		switch {
		case a.LastBranch > 0 && d.Version.Major() > a.LastBranch:
			e.find("HW014", likely, e.From.Driver, e.From.GPU).
				says("driver %s no longer drives the %s; branch %d is the last that does", d.Version, g.Name,
					a.LastBranch).
				fix(fmt.Sprintf("install driver branch %d and hold it", a.LastBranch))
			return
		case !e.first(a).IsZero() && d.Version.Less(e.first(a)):
			e.find("DRV005", likely, e.From.Driver, e.From.GPU).
				says("driver %s does not know the %s; the first that does is %s", d.Version, g.Name, e.first(a)).
				fix("update the NVIDIA driver")
			return
		}
	}
}

// refused: the driver says that it does not support the GPU, and by the data it
// does: what it meets is a card in another state, or a driver of another kind.
func (e *exam) refused() {
	s, ok := e.has("legacy-gpu")
	d := e.Machine.Driver
	if !ok || e.Matrix == nil || d == nil || d.Version.IsZero() || !strings.Contains(s.Text, "not supported by the") {
		return
	}
	for _, g := range e.Machine.GPUs {
		a, known := e.Matrix.Arch(g.SM)
		if g.Vendor != machine.NVIDIA || !known || a.LastBranch > 0 && d.Version.Major() > a.LastBranch ||
			d.Version.Less(e.first(a)) {
			continue
		}
		e.find("KMD008", likely, s, e.From.GPU).
			says("driver %s drives a %s and refuses this one: it is powered down, in another mode (vGPU, confidential computing), or its firmware is too old",
				d.Version, nameOr(g)).
			explains("HW014", "KMD007")
		return
	}
}

// named lists what is there, cut to a few.
func listed(names []string) string {
	names = slices.Compact(names)
	if len(names) > 4 {
		names = append(names[:4:4], "…")
	}
	return strings.Join(names, ", ")
}
