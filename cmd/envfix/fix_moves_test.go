package main

import (
	"testing"

	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/resolver"
)

// `doctor --fix --yes` stops before a build for CUDA becomes one for the CPU, as where the
// GPU is not to be seen just now: what torch/version.py would say may be what is missing.
func TestYesLeavesCUDA(t *testing.T) {
	asked := func(module, build string, beside ...string) int {
		f := &machine.EnvFiles{Sites: []string{"/s"}, Dists: []machine.DistFiles{{Name: "torch", Version: "2.2.2", Module: module, Info: "/s/torch-2.2.2.dist-info"}}}
		for _, name := range beside {
			f.Dists = append(f.Dists, machine.DistFiles{Name: name, Version: "12.1.3.1"})
		}
		flags, patient := doctorFlags{}, &read.Case{}
		patient.Files = f
		flags.apply.yes = true
		err := flags.moves(&plan.Plan{Choice: resolver.Choice{Torch: "2.2.2", Build: build}}, patient)
		if err == nil {
			return fail.OK
		}
		return fail.Of(err).Code
	}
	for _, c := range []struct {
		got, want int
		of        string
	}{
		{asked("", "cpu", "nvidia-cublas-cu12"), fail.Pending, "no label, and CUDA's libraries beside it"},
		{asked("2.2.2+cu121", "cpu", "nvidia-cublas-cu12"), fail.Pending, "a label of CUDA"},
		{asked("2.2.2+cu118", "cpu"), fail.Pending, "a wheel that carries CUDA's libraries itself"},
		{asked("2.2.2+rocm5.7", "cpu"), fail.Pending, "a build for ROCm"},
		{asked("2.2.2+cpu", "cpu"), fail.OK, "a build for the CPU"},
		{asked("", "cpu"), fail.OK, "a build for the CPU that names no label"},
		{asked("", "cu121", "nvidia-cublas-cu12"), fail.OK, "CUDA again"},
	} {
		if c.got != c.want {
			t.Errorf("%s: exit %d, not %d", c.of, c.got, c.want)
		}
	}
}
