package main

import (
	"context"
	"slices"
	"sync"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/probe"
	"envfix/internal/ui"
)

// everywhere answers `envfix doctor --all`.
func (f doctorFlags) everywhere(ctx context.Context) error {
	var by read.Case
	if err := f.judged(&by); err != nil {
		return err
	}
	o := probeOptions("")
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
	return answer(f.out, f.json, told, ui.EnvironmentTable(told, f.verbose, homeDir()), fail.OK)
}
