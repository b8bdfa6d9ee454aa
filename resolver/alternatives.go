package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// alternatives are ways that this plan does not take itself: another channel, a
// vendor's index, a source build, a compatibility package, a container.
func (s advice) alternatives(o *outcome) []string {
	var out []string
	for _, ways := range []func(*outcome) []string{s.frameworkWays, s.p.chooser().jetpacks, s.forTheTarget, s.otherPublishers, s.forwardCompat, s.otherSystems,
		s.defaultIndexForCPU, s.amdWays, s.repackagedAudio, s.p.chooser().condaBeside} {
		out = append(out, ways(o)...)
	}
	return unique(out)
}

// stuck reports whether the GPUs are not used, and nobody asked for that.
func (s advice) stuck(o *outcome) bool {
	return o.Decision == NoSolution || o.Decision == InstallCPU && len(s.p.gpus) > 0 && !s.p.req.CPU
}

const cudaAlone = "%s has wheels for NVIDIA GPUs alone: name the machine that will run it with `--gpu NAME --driver VERSION`"

// forTheTarget is the way out where a package is for CUDA alone and no GPU is here: an
// image build, a login node and a lock are for another machine.
func (s advice) forTheTarget(o *outcome) []string {
	if o.Decision != NoSolution || len(s.p.gpus) > 0 || s.p.h.Platform.OS == "macos" || o.q == nil {
		return nil
	}
	for _, r := range s.p.req.packages {
		list := s.p.framework(r.Name)
		if len(list) > 0 && list[0].Label != cpu && (list[len(list)-1].Label != cpu || len(r.Extras) > 0) ||
			!s.p.isFramework(r.Name) && o.q.packages().forCUDAAlone(r) {
			return []string{fmt.Sprintf(cudaAlone, text.Cut(r.Text, 80))}
		}
	}
	return nil
}

// forCUDAAlone reports whether the newest wheel that a requirement admits needs CUDA, or
// where the default index has none, all that are published elsewhere.
func (q packages) forCUDAAlone(r pep508.Requirement) bool {
	wheel := func(e *matrix.Extension) bool { return !e.Sdist && q.a.p.cache.admits(r.Spec, e.Version) }
	if e, ok := xslices.Find(q.a.p.wheels(r.Name), wheel); ok {
		return q.needsCUDA(e)
	}
	places := q.a.p.elsewhere(r.Name)
	return slices.ContainsFunc(places, func(e matrix.Elsewhere) bool { return len(e.CUDA) > 0 }) &&
		!slices.ContainsFunc(places, forCPU)
}

func forCPU(e matrix.Elsewhere) bool { return slices.Contains(e.CUDA, cpu) }

// otherPublishers are conda-forge, a package's own places, and a build from source.
func (s advice) otherPublishers(o *outcome) []string {
	if o.Decision == UpgradeDriver {
		return s.publishedElsewhere(o)
	}
	if !s.stuck(o) {
		return nil
	}
	gpus := s.p.vendor(machine.NVIDIA)
	var out []string
	if len(s.p.req.packages) == 0 { // what the channel has of them is not known
		out = append(out, text.Each(s.condaServes(gpus), func(b *matrix.Build) string { return condaText(b, gpus) })...)
	}
	return slices.Concat(out, s.publishedElsewhere(o), s.sourceBuilds(gpus))
}

func (s advice) amdWays(o *outcome) []string {
	if !s.stuck(o) {
		return nil
	}
	out := s.p.vendors().ofPackages()
	if len(out) > 0 || s.p.lead != "" {
		return out
	}
	for _, g := range s.p.vendor(machine.AMD) {
		if v := s.p.vendors().amdIndex(g); v != nil {
			out = append(out, fmt.Sprintf("AMD's index %s (%s)", v.URL, v.Kind))
		} else if s.rocmNames(g) {
			out = append(out, "the ROCm builds on Linux, which have code for "+gpuName(g))
		}
	}
	return out
}

func (s advice) repackagedAudio(o *outcome) []string {
	if _, asked := s.p.req.asked["torchaudio"]; !asked || o.Decision != Install || o.q == nil || len(s.p.vendor(machine.NVIDIA)) == 0 {
		return nil
	}
	return []string{"torch 2.15 with the torchaudio that the cu132 index is reported to carry (repackaged; nobody has seen it)"}
}

// defaultIndexForCPU is the way out where PyTorch's own index cannot be reached.
func (s advice) defaultIndexForCPU(o *outcome) []string {
	if o.Decision != InstallCPU || s.p.req.label != "" || s.p.req.OnlyIndex != "" || o.Choice.Index == nil || len(s.p.gpus) > 0 {
		return nil
	}
	t := s.p.with(func(r *Request) { r.OnlyIndex = "default" })
	if t == nil {
		return nil
	}
	if _, b := t.chooser().try(cpu, nil, driver{}); b != nil && accelOf(b.Label) == cuda {
		return []string{
			fmt.Sprintf("where %s cannot be reached, `--only-index default`: %s of the default index computes on the CPU, too", pytorchHost, torchName(b)),
		}
	}
	return nil
}

// condaServes lists the newest conda-forge build per CUDA major that serves the
// GPUs on this system with the installed driver and the Python at hand.
func (s advice) condaServes(gpus []machine.GPU) []*matrix.Build {
	if s.p.req.conda() || len(gpus) == 0 {
		return nil
	}
	t := s.p.with(func(r *Request) { r.Manager, r.OnlyIndex = managers.Conda()[0], "" })
	if t == nil {
		return nil
	}
	var out []*matrix.Build
	for _, p := range append(t.pythons(), t.cache.every()...) { // conda brings its own Python
		q := t.ask(cuda, gpus, t.installed(), p)
		if s.p.h.Driver == nil { // one can be installed
			for _, b := range s.p.chooser().branches() {
				if d := s.p.onBranch(b, gpus); s.p.chooser().drivesAll(gpus, d) {
					q.drv = d
					break
				}
			}
		}
		q.p.builds(func(b *matrix.Build) {
			if b.Index == managers.CondaForge && q.passes(b) && !slices.ContainsFunc(out, func(x *matrix.Build) bool { return x.CUDA.Major() == b.CUDA.Major() }) {
				out = append(out, b)
			}
		})
		if len(out) > 0 {
			break
		}
	}
	return out
}

func condaText(b *matrix.Build, gpus []machine.GPU) string {
	s := fmt.Sprintf("%s: pytorch %s cuda%s (`--manager micromamba`)", b.Index, b.Release.Torch, b.CUDA.MajorMinor())
	old := slices.ContainsFunc(gpus, func(g machine.GPU) bool { return g.SM.Less(turing) })
	if b.Notes != "" && (old || condaNote(b) == b.Notes) {
		s += "; " + condaNote(b)
	}
	return s
}

// sourceBuilds says how to build what exists only as source.
func (s advice) sourceBuilds(gpus []machine.GPU) []string {
	var out []string
	list := archList(gpus)
	for _, r := range s.p.req.packages {
		places := s.p.elsewhere(r.Name)
		name := s.builtFrom(r)
		forLinux := func(e *matrix.Extension) bool { return e.OS == "linux" && !e.Sdist }
		if s.p.h.Platform.OS == "windows" && name != "" && slices.ContainsFunc(s.p.cache.byPackage()[name], forLinux) {
			out = append(out, fmt.Sprintf("in WSL 2, %s has wheels (`--os wsl2`)", name))
		}
		switch why := Unbuildable(places, gpus); {
		case why != "":
			out = append(out, why)
		case name != "" && len(gpus) == 0 && slices.ContainsFunc(places, forCPU):
			out = append(out, fmt.Sprintf("source build of %s: a C++ compiler, torch and setuptools, then `pip install %s --no-build-isolation`", name, plainText(r)))
		case name != "" && list != "":
			out = append(out, fmt.Sprintf(
				"source build of %s: the CUDA toolkit of torch's own major.minor, then %sTORCH_CUDA_ARCH_LIST=%q with --no-build-isolation",
				name, say.If(s.p.h.Platform.OS == "windows", "$env:"), list))
		}
	}
	if len(s.p.req.packages) == 0 && len(gpus) > 0 && s.p.req.conflict == "" {
		if able, _ := s.p.chooser().able(gpus); len(able) == 0 && list != "" {
			out = append(out, fmt.Sprintf("source build of torch with TORCH_CUDA_ARCH_LIST=%q", list))
		}
	}
	return out
}

// builtFrom is the package whose source a requirement could be built from; "" none that
// its own page does not tell better.
func (s advice) builtFrom(r pep508.Requirement) string {
	rows := s.p.wheels(r.Name)
	own := func(e matrix.Elsewhere) bool { return e.Build != "" }
	if len(rows) == 0 || s.p.isFramework(r.Name) || slices.ContainsFunc(s.p.elsewhere(r.Name), own) {
		return "" // publishedElsewhere has its own way
	}
	sdist := func(e *matrix.Extension) bool { return e.Sdist }
	needs := rows[0].Needs
	if published := slices.ContainsFunc(rows, sdist); !published && len(needs) == 0 ||
		published && !slices.ContainsFunc(rows, func(e *matrix.Extension) bool { return sdist(e) && s.mayBeBuilt(r, e) }) {
		return ""
	}
	if len(needs) == 0 {
		return r.Name
	}
	// The code to build is in what it needs, if any is; its own pin of torch may be in the way.
	if !slices.ContainsFunc(rows, func(e *matrix.Extension) bool { return !e.Sdist && s.mayBeBuilt(r, e) }) ||
		!slices.ContainsFunc(s.p.wheels(needs[0]), func(e *matrix.Extension) bool { return len(e.Native) > 0 }) {
		return ""
	}
	return needs[0]
}

// mayBeBuilt reports whether a source is of a release that was asked for and does not pin
// another torch than the one that was.
func (s advice) mayBeBuilt(r pep508.Requirement, e *matrix.Extension) bool {
	return (s.p.cache.admits(r.Spec, e.Version) || s.p.passedThrough(r)) &&
		!slices.ContainsFunc(s.p.req.torch, func(t pep508.Requirement) bool { return !s.p.cache.overlap(e.Torch, t.Spec) })
}

// archList is TORCH_CUDA_ARCH_LIST for some GPUs.
func archList(gpus []machine.GPU) string {
	known := xslices.Filter(sms(gpus), func(sm machine.SM) bool { return !sm.IsZero() })
	return strings.Join(text.Each(known, machine.SM.String), ";")
}

// forwardCompat names the cuda-compat package that would run a newer CUDA on
// this driver's branch: for data-centre and workstation GPUs only, and never by
// default.
func (s advice) forwardCompat(o *outcome) []string {
	gpus := s.p.vendor(machine.NVIDIA)
	d := s.p.installed()
	if o.Decision != NoSolution && o.Decision != UpgradeDriver || s.p.req.conflict != "" || d.version.IsZero() || d.windows ||
		!s.p.chooser().drivesAll(gpus, d) || d.version.Less(s.p.req.Policy.leastDriver()) || // it brings libcuda, no kernel module
		s.p.h.Platform.OS != "linux" || o.Then == nil || len(gpus) == 0 {
		return nil
	}
	want, err := version.ParseDotted(o.Then.CUDA)
	if err != nil || slices.ContainsFunc(gpus, consumer) {
		return nil
	}
	best := s.compatPackage(want, d.branch.Number)
	if best == nil {
		return nil
	}
	return []string{
		fmt.Sprintf("%s: forward compatibility for data-centre GPUs on driver branch %d, without a driver change", best.Package, d.branch.Number),
	}
}

// compatPackage is the package of a CUDA, else of the next newer one of its major, that
// runs on a driver branch; nil there is none.
func (s advice) compatPackage(want version.Dotted, branch int) (best *matrix.ForwardCompat) {
	for i := range s.p.m.ForwardCompat {
		f := &s.p.m.ForwardCompat[i]
		if f.CUDA.Major() == want.Major() && !f.CUDA.Less(want) && slices.Contains(f.Base, branch) && (best == nil || f.CUDA.Less(best.CUDA)) {
			best = f
		}
	}
	return best
}

func consumer(g machine.GPU) bool {
	name := strings.ToLower(g.Name)
	return strings.Contains(name, "geforce") || strings.Contains(name, "titan")
}

// otherSystems are the ways out where the system itself is the obstacle.
func (s advice) otherSystems(o *outcome) []string {
	if o.Decision != NoSolution {
		return nil
	}
	p, libc, only := s.p.h.Platform, cmp.Or(s.p.h.Platform.Libc, &machine.Libc{}), s.p.req.OnlyIndex
	var out []string
	switch {
	case o.q != nil && strings.Contains(only, "://") && !slices.ContainsFunc(o.q.p.m.Releases[0].Builds, func(b *matrix.Build) bool { return strings.HasPrefix(b.Index, only) }):
		out = append(out, "`--mirror default="+text.Cut(only, 80)+"`, where that is a mirror of the default index; `--mirror FROM=TO` for one of another")
	case p.OS == "linux" && libc.Kind == "musl":
		out = append(out, "a container or a system with glibc 2.28 or newer (Debian, Ubuntu, AlmaLinux): PyTorch publishes no wheel for musl",
			"source build of torch on this system")
	case s.p.tegra():
		out = append(out, "the wheels or the container that NVIDIA publishes for this JetPack", "a newer JetPack")
	case p.OS == "linux" && !libc.Version.IsZero() && s.oldLibc():
		out = append(out, "a container with a newer glibc on this host")
	case p.OS == "windows" && p.Arch == "arm64":
		out = append(out, "an x86_64 Python under emulation, for a CPU build", "WSL")
	case p.OS == "macos" && p.Arch == "x86_64":
		out = append(out, "torch 2.2.2 on Python 3.12 or older, the last for Intel Macs", "conda-forge for osx-64")
	case p.OS == "macos":
		if need := s.newerMacOS(); !need.IsZero() {
			out = append(out, fmt.Sprintf("macOS %s or newer on this Mac, which torch %s asks for", need, s.p.m.Releases[0].Torch))
		}
	}
	return out
}

// newerMacOS is the oldest macOS that the newest release runs on, zero where the
// one here is not older.
func (s advice) newerMacOS() version.Dotted {
	here, err := version.ParseDotted(s.p.h.Platform.DistroVersion)
	if err != nil || len(s.p.m.Releases) == 0 {
		return version.Dotted{}
	}
	for _, b := range s.p.m.Releases[0].Builds {
		if b.OS == "macos" && b.Arch == s.p.h.Platform.Arch && here.Less(b.MacOSMin) {
			return b.MacOSMin
		}
	}
	return version.Dotted{}
}

// lastResort is the way out where nothing else was found: say what an unknown GPU
// is, compute on the CPU where a build for it exists, or build torch.
func (s advice) lastResort() []string {
	if s.p.req.forbidden() != "" {
		return []string{"another package: `never` below [policy] in envfix.toml is the team's to change"}
	}
	for _, g := range s.p.vendor(machine.NVIDIA) {
		if g.SM.IsZero() {
			return []string{fmt.Sprintf(
				"name the compute capability of %s, which nothing here tells: `--gpu X.Y` (`nvidia-smi --query-gpu=compute_cap --format=csv` prints it)",
				gpuName(g),
			)}
		}
	}
	t := s.p.with(func(r *Request) { r.CPU, r.CUDA, r.Build, r.JIT = true, "", "", false })
	if t != nil {
		if _, b := t.chooser().try(cpu, nil, driver{}); b != nil {
			return []string{"`--cpu`: " + torchName(b) + ", which uses no GPU"}
		}
	}
	if s.p.lead != "" {
		return []string{"a system or a container for which there are wheels"}
	}
	return []string{"source build of torch on this system"}
}

// oldLibc reports whether no build of the newest release fits the C library.
func (s advice) oldLibc() bool {
	fits := func(b *matrix.Build) bool { return b.OS == "linux" && !s.p.h.Platform.Libc.Version.Less(b.Glibc) }
	return len(s.p.m.Releases) > 0 && !slices.ContainsFunc(s.p.m.Releases[0].Builds, fits)
}

// rocmNames reports whether some ROCm build names a GPU's target.
func (s advice) rocmNames(g machine.GPU) bool {
	gfx := s.p.vendors().gfxOf(g)
	return gfx != "" && s.p.h.Platform.OS != "linux" && slices.ContainsFunc(s.p.m.ROCm, func(t matrix.ROCmTarget) bool { return t.GFX == gfx })
}
