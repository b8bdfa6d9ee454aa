package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// A Mismatch is one condition of a profile that a machine does not meet.
type Mismatch struct {
	Condition string // os, arch, libc, gpu, compute-capabilities, gfx, driver, environment
	Need      string
	Have      string
}

// String returns "driver: needs >=580.65.06, this machine has 570.26".
func (m Mismatch) String() string {
	return fmt.Sprintf("%s: needs %s, this machine has %s", m.Condition, text.Clip(m.Need, 120), text.Clip(m.Have, 120))
}

// GPUKind says which vendor's GPUs a machine computes with: nvidia before amd
// before intel before apple, integrated ones aside (Apple's always are); "none"
// where there is none.
func GPUKind(h machine.Machine) string {
	for _, vendor := range []string{machine.NVIDIA, machine.AMD, machine.Intel, machine.Apple} {
		for _, g := range h.GPUs {
			if g.Vendor == vendor && (!g.Integrated || vendor == machine.Apple || vendor == machine.NVIDIA) {
				return vendor
			}
		}
	}
	return "none"
}

// Check returns every condition that the machine does not meet, in the order of
// the file; none: the machine matches.
func (m Match) Check(h machine.Machine) []Mismatch {
	var out []Mismatch
	want := func(condition, need, have string, ok bool) {
		if need != "" && !ok {
			out = append(out, Mismatch{condition, need, cmp.Or(have, "none")})
		}
	}
	want("os", m.OS, h.Platform.OS, m.OS == h.Platform.OS)
	want("arch", m.Arch, h.Platform.Arch, m.Arch == h.Platform.Arch)
	libc, ok := checkLibc(m.Libc, h.Platform.Libc)
	want("libc", m.Libc, libc, ok)
	kind := GPUKind(h)
	want("gpu", m.GPU, kind, m.GPU == kind)
	if m.GPU == kind {
		sms, inside := checkCodes(m.SMs, h.GPUs, smOf)
		want("compute-capabilities", strings.Join(m.SMs, " "), sms, inside)
		gfx, known := checkCodes(m.GFX, h.GPUs, gfxOf)
		want("gfx", strings.Join(m.GFX, " "), gfx, known)
		driver, enough := checkDriver(m.Driver, h.Driver)
		want("driver", m.Driver, driver, enough)
	}
	env := h.Platform.Environment
	want("environment", m.Environment, env, m.Environment == env)
	return out
}

// Pick returns the profile of the machine: of those that it matches the best, which is
// the one with the highest driver floor, then the fewest GPUs, then the Python that is
// active there, then the newest Python and torch. why says so where several fit. Where
// none does, its error names for each profile the first condition that failed. Where
// otherDriver holds, the driver may change: without a profile that fits as it is, those
// count that lack nothing but a newer driver.
func (l *Lock) Pick(h machine.Machine, otherDriver bool) (best *Profile, why string, err error) {
	var fits, almost []*Profile
	var not []string
	for i := range l.Profiles {
		p := &l.Profiles[i]
		faults := p.Match.Check(h)
		switch {
		case len(faults) == 0:
			fits = append(fits, p)
		case DriverAlone(faults):
			almost = append(almost, p)
		}
		if len(faults) > 0 {
			not = append(not, fmt.Sprintf("%s  %s", p.Name, faults[0]))
		}
	}
	if len(fits) == 0 && otherDriver {
		fits = almost
	}
	switch len(fits) {
	case 0:
		return nil, "", &PickError{Text: fmt.Sprintf("this machine matches no profile of %s", File), Details: not}
	case 1:
		return fits[0], "", nil
	}
	slices.SortStableFunc(fits, func(a, b *Profile) int { return b.preferred(a, h) })
	names := text.Each(fits, func(p *Profile) string { return p.Name })
	return fits[0], fmt.Sprintf(
		"%s of %s, which all fit: the highest driver floor, then the fewest GPUs, the active Python, the newest; `--profile NAME` takes another",
		fits[0].Name,
		strings.Join(names, ", "),
	), nil
}

// DriverAlone reports whether nothing but the driver keeps a machine from a profile.
func DriverAlone(faults []Mismatch) bool { return len(faults) == 1 && faults[0].Condition == "driver" }

// preferred compares two profiles that a machine matches.
func (p *Profile) preferred(q *Profile, h machine.Machine) int {
	return cmp.Or(
		floorOf(p.Match.Driver).Compare(floorOf(q.Match.Driver)),
		len(q.Match.SMs)+len(q.Match.GFX)-len(p.Match.SMs)-len(p.Match.GFX),
		boolean(activePython(h, p.Python))-boolean(activePython(h, q.Python)),
		pythonVersion(p.Python).Compare(pythonVersion(q.Python)),
		pythonVersion(p.Torch).Compare(pythonVersion(q.Torch)),
		strings.Compare(q.Name, p.Name))
}

func floorOf(need string) version.Dotted {
	v, _ := version.ParseDotted(strings.TrimPrefix(need, ">="))
	return v
}

func pythonVersion(s string) version.Python {
	return version.Public(strings.TrimSuffix(s, "t"))
}

func activePython(h machine.Machine, minor string) bool {
	return slices.ContainsFunc(h.Pythons, func(p machine.Python) bool {
		return p.Active && (p.Version == minor || strings.HasPrefix(p.Version, minor+"."))
	})
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A PickError says why no profile fits.
type PickError struct {
	Text    string
	Details []string // per profile: its name and the first condition that failed
}

func (e *PickError) Error() string { return e.Text }

func checkLibc(need string, have *machine.Libc) (string, bool) {
	if have == nil {
		return "none", need == ""
	}
	text := have.Kind + " " + have.Version.String()
	kind, least, _ := strings.Cut(need, ">=")
	floor, err := version.ParseDotted(least)
	return text, need == "" || err == nil && kind == have.Kind && !have.Version.Less(floor)
}

// checkCodes says what GPUs of a vendor are made of, and whether the profile has all of it.
func checkCodes(need []string, gpus []machine.GPU, of func(machine.GPU) (code string, counts bool)) (string, bool) {
	var have []string
	ok := true
	for _, g := range gpus {
		if code, counts := of(g); counts {
			have = append(have, code)
			ok = ok && slices.Contains(need, code)
		}
	}
	slices.Sort(have)
	return strings.Join(slices.Compact(have), " "), len(need) == 0 || ok
}

func smOf(g machine.GPU) (string, bool) {
	return cmp.Or(g.SM.String(), "unknown"), g.Vendor == machine.NVIDIA
}

func gfxOf(g machine.GPU) (string, bool) { return g.GFX, g.Vendor == machine.AMD && !g.Integrated }

func checkDriver(need string, d *machine.Driver) (string, bool) {
	if need == "" {
		return "", true
	}
	if d == nil {
		return "no driver", false
	}
	floor, err := version.ParseDotted(strings.TrimPrefix(need, ">="))
	return d.Version.String(), err == nil && !d.Version.Less(floor) && !d.NotLoaded
}

// Text returns the conditions in one line: "linux x86_64, nvidia 7.0, driver
// >=525.60.13".
func (m Match) Text() string {
	s := m.OS + " " + m.Arch + say.With(" (", m.Environment, ")")
	if m.GPU == "none" {
		return s + ", no GPU"
	}
	s += ", " + strings.TrimSpace(m.GPU+" "+strings.Join(append(slices.Clone(m.SMs), m.GFX...), " ")) + say.With(", driver ", m.Driver, "")
	return text.Clip(s, 120)
}
