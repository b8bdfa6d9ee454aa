package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// Frameworks other than torch: tensorflow, jax, onnxruntime, cupy. Each row of one is a
// build, which passes the rules that torch's pass: alone it stands where torch does, and
// beside torch, or beside another framework, it goes with the CUDA of that one.

// NoTorch is the reason of an answer that is not about torch.
const NoTorch = "torch was not asked for, and is not installed"

// ofCUDA is the end of a name that says for which CUDA a package is.
var ofCUDA = lazy.Regexp(`-cu(?:da)?1[0-9]+x?$`)

// firstNumber is the first number of a specifier.
var firstNumber = lazy.Regexp(`[0-9]+`)

// PlainName is a framework's name without what it says of a GPU: cupy-cuda13x is cupy,
// onnxruntime-gpu onnxruntime, cudf-cu12 cudf.
func PlainName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(ofCUDA().ReplaceAllString(name, ""), "-cpu"), "-gpu")
}

// frameworkBuilds are the builds of all frameworks on every system by their plain names,
// the newer CUDA first, then in the order of the data, and last what each has for a CPU:
// all but those for GPUs alone.
func frameworkBuilds(m *matrix.Matrix) map[string][]*matrix.Build {
	out := map[string][]*matrix.Build{}
	build := func(f *matrix.Framework, label string) {
		b := &matrix.Build{Release: &matrix.Release{Source: f.Source}, Framework: f, Label: label, OS: f.OS, Arch: f.Arch, Glibc: f.Glibc,
			Default: true, Status: matrix.Offered, Proof: f.Proof, Source: f.Source}
		b.CUDA, _ = version.ParseDotted(major(f.CUDA)) // of its major, as far as its libraries decide
		out[PlainName(f.Package)] = append(out[PlainName(f.Package)], b)
	}
	for i := range m.Frameworks {
		build(&m.Frameworks[i], "cuda"+major(m.Frameworks[i].CUDA))
	}
	for plain, rows := range out {
		slices.SortStableFunc(rows, func(a, b *matrix.Build) int { return cmp.Compare(b.CUDA.Major(), a.CUDA.Major()) })
		if !slices.ContainsFunc(rows, func(b *matrix.Build) bool { return b.Framework.Plain == "none" }) {
			build(&matrix.Framework{Package: plain, Source: rows[0].Source}, cpu)
		}
	}
	return out
}

// isFramework reports whether a package is a framework on any system. Where all builds
// are for GPUs, faiss-cpu is another package beside faiss-gpu; one for a CUDA that no row is
// of is not known, whatever is known of that for another.
func (s *problem) isFramework(name string) bool {
	forCPU, ofCUDA := strings.HasSuffix(name, "-cpu"), ofCUDA().MatchString(name)
	return slices.ContainsFunc(s.cache.frameworks[PlainName(name)], func(b *matrix.Build) bool {
		return (!forCPU || b.Label == cpu) && (!ofCUDA || b.Framework.Package == name)
	})
}

// ofUnread reports whether a package is a framework for a CUDA that no row is of.
func (s *problem) ofUnread(name string) bool {
	return ofCUDA().MatchString(name) && len(s.cache.frameworks[PlainName(name)]) > 0 && !s.isFramework(name)
}

// framework are a framework's builds for this system that a name stands for.
func (s *problem) framework(name string) []*matrix.Build {
	var out []*matrix.Build
	plain, p := PlainName(name), s.h.Platform
	for _, b := range s.cache.frameworks[plain] {
		if b.Label == cpu || (name == plain || name == b.Framework.Package) && matrix.IsFor(b.OS, b.Arch, p.OS, p.Arch) {
			out = append(out, b)
		}
	}
	return out
}

// asks is the requirement that a framework's build answers.
func (s *problem) asks(b *matrix.Build) pep508.Requirement {
	plain := PlainName(b.Framework.Package)
	if r, ok := xslices.Find(s.req.packages, func(r pep508.Requirement) bool { return PlainName(r.Name) == plain }); ok {
		return r
	}
	return pep508.Requirement{Name: plain, Text: plain}
}

// isRead reports whether a row is of some release that is asked for of a framework, whatever
// it is for: that none is says nothing of whether there is a wheel.
func (s *problem) isRead(r pep508.Requirement) bool {
	return slices.ContainsFunc(s.cache.frameworks[PlainName(r.Name)], func(b *matrix.Build) bool {
		return b.Label != cpu && (b.Framework.Package == r.Name || PlainName(r.Name) == r.Name) && s.cache.overlap(b.Framework.Versions, r.Spec)
	})
}

// notAsked says why a framework's build is not what was asked for; "" it is.
func (q fits) notAsked(b *matrix.Build) string {
	r, f := q.a.p.asks(b), b.Framework
	if !q.a.p.cache.overlap(f.Versions, r.Spec) {
		return fmt.Sprintf("it is of %s, and %s %s", f.Versions, say.Either(q.a.p.isRead(r), "you asked for", "nobody here has read"), text.Cut(r.Text, 80))
	}
	has := func(x string) bool {
		return strings.Contains(f.Ask, "["+x+"]") || b.Label == cpu && !strings.Contains(x, "cuda") || f.Ask == f.Package && f.Apart
	}
	switch {
	case len(r.Extras) == 0 || slices.ContainsFunc(r.Extras, has):
		return ""
	case b.Label == cpu:
		return fmt.Sprintf("the libraries that `%s` brings are for NVIDIA GPUs", text.Cut(r.Text, 80))
	}
	return "it is not the extra that you asked for"
}

// noWheelOf says why a framework has no wheel for the Python at hand; "" it has one.
func (q fits) noWheelOf(b *matrix.Build) string {
	f, r := b.Framework, q.a.p.asks(b)
	files := cmp.Or(f.Files, f.Package)
	if b.Label == cpu { // the package of that name alone
		files = r.Name
		if row := q.a.p.cache.frameworks[f.Package][0].Framework; row.Package == r.Name || row.Package == f.Package {
			files = cmp.Or(row.Files, row.Package)
		}
	}
	switch {
	case q.a.py.major == 0, q.notAsked(b) != "": // what was not asked for need not be there
		return ""
	case !f.Python.IsZero() && !q.a.p.cache.fits(q.a.py, f.Python.String()):
		return fmt.Sprintf("it is for Python %s", f.Python)
	}
	return strings.TrimPrefix(q.a.packages().noFileIn(files, f.Versions, r.Spec), "and ")
}

// codeOfFramework says why a framework's build has no code for a GPU, by its row and by
// the newest of its releases that was read; "" it has.
func (q fits) codeOfFramework(b *matrix.Build, g machine.GPU) string {
	f := b.Framework
	if g.SM.Less(f.MinSM) {
		return fmt.Sprintf("it needs GPU %s or newer; there is %s", f.MinSM, gpuName(g))
	}
	a, _ := q.a.p.m.Arch(g.SM)
	if first, err := version.ParseDotted(a.FirstCUDA); err == nil && !b.CUDA.IsZero() && b.CUDA.Major() < first.Major() {
		return fmt.Sprintf("it computes with CUDA %s; %s needs CUDA %s or newer", f.CUDA, gpuName(g), a.FirstCUDA)
	}
	if last, err := version.ParseDotted(a.LastCUDA); err == nil && last.Major() < b.CUDA.Major() {
		return fmt.Sprintf("it computes with CUDA %s, which has no code for %s: CUDA %s is the last", f.CUDA, gpuName(g), a.LastCUDA)
	}
	for _, e := range q.a.p.wheels(f.Package) {
		if len(e.Native) > 0 && q.a.p.cache.admits(f.Versions, e.Version) && q.a.p.cache.admits(q.a.p.asks(b).Spec, e.Version) {
			if why := q.a.packages().missingFor(e, q.a.packages().codeOf(e)); why != "" {
				return fmt.Sprintf("%s %s %s", f.Package, e.Version, why)
			}
			return ""
		}
	}
	return ""
}

// ofAnyBase are the rules that a framework passes whatever it stands beside; those on its
// CUDA and on the request look at the build that it stands beside.
var ofAnyBase = []func(*attempt, *matrix.Build) *Reason{policyRule, pythonRule, platformRule, driverFloorRule, gpuCodeRule}

// goesWith says why a framework's build does not go with another build.
func (q fits) goesWith(f, b *matrix.Build) *Reason {
	row, r := f.Framework, q.a.p.asks(f)
	if other := q.a.p.frameworks().twin(r); other != "" {
		return q.a.no("", "%s and %s are builds of one module, and the one that is installed last overwrites the other: ask for one", r.Name, other)
	}
	if n, other := q.a.p.frameworks().brokenNeed(row.Package, r.Spec, row.Versions); n != nil {
		return q.a.no(n.Source, "it works with %s%s only (with another, %s), and you asked for %s", n.Of, n.Range, n.Effect, text.Cut(other.Text, 80))
	}
	if f == b {
		return nil
	}
	if why := q.notAsked(f); why != "" {
		return q.a.no(row.Source, "%s", why)
	}
	for _, rule := range ofAnyBase {
		if why := rule(q.a, f); why != nil {
			return why
		}
	}
	switch {
	case q.a.accel != cuda, row.Apart:
	case f.CUDA.Major() != b.CUDA.Major():
		return q.a.no(row.Source, "it computes with CUDA %d, and the others with CUDA %d: one environment holds the libraries of one", f.CUDA.Major(), b.CUDA.Major())
	case row.Exact && !b.CuDNN.IsZero():
		return q.a.no(row.Source, "%s pins each library of CUDA %s to one version, and torch to others: an installer refuses them together", row.Versions, row.CUDA)
	case !b.CuDNN.IsZero() && !row.CuDNN.IsZero() && !admitsDotted(row.CuDNN, b.CuDNN):
		return q.a.no(row.Source, "it needs cuDNN%s, and torch brings %s", row.CuDNN, b.CuDNN)
	}
	return nil
}

// frameworkFor is the newest build of a framework that goes with a build, which may be
// itself; else why the newest that was asked for does not. It is neither where a package is
// no framework, or is conda's to choose.
func (q fits) frameworkFor(r pep508.Requirement, b *matrix.Build) (*matrix.Build, *Reason) {
	if !q.a.p.isFramework(r.Name) || isConda(b) {
		return nil, nil
	}
	list := slices.DeleteFunc(q.a.p.framework(r.Name), func(f *matrix.Build) bool { return (f.Label == cpu) == (q.a.accel == cuda) })
	if slices.Contains(list, b) {
		list = []*matrix.Build{b}
	}
	var nearest *Reason
	asked := false
	for _, f := range list {
		why := q.goesWith(f, b)
		if why == nil {
			return f, nil
		}
		if !q.a.explain {
			continue
		}
		if fits := q.a.p.cache.overlap(f.Framework.Versions, r.Spec); nearest == nil || fits && !asked {
			nearest, asked = &Reason{Text: cmp.Or(f.Framework.Ask, r.Name) + ": " + why.Text, Source: why.Source}, fits
		}
	}
	if nearest == nil {
		nearest = q.a.no("", "%s", q.noneOf(r.Name))
	}
	return nil, nearest
}

// noneOf says that a framework has no build of the kind that is sought.
func (q fits) noneOf(name string) string {
	kind := say.Either(q.a.accel != cuda, "CPU", "GPU")
	return fmt.Sprintf("%s has no %s build for %s %s", name, kind, q.a.p.h.Platform.OS, q.a.p.h.Platform.Arch)
}

// frameworkRefusal says why no build of a framework goes with a build.
func (q fits) frameworkRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	if why := q.a.pinRefusal(r, b); b.Framework == nil && why != nil {
		return why
	}
	_, why := q.frameworkFor(r, b)
	return why
}

func admitsDotted(s version.Specifier, v version.Dotted) bool {
	p, err := version.ParsePython(v.String())
	return err != nil || s.Admits(p)
}

// ask is how a framework is asked for so that it computes where its build does: its extra
// or its other name, with the versions of its row and of the request.
func ask(r pep508.Requirement, b *matrix.Build) string {
	spec := b.Framework.Versions.String()
	if own := r.Spec.String(); own == spec || strings.HasPrefix(own, "==") && !strings.Contains(own, ",") {
		spec = own // one release or series of the row's
	} else if own != "" && spec != "" {
		spec = own + "," + spec
	} else if spec == "" {
		spec = own
	}
	if len(r.Extras) > 0 && !strings.Contains(b.Framework.Ask, "[") {
		return b.Framework.Ask + "[" + strings.Join(r.Extras, ",") + "]" + spec
	}
	return b.Framework.Ask + spec
}

// askFrameworks adds to a choice how its frameworks are asked for.
func (q fits) askFrameworks(c *Choice, b *matrix.Build) {
	if q.a.accel != cuda {
		return
	}
	for _, r := range q.a.p.req.packages {
		if f, why := q.frameworkFor(r, b); why == nil && f != nil {
			put(&c.Ask, r.Name, ask(r, f))
		}
	}
}

// frameworkWord names what the frameworks of a build are installed as.
func (q fits) frameworkWord(b *matrix.Build) string {
	var out []string
	for _, r := range q.a.p.req.packages {
		if f, why := q.frameworkFor(r, b); why == nil && f != nil && f.Label != cpu {
			out = append(out, fmt.Sprintf("%s is asked for as %s, which computes on %s", PlainName(r.Name), ask(r, f), gpuNames(q.a.gpus)))
		}
	}
	return say.Either(len(out) == 0, "it is installed as it was asked for", strings.Join(out, "; "))
}

// frameworkWarnings are what the rows of the frameworks beside a build warn of.
func (q fits) frameworkWarnings(b *matrix.Build) []string {
	var out []string
	for _, r := range q.a.p.req.packages {
		f, why := q.frameworkFor(r, b)
		if q.a.accel != cuda || why != nil || f == nil {
			continue
		}
		if warning := cmp.Or(f.Framework.Warning, byAPI(f.Framework.API), broughtByNone(f, b)); warning != "" {
			out = append(out, f.Framework.Package+": "+warning)
		}
	}
	return out
}

// byAPI says what a framework computes with that is no CUDA; "" it is.
func byAPI(api string) string {
	const loader = ": the driver's loader of it (libOpenCL) has to be there, and it computes on the CPU until it is told to use the GPU"
	return say.With("its code for GPUs is ", api, say.If(api == "OpenCL", loader))
}

// broughtByNone says which libraries of CUDA neither a framework's build nor what it stands
// beside brings; "" all are brought.
func broughtByNone(f, b *matrix.Build) string {
	row := f.Framework
	if b.Framework == nil || row.Apart || row.CUDA == "" || strings.Contains(row.Ask, "[") {
		return ""
	}
	lacks := "CUDA " + row.CUDA
	if m := firstNumber().FindString(row.CuDNN.String()); m != "" {
		lacks += " and no cuDNN " + m
	}
	return "it brings no " + lacks + ": a torch of that CUDA beside it does, else they are installed apart; without them it computes on the CPU, or fails"
}
