package resolver

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// The values of DriverChoice.Action.
const (
	keep         = "keep"
	upgrade      = "upgrade"
	pin          = "pin"
	install      = "install"
	switchModule = "switch-module"
	reboot       = "reboot"
	load         = "load"
	noDriver     = "none" // nothing here needs NVIDIA's driver
)

// driverFault says what keeps an installed driver from driving the GPUs at all:
// the action that cures it and why. Both are empty where the driver works.
func (s chooser) driverFault(gpus []machine.GPU, d driver) (action, why string) {
	h := s.p.h.Driver
	switch {
	case h == nil:
		why = "no NVIDIA driver is installed"
		if i := slices.IndexFunc(gpus, func(g machine.GPU) bool { return g.KernelDriver == "nouveau" }); i >= 0 {
			why = gpuName(gpus[i]) + " is driven by nouveau, which cannot run CUDA, and no NVIDIA driver is installed"
		}
		return install, why
	case !h.LoadedVersion.IsZero() && h.LoadedVersion.Compare(h.Version) != 0:
		return reboot, fmt.Sprintf("the loaded kernel module is %s and the user space is %s: they must be equal", h.LoadedVersion, h.Version)
	case h.NotLoaded:
		return load, fmt.Sprintf("user space %s is installed, the kernel module is not loaded", h.Version)
	}
	if s.rangeFault(gpus, d) {
		return "", "" // too old or too new for a GPU: not a fault of the installation
	}
	for _, g := range gpus {
		if only := s.p.onlyModule(g); s.p.fit(d, g) == wrongModule || only != "" && d.module != "" && only != d.module {
			return switchModule, fmt.Sprintf("the %s kernel module does not drive %s; it needs the %s one", d.module, gpuName(g), s.p.moduleFor(gpus))
		}
	}
	if !slices.ContainsFunc(gpus, func(g machine.GPU) bool { return g.Visible }) {
		if d.windows {
			return install, fmt.Sprintf("driver %s is installed and %s cannot be used through it", h.Version, gpuNames(gpus))
		}
		why = fmt.Sprintf("driver %s is installed and %s cannot be used through it", h.Version, gpuNames(gpus))
		if h.LoadedVersion.IsZero() {
			return load, why + ": the kernel module is not loaded"
		}
		return reboot, why + ", though its kernel module is loaded"
	}
	return "", ""
}

// rangeFault reports whether the driver is too old or too new for some GPU.
func (s chooser) rangeFault(gpus []machine.GPU, d driver) bool {
	return slices.ContainsFunc(gpus, func(g machine.GPU) bool { f := s.p.fit(d, g); return f == tooOld || f == tooNew })
}

// unseen splits off the GPUs that this driver should drive and does not show,
// where it shows others: they are left out and named.
func (s chooser) unseen(gpus []machine.GPU, d driver) (seen, unseen []machine.GPU) {
	hidden := func(g machine.GPU) bool { return !g.Visible && s.p.fit(d, g) == fine }
	return slices.DeleteFunc(slices.Clone(gpus), hidden), xslices.Filter(gpus, hidden)
}

// branches lists the driver branches to recommend, the first choice first: the
// newest long-term branch before its end of life, then production branches, then
// the others, newest first.
func (s chooser) branches() []matrix.Branch {
	rank := func(b matrix.Branch) int {
		switch {
		case s.ended(b) || b.Kind == "legacy":
			return 3
		case b.Kind == "LTS":
			return 0
		case b.Kind == "PB":
			return 1
		}
		return 2
	}
	out := slices.Clone(s.p.m.Branches) // newest first
	slices.SortStableFunc(out, func(a, b matrix.Branch) int { return rank(a) - rank(b) })
	return out
}

// recommend returns the branch to install for some GPUs: the first that drives
// them all and lets a build pass. newer restricts it to drivers above that one;
// ok is false where no branch helps.
func (s chooser) recommend(gpus []machine.GPU, newer version.Dotted) (b matrix.Branch, q *attempt, build *matrix.Build, ok bool) {
	if _, build := s.try(cuda, gpus, ideal()); build == nil {
		return matrix.Branch{}, nil, nil, false // no driver would help
	}
	for _, b := range s.branches() {
		d := s.p.onBranch(b, gpus)
		if !newer.IsZero() && !newer.Less(d.version) || s.p.windowsDriver() && b.LatestWindows.IsZero() && b.Kind == "unknown" {
			continue
		}
		if !s.drivesAll(gpus, d) {
			continue
		}
		if q, build := s.try(cuda, gpus, d); build != nil {
			return b, q, build, true
		}
	}
	return matrix.Branch{}, nil, nil, false
}

// ideal is a driver that nothing is held against.
var ideal = sync.OnceValue(func() driver {
	return driver{version: version.MustDotted("9999"), cuda: version.MustDotted("99.9"), compared: true}
})

func (s chooser) drivesAll(gpus []machine.GPU, d driver) bool {
	return !slices.ContainsFunc(gpus, func(g machine.GPU) bool { return s.p.fit(d, g) != fine })
}

// try asks with each Python in turn and returns the first that some build
// passes with; a nil build where none does.
func (s chooser) try(accel string, gpus []machine.GPU, d driver) (*attempt, *matrix.Build) {
	var first *attempt
	for _, p := range s.p.pythons() {
		q := s.p.ask(accel, gpus, d, p)
		if first == nil {
			first = q
		}
		if b := q.best(); b != nil {
			return q, b
		}
	}
	if first == nil {
		first = s.p.ask(accel, gpus, d, py{})
	}
	return first, nil
}

// need is the oldest driver that a build and the GPUs in use are content with on
// this platform: the CUDA family's floor, the first driver that knows each GPU,
// and where kernels are compiled at run time, the first that supports the CUDA
// natively.
func (q *attempt) need(b *matrix.Build) version.Dotted {
	if b.CUDA.IsZero() || !q.drv.compared {
		return version.Dotted{}
	}
	need, _ := q.floor(b)
	need = later(need, q.p.req.Policy.leastDriver())
	for _, g := range q.gpus {
		if a, ok := q.p.m.Arch(g.SM); ok {
			need = later(need, a.First(q.drv.windows))
		}
	}
	if _, ptx := q.ptxOnly(b); q.p.req.JIT || ptx {
		need = later(need, q.nativeFrom(b))
	}
	return need
}

// nativeFrom is the first driver that supports a build's CUDA natively: the
// release notes' minimum of the toolkit, else its branch.
func (q *attempt) nativeFrom(b *matrix.Build) version.Dotted {
	want := b.CUDA.MajorMinor()
	for _, t := range slices.Backward(q.p.m.Toolkits) { // oldest first
		if v := t.Driver(q.drv.windows); t.Version.MajorMinor() == want && !v.IsZero() {
			return v
		}
	}
	var v version.Dotted
	for _, br := range q.p.m.Branches { // newest first
		if !br.CUDA.IsZero() && !br.CUDA.Less(version.MustDotted(want)) {
			v = version.MustDotted(fmt.Sprint(br.Number))
		}
	}
	return v
}

func later(a, b version.Dotted) version.Dotted {
	return say.Either(a.Less(b), b, a)
}

// jetpack names the JetPack generation of a Jetson as the vendor indexes do. L4T
// says it; else JetPack 6's own driver (540), the C library, or a newer driver.
func (s chooser) jetpack() string {
	l4t, _ := version.ParseDotted(strings.TrimLeft(s.p.h.Platform.L4T, "Rr"))
	switch m := l4t.Major(); {
	case m == 36:
		return "jetpack6"
	case m >= 38:
		return "jetpack7"
	case m > 0:
		return ""
	}
	driver := 0
	if s.p.h.Driver != nil {
		driver = s.p.h.Driver.Version.Major()
	}
	if driver == 540 {
		return "jetpack6"
	}
	if c := s.p.h.Platform.Libc; c != nil {
		for _, p := range jetpackLibc {
			if c.Version.String() == p.libc {
				return p.pack
			}
		}
	}
	return say.If(driver >= 580, "jetpack7")
}

// jetpackLibc is the C library of the Ubuntu that each JetPack is, by which one is
// known where nothing else says it.
var jetpackLibc = []struct{ pack, libc string }{{"jetpack6", "2.35"}, {"jetpack7", "2.39"}}

// jetpacks are the flags that would make a described Jetson, which nothing serves, one for
// which its vendor publishes builds.
func (s chooser) jetpacks(o *outcome) []string {
	if o.Decision != NoSolution || !s.p.tegra() || len(s.p.vendor(machine.NVIDIA)) == 0 || !s.p.req.Described {
		return nil
	}
	var out []string
	for _, p := range jetpackLibc {
		for _, v := range s.p.m.VendorIndexes {
			if s.jetpack() == p.pack || !slices.Contains(strings.Fields(v.Platform), p.pack) || !slices.Contains(v.GPUs, s.p.vendor(machine.NVIDIA)[0].SM.String()) {
				continue
			}
			out = append(out, fmt.Sprintf("`--libc glibc-%s --python %s`: %s publishes builds for it (%s)",
				p.libc, strings.Join(v.Pythons, " or "), vendorName(&v), v.Names))
		}
	}
	return out
}

// jetpackCUDA is the CUDA of this JetPack, as its vendor index is named.
func (s chooser) jetpackCUDA() version.Dotted {
	for _, v := range s.p.m.VendorIndexes {
		if name := s.jetpack(); name != "" && slices.Contains(strings.Fields(v.Platform), name) {
			c, _ := matrix.LabelCUDA(lastPart(v.URL))
			return c
		}
	}
	return version.Dotted{}
}

func lastPart(url string) string {
	url = strings.TrimSuffix(url, "/")
	return url[strings.LastIndexByte(url, '/')+1:]
}
