package resolver

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
)

func withoutGPU(t *testing.T, python string, wants ...string) *Resolution {
	t.Helper()
	r := Request{Python: python, Described: true, Today: "2026-11-21"}
	for _, w := range wants {
		q, err := pep508.Parse(w, "")
		if err != nil {
			t.Fatal(err)
		}
		r.Requirements = append(r.Requirements, q)
	}
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}
	res, err := Resolve(dataThen(t), h, r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// An old release of which only the metadata was read, between releases for CUDA 11 and
// for CUDA 12, is for one of them: it is no way round a GPU.
func TestOldRowWithoutCUDA(t *testing.T) {
	res := withoutGPU(t, "3.11", "vllm")
	if res.Decision != NoSolution {
		t.Fatalf("vllm without a GPU: %s, torch %s with %v", res.Decision, res.Choice.Torch, res.Choice.Packages)
	}
	if !strings.Contains(strings.Join(res.Alternatives, "\n"), "`--gpu NAME --driver VERSION`") {
		t.Errorf("no way out names the target: %q", res.Alternatives)
	}
}

// Releases that no row tells of are there, and what they need of torch is known.
func TestReleaseWithoutRow(t *testing.T) {
	res := withoutGPU(t, "3.12", "torch==2.5.1", "torchcodec")
	if res.Decision != InstallCPU || res.Choice.Torch != "2.5.1" {
		t.Fatalf("%s %v", res.Decision, res.Reasons)
	}
	if !strings.Contains(strings.Join(res.Choice.Holds, " "), "torchcodec<0.2") {
		t.Errorf("held %q", res.Choice.Holds)
	}
}

// A fall back by many releases is said aloud.
func TestFarBehind(t *testing.T) {
	for want, loud := range map[string]bool{"torchao": true, "torchao==0.9.0": false} {
		res := withoutGPU(t, "3.12", "torch==2.5.1", want)
		if got := strings.Contains(strings.Join(res.Warnings, "\n"), "minor releases behind the newest"); res.Choice != nil && got != loud {
			t.Errorf("%s: %v %q", want, res.Choice.Packages, res.Warnings)
		}
	}
}
