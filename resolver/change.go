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
	"envfix/internal/xslices"
	"envfix/matrix"
)

// fix answers where the driver does not work at all.
func (s chooser) fix(action, why string, gpus []machine.GPU, d driver) *outcome {
	if s.p.h.Driver == nil && s.p.env() == machine.Container {
		return s.needTarget(fmt.Sprintf("%s is on the bus, but this container has no access to it: %s", gpuNames(gpus), why),
			"start the container with GPU access (`docker run --gpus all`, `--device nvidia.com/gpu=all`); the driver belongs to the host")
	}
	o := &outcome{}
	o.Decision, o.Driver = FixDriver, DriverChoice{Action: action, KernelModule: d.module}
	o.Reasons = []Reason{{Rule: "driver", Text: why}}
	asItIs := action != install // but for its module or a restart
	if action == switchModule {
		d.module = s.p.moduleFor(gpus)
		o.Driver.KernelModule, o.Driver.Branch = d.module, fmt.Sprint(d.branch.Number)
		asItIs = slices.Contains(d.branch.Modules, d.module)
	}
	if asItIs {
		if q, b := s.try(cuda, gpus, d); b != nil {
			o.q, o.build, o.Then, o.Driver.Minimum = q, b, q.choice(b), q.need(b)
			if action == switchModule {
				s.remarkEOL(o, d.branch)
			}
			return o
		}
	}
	b, q, build, ok := s.recommend(gpus, version.Dotted{})
	if !ok {
		if o := s.split(gpus); o != nil {
			return o
		}
		q, _ := s.try(cuda, gpus, d)
		return s.refuseAll(q)
	}
	o.q, o.build, o.Then, o.Driver = q, build, q.choice(build), q.onto(action, b, build)
	s.remarkEOL(o, b)
	return o
}

// pinBranch answers where a GPU was dropped by the installed branch: the last
// one that drives it, where that also serves the others. Else nil.
func (s chooser) pinBranch(gpus []machine.GPU, d driver) *outcome {
	old, last := s.dropped(gpus, d)
	b, ok := s.p.m.Branch(last)
	if !ok {
		return nil
	}
	q, build := s.try(cuda, gpus, s.p.onBranch(b, gpus))
	if build == nil {
		return nil
	}
	o := &outcome{q: q, build: build}
	o.Decision, o.Then = PinDriverBranch, q.choice(build)
	o.Driver = q.onto(pin, b, build)
	o.Reasons = []Reason{
		{Rule: "driver-gpu", Text: fmt.Sprintf("driver %s does not drive %s any more; branch %d is the last that does", d.version, gpuNames(old), last)},
	}
	s.fallback(o, gpus, d)
	s.remarkEOL(o, b)
	return o
}

// upgradeDriver answers where only a newer driver is missing; nil where none
// would help.
func (s chooser) upgradeDriver(gpus []machine.GPU, d driver) *outcome {
	b, q, build, ok := s.recommend(gpus, d.version)
	if !ok {
		return nil
	}
	o := &outcome{q: q, build: build}
	o.Decision, o.Then, o.Driver = UpgradeDriver, q.choice(build), q.onto(upgrade, b, build)
	s.fallback(o, gpus, d)
	o.Reasons = []Reason{{Rule: "driver-floor", Text: fmt.Sprintf("what fits needs driver %s or newer; there is %s", o.Driver.Minimum, driverText(d))}}
	if p := s.p.req.Policy; p != nil && d.version.Less(p.leastDriver()) {
		o.Reasons = []Reason{{Rule: "policy", Text: fmt.Sprintf("the team's policy asks for driver branch %d or newer; there is %s",
			p.Driver, driverText(d)), Source: teamsPolicy}}
	}
	s.remarkEOL(o, b)
	return o
}

// onto is the change of the driver to a branch, for a build.
func (q *attempt) onto(action string, b matrix.Branch, build *matrix.Build) DriverChoice {
	return DriverChoice{Action: action, Minimum: q.need(build), Branch: fmt.Sprint(b.Number), KernelModule: q.drv.module}
}

func (s chooser) remarkEOL(o *outcome, b matrix.Branch) {
	if s.ended(b) {
		o.Warnings = append(o.Warnings, fmt.Sprintf("driver branch %d is past its end of life (%s): no security updates", b.Number, b.EOL))
	}
}

// ended reports whether a branch is past its end of life.
func (s chooser) ended(b matrix.Branch) bool {
	return b.EOL != "" && b.EOL <= cmp.Or(s.p.req.Today, s.p.m.Date)
}

// fallback adds the best without a driver change, on the GPUs that the driver
// drives: with what was asked of CUDA and builds dropped, then also what was
// asked of versions. The other GPUs are named.
func (s chooser) fallback(o *outcome, gpus []machine.GPU, d driver) {
	drives := func(g machine.GPU) bool { a, ok := s.p.m.Arch(g.SM); return ok && drives(d, a) == fine }
	driven, idle := xslices.Filter(gpus, drives), slices.DeleteFunc(slices.Clone(gpus), drives)
	if len(driven) == 0 {
		return
	}
	for _, relax := range []func(*Request){
		func(*Request) {},
		func(r *Request) { r.CUDA, r.Build, r.Requirements = "", "", unlabelled(r.Requirements) },
		func(r *Request) { r.CUDA, r.Build, r.Requirements = "", "", unpinned(r.Requirements) },
	} {
		if t := s.p.with(relax); t != nil && t.req.conflict == "" {
			if q, b := t.chooser().try(cuda, driven, d); b != nil {
				o.Fallback = q.choice(b)
				break
			}
		}
	}
	if o.Fallback != nil && len(idle) > 0 {
		o.Warnings = append(o.Warnings, fmt.Sprintf("driver %s does not drive %s: until it is changed, nothing is computed there", d.version, gpuNames(idle)))
	}
}

func unlabelled(reqs []pep508.Requirement) []pep508.Requirement {
	out := slices.Clone(reqs)
	for i := range out {
		out[i].Label = ""
	}
	return out
}

func unpinned(reqs []pep508.Requirement) []pep508.Requirement {
	return unpinnedOf(reqs, func(string) bool { return true })
}

// unpinnedTorch drops the versions and labels of torch and its companions.
func unpinnedTorch(reqs []pep508.Requirement) []pep508.Requirement {
	return unpinnedOf(reqs, func(name string) bool { return name == "torch" || slices.Contains(companions, name) })
}

func unpinnedOf(reqs []pep508.Requirement, which func(name string) bool) []pep508.Requirement {
	out := unlabelled(reqs)
	for i := range out {
		if which(out[i].Name) {
			out[i].Spec, out[i].Text = version.Specifier{}, out[i].Name
		}
	}
	return out
}

// notAsAsked warns of what is installed without a change of the driver in another version
// than was asked for: the fallback drops pins.
func (s chooser) notAsAsked(fallback *Choice) []string {
	if fallback == nil {
		return nil
	}
	var other []string
	if v, err := version.ParseDotted(fallback.CUDA); err == nil && !s.p.req.cudaV.IsZero() &&
		(v.Major() != s.p.req.cudaV.Major() || strings.Contains(s.p.req.CUDA, ".") && v.MajorMinor() != s.p.req.cudaV.MajorMinor()) {
		other = append(other, fmt.Sprintf("CUDA %s, not `--cuda %s`", fallback.CUDA, s.p.req.CUDA))
	}
	if s.p.req.label != "" && s.p.req.label != fallback.Build {
		other = append(other, fmt.Sprintf("the build %s, not %s", fallback.Build, s.p.req.named))
	}
	for _, r := range s.p.req.Requirements {
		has := fallback.Packages[r.Name]
		if v, err := version.ParsePython(has); err == nil && !r.Spec.IsZero() && !r.Spec.Admits(v) {
			other = append(other, fmt.Sprintf("%s %s, not %s", r.Name, has, text.Cut(r.Text, 80)))
		}
	}
	if len(other) == 0 {
		return nil
	}
	return []string{"what runs now, without another driver, is not what was asked for: " + strings.Join(other, "; ")}
}
