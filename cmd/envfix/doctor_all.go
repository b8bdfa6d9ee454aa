package main

import (
	"context"
	"io"
	"sync"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/probe"
	"envfix/internal/ui"
)

// everywhere answers `envfix doctor --all`.
func (f doctorFlags) everywhere(ctx context.Context, k *know.Knowledge) error {
	var by read.Case
	if err := f.judged(&by); err != nil {
		return err
	}
	o := probeOptions("")
	whole := probe.Gather(ctx, o)
	places, closed := probe.Places(o)
	answer := doctor.Environments{Format: doctor.Format, Environments: make([]doctor.Environment, len(places)), Closed: closed}
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
			if seen.Torch != nil || installs(seen.Machine, "torch") {
				report = doctor.Examine(k, patient)
			}
			answer.Environments[i] = doctor.EnvironmentOf(seen.Place, patient, seen.Torch, report)
		})
	}
	wait.Wait()
	answer.GPU = hasVisibleGPU(whole)
	if answer.Closed == nil {
		answer.Closed = []string{}
	}
	if f.json {
		return writeJSON(f.out, answer)
	}
	_, err := io.WriteString(f.out, ui.EnvironmentTable(answer, f.verbose, homeDir()))
	return err
}

func installs(m machine.Machine, name string) bool {
	for _, p := range m.Installed {
		if p.Name == name {
			return true
		}
	}
	return false
}

// hasVisibleGPU reports whether a GPU is there that the driver, or the system, serves.
func hasVisibleGPU(m machine.Machine) bool {
	for _, g := range m.GPUs {
		if g.Visible && !g.Integrated || g.Vendor == machine.Apple {
			return true
		}
	}
	return false
}
