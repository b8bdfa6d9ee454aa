package examine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/probe"
	"envfix/internal/system"
)

// Environments examines every environment of this machine; by is what they are judged by.
func Environments(ctx context.Context, o probe.Options, by read.Case) doctor.Environments {
	whole := probe.Gather(ctx, o)
	places, closed := probe.Places(o)
	told := doctor.Environments{Format: doctor.Format, Environments: make([]doctor.Environment, len(places)), Closed: append([]string{}, closed...)}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, p := range places {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			seen := probe.Inspect(o, whole, p)
			patient := read.FromMachine(seen.Machine)
			patient.Files, patient.Matrix, patient.Devices, patient.Standing = seen.Files, by.Matrix, by.Devices, by.Standing
			var report doctor.Report
			if seen.Torch != nil || seen.Machine.Has("torch") != nil {
				report = doctor.Examine(know.Embedded(), patient)
			}
			told.Environments[i] = doctor.EnvironmentOf(seen.Place, patient, seen.Torch, report)
		})
	}
	wait.Wait()
	// One that the driver, or the system, serves.
	told.GPU = slices.ContainsFunc(whole.GPUs, func(g machine.GPU) bool { return g.Visible && !g.Integrated || g.Vendor == machine.Apple })
	return told
}

// Activated reports whether all that a plan does is in the activate script
// already: then it is the shell that does not use it.
func Activated(p *plan.Plan) bool {
	return !slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		if s.Block == nil {
			return true
		}
		text, err := system.ReadFile(strings.ReplaceAll(s.Block.Path, "{gen}", p.Target.Dir), 1<<20)
		return err != nil || slices.ContainsFunc(s.Block.Lines, func(l string) bool { return !strings.Contains(string(text), l+"\n") })
	})
}
