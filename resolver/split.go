package resolver

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A group is a set of GPUs that one environment and one driver serve.
type group struct {
	gpus []machine.GPU
	env  Environment
}

// split answers where every GPU can be served, but not by one environment or
// one driver: one environment per group. It returns nil where a GPU cannot be
// served at all, or where one environment would do.
func (s chooser) split(gpus []machine.GPU) *outcome {
	if len(sms(gpus)) < 2 {
		return nil
	}
	var groups []*group
	for _, sm := range sms(gpus) {
		same := xslices.Filter(gpus, func(g machine.GPU) bool { return g.SM == sm })
		env := s.alone(same)
		if env == nil {
			return nil
		}
		if i := slices.IndexFunc(groups, func(o *group) bool {
			return sameAnswer(&o.env, env) && !s.moduleConflict(append(slices.Clone(o.gpus), same...))
		}); i >= 0 {
			groups[i].gpus = append(groups[i].gpus, same...)
			continue
		}
		groups = append(groups, &group{same, *env})
	}
	if len(groups) < 2 {
		return nil
	}
	o := &outcome{}
	o.Decision, o.Driver = Split, s.kept()
	conflict, apart := s.moduleConflict(gpus), s.noCommonDriver(gpus)
	for _, g := range groups {
		if env := s.alone(g.gpus); env != nil {
			g.env = *env // NCCL counts where the group has several
		}
		g.env.GPUs, g.env.CUDAVisible = visible(g.gpus)
		if conflict {
			g.env.Driver.KernelModule = s.p.moduleFor(g.gpus)
			g.env.Note = fmt.Sprintf("needs the %s kernel module; only one can be loaded at a time", s.p.moduleFor(g.gpus))
		} else if apart {
			branch := g.env.Driver.Branch
			if branch == "" { // the installed one stays
				branch = fmt.Sprint(s.p.installed().version.Major())
			}
			g.env.Note = fmt.Sprintf("needs driver branch %s; only one driver is loaded at a time", branch)
		}
		o.Environments = append(o.Environments, g.env)
	}
	o.Reasons = []Reason{{Rule: "split", Text: s.splitText(gpus)}}
	return o
}

func (s chooser) splitText(gpus []machine.GPU) string {
	if s.moduleConflict(gpus) {
		closed := xslices.Filter(gpus, s.p.closedOnly)
		open := xslices.Filter(gpus, s.p.openOnly)
		return fmt.Sprintf(
			"%s needs the proprietary kernel module and %s the open one: one of them is loaded at a time, so each environment works after a change of the module and a restart",
			gpuNames(closed), gpuNames(open))
	}
	if s.noCommonDriver(gpus) {
		return fmt.Sprintf("no one driver drives all of %s: each environment works after a change of the driver and a restart", gpuNames(gpus))
	}
	return fmt.Sprintf("no one build and driver serves all of %s", gpuNames(gpus))
}

// noCommonDriver reports whether no branch of the driver drives all of some GPUs, as a
// K80 (470 at most) beside a GeForce RTX 4090.
func (s chooser) noCommonDriver(gpus []machine.GPU) bool {
	return !slices.ContainsFunc(s.p.m.Branches, func(b matrix.Branch) bool { return s.drivesAll(gpus, s.p.onBranch(b, gpus)) })
}

// undriven names the GPUs of this machine that the installed driver drives and a branch no
// longer would, though they are not in use: a display may be on one. "" none.
func (s chooser) undriven(b matrix.Branch) string {
	gpus := s.p.vendor(machine.NVIDIA)
	old, last := s.dropped(gpus, s.p.onBranch(b, gpus))
	if len(old) == 0 {
		return ""
	}
	return fmt.Sprintf("branch %d no longer drives %s: %d is the last that does, and a display on it stays dark", b.Number, gpuNames(old), last)
}

// alone answers for one group: with the installed driver where it drives them,
// else with the branch to recommend.
func (s chooser) alone(gpus []machine.GPU) *Environment {
	d := s.p.installed()
	if d.compared && !d.version.IsZero() && s.drivesAll(gpus, d) {
		if q, b := s.try(cuda, gpus, d); b != nil {
			return &Environment{Choice: q.choice(b), Driver: DriverChoice{Action: keep, Minimum: q.need(b), KernelModule: d.module}}
		}
	}
	b, q, build, ok := s.recommend(gpus, version.Dotted{})
	if !ok {
		return nil
	}
	return &Environment{Choice: q.choice(build), Driver: q.onto(s.changeTo(gpus, d), b, build)}
}

// changeTo names what has to happen to the installed driver for some GPUs.
func (s chooser) changeTo(gpus []machine.GPU, d driver) string {
	switch old, _ := s.dropped(gpus, d); {
	case d.version.IsZero():
		return install
	case len(old) > 0:
		return pin
	case s.rangeFault(gpus, d):
		return upgrade
	case !s.drivesAll(gpus, d):
		return switchModule
	}
	return upgrade
}

func sameAnswer(a, b *Environment) bool {
	return a.Choice.Torch == b.Choice.Torch && a.Choice.Build == b.Choice.Build && a.Choice.Python == b.Choice.Python &&
		a.Driver.Action == b.Driver.Action && a.Driver.Branch == b.Driver.Branch && a.Driver.KernelModule == b.Driver.KernelModule
}
