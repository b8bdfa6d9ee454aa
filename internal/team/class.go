package team

import (
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
)

// Classes makes one target of each class among machines. Machines are of one class
// where the same wheels run on them: the system, the architecture, the libc and the
// GPUs agree. The oldest driver and the oldest libc of a class count.
func Classes(machines []machine.Machine) []lock.Target {
	classes := map[string]machine.Machine{}
	for _, h := range machines {
		name := className(h)
		classes[name] = older(classes[name], h)
	}
	var out []lock.Target
	for name, h := range classes {
		out = append(out, lock.Target{Name: name, Facts: classFacts(h)})
	}
	slices.SortFunc(out, byName)
	return out
}

// className is "linux-x86_64-sm70", "macos-arm64-apple" or "linux-x86_64-cpu".
func className(h machine.Machine) string {
	os := say.Either(h.Platform.Environment == machine.WSL2, "wsl2", h.Platform.OS)
	name := os + "-" + h.Platform.Arch
	if h.Platform.Libc != nil && h.Platform.Libc.Kind != "glibc" {
		name += "-" + h.Platform.Libc.Kind
	}
	kind := lock.GPUKind(h)
	switch kind {
	case "none":
		return name + "-cpu"
	case machine.NVIDIA:
		return name + "-sm" + strings.ReplaceAll(strings.Join(gpuNames(h, kind), "-"), ".", "")
	case machine.AMD:
		return name + "-" + strings.Join(gpuNames(h, kind), "-")
	}
	return name + "-" + kind
}

// classFacts describes a machine as a target is described.
func classFacts(h machine.Machine) string {
	facts := map[string]string{"os": h.Platform.OS, "arch": h.Platform.Arch, "gpu": "none"}
	if h.Platform.Environment == machine.WSL2 {
		facts["os"] = "wsl2"
	}
	if l := h.Platform.Libc; l != nil && !l.Version.IsZero() {
		facts["libc"] = l.Kind + "-" + l.Version.String()
	}
	kind := lock.GPUKind(h)
	if names := gpuNames(h, kind); len(names) > 0 {
		facts["gpu"] = strings.Join(names, ",")
	}
	if kind == machine.Apple {
		delete(facts, "gpu") // every described Mac has one
	}
	if h.Driver != nil && kind == machine.NVIDIA {
		facts["driver"] = h.Driver.Version.String()
	}
	if v := ownPython(h); v != "" {
		facts["python"] = v
	}
	return JoinFacts(facts)
}

// ownPython is the Python that a machine would take: the active one, else the newest
// that it has; "" none is known.
func ownPython(h machine.Machine) string {
	own := ""
	for _, p := range h.Pythons {
		v, err := describe.Python(p.Version)
		switch {
		case err != nil || v == "":
		case p.Active:
			return v
		case !p.FreeThreaded && (own == "" || version.ComparePublic(own, v) < 0):
			own = v
		}
	}
	return own
}

// gpuNames returns what tells the GPUs of a kind apart, sorted and once each: the
// compute capability, the gfx target, or the name.
func gpuNames(h machine.Machine, kind string) []string {
	var out []string
	for _, g := range h.GPUs {
		switch {
		case g.Vendor != kind || g.Integrated && kind != machine.NVIDIA:
		case kind == machine.NVIDIA && !g.SM.IsZero():
			out = append(out, g.SM.String())
		case kind == machine.AMD && g.GFX != "":
			out = append(out, g.GFX)
		case kind == machine.Intel:
			out = append(out, clean(g.Name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// older returns h with the lesser driver and libc of the two, and the Pythons of both.
func older(a, h machine.Machine) machine.Machine {
	if a.Format == 0 {
		return h
	}
	if a.Driver != nil && h.Driver != nil && a.Driver.Version.Less(h.Driver.Version) {
		h.Driver = a.Driver
	}
	if a.Platform.Libc != nil && h.Platform.Libc != nil && a.Platform.Libc.Version.Less(h.Platform.Libc.Version) {
		h.Platform.Libc = a.Platform.Libc
	}
	switch {
	case len(h.Pythons) == 0:
		h.Pythons = a.Pythons
	case len(a.Pythons) > 0:
		h.Pythons = slices.DeleteFunc(slices.Clone(h.Pythons), func(p machine.Python) bool {
			return !slices.ContainsFunc(a.Pythons, func(q machine.Python) bool { return p.Minor() == q.Minor() })
		})
	}
	return h
}
