package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// Frameworks other than torch: tensorflow, jax, onnxruntime, cupy. Their plain names
// bring CPU code, or none for the CUDA at hand, so a GPU decides how they are asked for.

// plainName is a framework's name without what it says of a GPU: cupy-cuda13x is cupy,
// onnxruntime-gpu onnxruntime.
func plainName(name string) string {
	name = strings.TrimSuffix(name, "-cpu")
	if at := strings.LastIndex(name, "-cuda"); at > 0 && strings.HasSuffix(name, "x") {
		return name[:at]
	}
	return strings.TrimSuffix(name, "-gpu")
}

// frameworkRows are what is known of a framework on this system, in the order of the
// data; none: it is no framework, or computes on the CPU alone here.
func (s frameworks) frameworkRows(name string) []matrix.Framework {
	var out []matrix.Framework
	plain := plainName(name)
	for _, f := range s.p.cache.frameworks[plain] {
		if (name == plain || name == f.Package) && (f.OS == "" || f.OS == s.p.h.Platform.OS) && (f.Arch == "" || f.Arch == s.p.h.Platform.Arch) {
			out = append(out, f)
		}
	}
	return out
}

func (s frameworks) isFramework(name string) bool {
	return len(s.p.cache.frameworks[plainName(name)]) > 0
}

// frameworksAlone reports whether frameworks were asked for and nothing that torch is
// needed for.
func (s frameworks) frameworksAlone() bool {
	if len(s.p.req.torch) > 0 || len(s.p.req.asked) > 0 || s.p.req.Build != "" || s.p.req.conda() || s.p.req.label != "" && s.p.req.label != cpu {
		return false
	}
	if s.p.needsTorch {
		return false
	}
	found := false
	for _, r := range s.p.req.packages {
		switch {
		case s.isFramework(r.Name):
			found = true
		case slices.ContainsFunc(s.p.m.Extensions, func(e matrix.Extension) bool { return e.Package == r.Name && !e.Torch.IsZero() }):
			return false
		}
	}
	return found
}

// whyFramework says why no release of a framework goes with a question; nil where
// one does. cu is the CUDA major that everything in the environment has; "" any.
func (q fits) whyFramework(r pep508.Requirement, cu string, cudnn version.Dotted) (matrix.Framework, *Reason) {
	var nearest *Reason // of the newest release that was asked for
	asked := false
	for _, f := range q.a.p.frameworks().frameworkRows(r.Name) {
		why := q.frameworkFault(framework{f, r, cu, cudnn})
		if why == "" {
			return f, nil
		}
		if fits := q.a.p.cache.overlap(f.Versions, r.Spec); nearest == nil || fits && !asked {
			nearest, asked = q.a.no(f.Source, "%s: %s", f.Ask, why), fits
		}
	}
	if nearest == nil {
		nearest = q.a.no("", "%s has no GPU build for %s %s", plainName(r.Name), q.a.p.h.Platform.OS, q.a.p.h.Platform.Arch)
	}
	return matrix.Framework{}, nearest
}

// olderDriver says that a framework's CUDA needs a newer driver; "" it does not.
func (q fits) olderDriver(f framework) string {
	need := f.Driver
	if q.a.drv.windows {
		need = f.DriverWin
	}
	if !q.a.drv.compared || !q.a.drv.version.Less(need) {
		return ""
	}
	return fmt.Sprintf("it needs driver %s or newer; here is %s", need, driverText(q.a.drv))
}

// A framework is a row of a framework, for one requirement and beside what an environment
// has: cu is its CUDA major, "" any; cudnn the one that torch brings, zero none.
type framework struct {
	matrix.Framework
	asked pep508.Requirement
	cu    string
	cudnn version.Dotted
}

// frameworkRules say each why a framework does not go with an attempt, "" it does. What
// is the same of a build of torch is asked of its rule.
var frameworkRules = []func(fits, framework) string{
	fits.underPolicy, fits.asked, fits.needed, fits.onPython, fits.onPlatform, fits.besideOthers, fits.olderDriver, fits.onGPUs, fits.withCode,
}

func (q fits) frameworkFault(c framework) string {
	for _, rule := range frameworkRules {
		if why := rule(q, c); why != "" {
			return why
		}
	}
	return ""
}

func (q fits) underPolicy(c framework) string {
	p := q.a.p.req.Policy
	switch {
	case p == nil:
	case len(p.CUDA) > 0 && !slices.ContainsFunc(p.CUDA, func(v string) bool { return major(v) == major(c.CUDA) }):
		return "the team's policy admits CUDA " + text.Cut(strings.Join(p.CUDA, ", "), 80)
	case len(p.Indexes) > 0 && !slices.Contains(p.Indexes, "default"):
		return "the team's policy does not admit the default index"
	case q.a.drv.compared && q.a.drv.version.Less(p.leastDriver()):
		return fmt.Sprintf("the team's policy asks for driver branch %d or newer; here is %s", p.Driver, driverText(q.a.drv))
	}
	return ""
}

func (q fits) asked(c framework) string {
	if !q.a.p.cache.overlap(c.Versions, c.asked.Spec) {
		return fmt.Sprintf("it is of %s, and you asked for %s", c.Versions, text.Cut(c.asked.Text, 80))
	}
	return ""
}

func (q fits) needed(c framework) string {
	if why := q.a.p.frameworks().frameworkNeed(c.asked, c.Framework); why != "" {
		return why
	}
	if len(c.asked.Extras) > 0 && !slices.ContainsFunc(c.asked.Extras, func(x string) bool { return strings.Contains(c.Ask, "["+x+"]") }) {
		return "it is not the extra that you asked for"
	}
	return ""
}

func (q fits) onPython(c framework) string {
	switch {
	case q.a.py.major == 0:
		return ""
	case !c.Python.IsZero() && !q.a.p.cache.fits(q.a.py, c.Python.String()):
		return fmt.Sprintf("it is for Python %s", c.Python)
	}
	return q.a.packages().noFileIn(filesOf(c.Framework), c.Versions, c.asked.Spec)
}

func (q fits) onPlatform(c framework) string {
	libc := q.a.p.h.Platform.Libc
	if !c.Glibc.IsZero() && libc != nil && libc.Kind == "glibc" && libc.Version.Less(c.Glibc) {
		return fmt.Sprintf("its CUDA libraries need glibc %s; this system has %s", c.Glibc, libc.Version)
	}
	return ""
}

func (q fits) besideOthers(c framework) string {
	switch {
	case c.cu != "" && major(c.CUDA) != c.cu:
		return fmt.Sprintf("it computes with CUDA %s, and the others with CUDA %s: one environment holds the libraries of one", major(c.CUDA), c.cu)
	case c.Exact && !c.cudnn.IsZero():
		return fmt.Sprintf("%s pins each library of CUDA %s to one version, and torch to others: an installer refuses them together", c.Versions, c.CUDA)
	case !c.cudnn.IsZero() && !c.CuDNN.IsZero() && !admitsDotted(c.CuDNN, c.cudnn):
		return fmt.Sprintf("it needs cuDNN%s, and torch brings %s", c.CuDNN, c.cudnn)
	}
	return ""
}

func (q fits) onGPUs(c framework) string {
	for _, g := range q.a.gpus {
		if !c.MinSM.IsZero() && g.SM.Less(c.MinSM) {
			return fmt.Sprintf("it needs GPU %s or newer; here is %s", c.MinSM, gpuName(g))
		}
		if a, _ := q.a.p.m.Arch(g.SM); olderMajor(c.CUDA, a.FirstCUDA) {
			return fmt.Sprintf("it computes with CUDA %s; %s needs CUDA %s or newer", c.CUDA, gpuName(g), a.FirstCUDA)
		}
	}
	return ""
}

// withCode says which GPU the newest release of a framework that was read, of those
// asked for, has no code for; "" none, or none was read.
func (q fits) withCode(f framework) string {
	for _, e := range q.a.p.wheels(f.Package) {
		if len(e.Native) > 0 && q.a.p.cache.admits(f.Versions, e.Version) && q.a.p.cache.admits(f.asked.Spec, e.Version) {
			if why := q.a.packages().missingFor(e, q.a.packages().codeOf(e)); why != "" {
				return fmt.Sprintf("%s %s %s", f.Package, e.Version, why)
			}
			return ""
		}
	}
	return ""
}

// filesOf is the package whose files decide where a framework can be installed.
func filesOf(f matrix.Framework) string {
	return cmp.Or(f.Files, f.Package)
}

func admitsDotted(s version.Specifier, v version.Dotted) bool {
	p, err := version.ParsePython(v.String())
	return err != nil || s.Admits(p)
}

// ask is how a framework is asked for so that it computes on a GPU: its extra or its
// other name, with the versions of its row and of the request.
func ask(r pep508.Requirement, f matrix.Framework) string {
	spec := f.Versions.String()
	if own := r.Spec.String(); strings.HasPrefix(own, "==") && !strings.Contains(own, ",") {
		spec = own // one release or series of the row's
	} else if own != "" && spec != "" {
		spec = own + "," + spec
	} else if spec == "" {
		spec = own
	}
	return f.Ask + spec
}

// frameworks answers for frameworks without torch.
func (s frameworks) frameworks() *outcome {
	gpus := s.p.vendor(machine.NVIDIA)
	if name, why := s.frameworksNeed(); why != "" {
		return s.refuseFramework("companions", name+" "+why)
	}
	switch {
	case s.p.req.accel() == cpu:
		return s.plainFrameworks(fmt.Sprintf("the CPU, as asked for with %s", s.p.req.named))
	case s.forCPU():
		return s.plainFrameworks("the CPU, as the name of what was asked for says")
	case len(s.p.gpus) == 0:
		if name := s.withoutCPU(); name != "" {
			return s.plainFrameworks(fmt.Sprintf("no GPU was found, and %s has no code for a CPU: it is installed, and computes nothing here", name))
		}
		return s.plainFrameworks("no GPU was found: this plan computes on the CPU only")
	case len(gpus) == 0 && s.withoutCPU() != "":
		return s.refuseFramework("request", fmt.Sprintf("%s has code for NVIDIA GPUs alone; here is %s", s.withoutCPU(), gpuNames(s.p.gpus)))
	case len(gpus) == 0:
		return s.plainFrameworks(fmt.Sprintf("which of these frameworks serves %s is not known: this plan computes on the CPU only", gpuNames(s.p.gpus)))
	}
	d := s.p.installed()
	if d.version.IsZero() && d.compared {
		d.version = version.Dotted{}
	}
	action, why := s.p.chooser().driverFault(gpus, d)
	if c, q := s.frameworkChoice(gpus, d); c != nil && (action == "" || !d.compared) {
		o := &outcome{q: q}
		o.Decision, o.Choice, o.Driver = Install, c, DriverChoice{Action: keep, Minimum: s.frameworkFloor(c), KernelModule: d.module}
		o.HeldBack = q.fits().frameworkHeldBack(c)
		o.Reasons, o.Warnings = s.frameworkReasons(c, q), s.frameworkWarnings(c, q)
		return o
	}
	if c, q := s.frameworkChoice(gpus, ideal()); c != nil {
		return s.frameworkDriver(c, q, gpus, action, why)
	}
	name, refusal := s.frameworkRefusals(gpus, ideal())
	if s.cudaExtra() {
		return s.refuseFramework("gpu-code", refusal)
	}
	if s.withoutCPU() != "" {
		return s.refuseFramework("gpu-code", refusal+", and it has no code for a CPU"+s.sibling(name, gpus))
	}
	return s.plainFrameworks(refusal + ": this plan computes on the CPU only" + s.inWSL(name))
}

// withoutCPU is the first package of the request that has no code for a CPU; "" none.
func (s frameworks) withoutCPU() string {
	for _, r := range s.p.req.packages {
		if slices.ContainsFunc(s.p.cache.frameworks[plainName(r.Name)], func(f matrix.Framework) bool { return f.Plain == "none" }) {
			return r.Name
		}
	}
	return ""
}

// sibling names the package for another CUDA that serves where this one does not; ""
// there is none.
func (s frameworks) sibling(name string, gpus []machine.GPU) string {
	for _, p := range s.p.pythons()[:min(1, len(s.p.pythons()))] {
		q := s.p.ask(cuda, gpus, s.p.installed(), p)
		if f, refusal := q.frameworkRefusal(pep508.Requirement{Name: plainName(name)}, "", version.Dotted{}); refusal == nil && f.Package != name {
			return fmt.Sprintf("; %s serves it", f.Package)
		}
	}
	return ""
}

// inWSL says where a framework computes on the GPU of a Windows machine that it does not
// serve on Windows itself; "" where that helps nothing.
func (s frameworks) inWSL(name string) string {
	if s.p.h.Platform.OS != "windows" || !slices.ContainsFunc(s.p.cache.frameworks[plainName(name)], func(f matrix.Framework) bool {
		return f.OS == "linux" && f.Arch == s.p.h.Platform.Arch
	}) {
		return ""
	}
	return fmt.Sprintf("; in WSL 2, %s computes on it (`--os wsl2`)", plainName(name))
}

// frameworkChoice is one CUDA for all that was asked for, the newest that serves.
func (s frameworks) frameworkChoice(gpus []machine.GPU, d driver) (*Choice, *attempt) {
	for _, p := range s.p.pythons() {
		q := s.p.ask(cuda, gpus, d, p)
		for _, cu := range s.frameworkCUDAs() {
			c := &Choice{Build: "cuda" + cu, CUDA: cu, Python: p.String(), Channel: "pip", Packages: map[string]string{}, Ask: map[string]string{}}
			whole := true
			for _, r := range s.p.req.packages {
				c.Packages[r.Name] = ""
				if !s.isFramework(r.Name) {
					continue
				}
				f, refusal := q.frameworkRefusal(r, cu, version.Dotted{})
				if whole = refusal == nil; !whole {
					break
				}
				c.Ask[r.Name], c.Proof, c.Source = ask(r, f), string(f.Proof), f.Source
			}
			if whole {
				c.Holds = s.frameworkHolds(func(r pep508.Requirement) version.Specifier {
					f, _ := q.frameworkRefusal(r, cu, version.Dotted{})
					return f.Versions
				})
				return c, q
			}
		}
	}
	return nil, nil
}

// frameworkCUDAs are the CUDA majors of all rows, in their order.
func (s frameworks) frameworkCUDAs() []string {
	var out []string
	for _, r := range s.p.req.packages {
		for _, f := range s.frameworkRows(r.Name) {
			if cu := major(f.CUDA); cu != "" && !slices.Contains(out, cu) && (s.p.req.cudaV.IsZero() || fmt.Sprint(s.p.req.cudaV.Major()) == cu) {
				out = append(out, cu)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(b, a) })
	return out
}

// frameworkRefusals names the first framework that nothing serves, and why.
func (s frameworks) frameworkRefusals(gpus []machine.GPU, d driver) (name, why string) {
	for _, p := range s.p.pythons()[:min(1, len(s.p.pythons()))] {
		q := s.p.ask(cuda, gpus, d, p)
		q.explain = true
		for _, r := range s.p.req.packages {
			if !s.isFramework(r.Name) {
				continue
			}
			if _, refusal := q.frameworkRefusal(r, "", version.Dotted{}); refusal != nil {
				return r.Name, refusal.Text
			}
		}
	}
	return "", "no one CUDA serves all that was asked for"
}

// frameworkFloor is the oldest driver that what was chosen runs on.
func (s frameworks) frameworkFloor(c *Choice) version.Dotted {
	need := s.p.req.Policy.leastDriver()
	for _, f := range s.p.m.Frameworks {
		for _, asked := range c.Ask {
			if strings.HasPrefix(asked, f.Ask) && major(f.CUDA) == c.CUDA {
				floor := f.Driver
				if s.p.windowsDriver() {
					floor = f.DriverWin
				}
				need = later(need, floor)
			}
		}
	}
	return need
}

// frameworkDriver answers where only the driver is missing, broken or too old.
func (s frameworks) frameworkDriver(c *Choice, q *attempt, gpus []machine.GPU, action, why string) *outcome {
	o := &outcome{q: q}
	o.Decision, o.Then = FixDriver, c
	o.Driver = DriverChoice{Action: action, Minimum: s.frameworkFloor(c), KernelModule: s.p.moduleFor(gpus)}
	o.Reasons = append([]Reason{{Rule: "driver", Text: why}}, s.frameworkReasons(c, q)...)
	o.Warnings = s.frameworkWarnings(c, q)
	if action == "" {
		o.Decision, o.Driver.Action = UpgradeDriver, upgrade
		o.Reasons[0] = Reason{
			Rule: "driver-floor",
			Text: fmt.Sprintf("what was asked needs driver %s or newer; here is %s", o.Driver.Minimum, driverText(s.p.installed())),
		}
		if older, _ := s.frameworkChoice(gpus, s.p.installed()); older != nil {
			o.Fallback = older
		}
	}
	for _, b := range s.p.chooser().branches() {
		if d := s.p.onBranch(b, gpus); s.p.chooser().drivesAll(gpus, d) && !d.version.Less(o.Driver.Minimum) {
			o.Driver.Branch = fmt.Sprint(b.Number)
			break
		}
	}
	return o
}

func (s frameworks) frameworkReasons(c *Choice, q *attempt) []Reason {
	var out []Reason
	for _, r := range s.p.req.packages {
		if a := c.Ask[r.Name]; a != "" {
			out = append(
				out,
				Reason{
					Rule:   "companions",
					Text:   fmt.Sprintf("%s is asked for as %s, which computes on %s", plainName(r.Name), a, gpuNames(q.gpus)),
					Source: c.Source,
				},
			)
		}
	}
	return append(out, Reason{Rule: "request", Text: NoTorch})
}

// frameworkWarnings are what the rows of a choice warn of.
func (s frameworks) frameworkWarnings(c *Choice, q *attempt) []string {
	var out []string
	for _, r := range s.p.req.packages {
		if f, refusal := q.frameworkRefusal(r, c.CUDA, version.Dotted{}); refusal == nil && f.Warning != "" {
			out = append(out, f.Package+": "+f.Warning)
		}
	}
	return out
}
