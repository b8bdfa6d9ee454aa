package resolver

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// parsed are requirements as they are written.
func parsed(t interface{ Fatal(...any) }, lines ...string) []pep508.Requirement {
	return text.Each(lines, func(line string) pep508.Requirement {
		q, err := pep508.Parse(line, "")
		if err != nil {
			t.Fatal(err)
		}
		return q
	})
}

func withoutGPU(t *testing.T, python string, wants ...string) *Resolution {
	t.Helper()
	return withoutGPUIn(t, dataThen(t), python, wants...)
}

func withoutGPUIn(t *testing.T, m *matrix.Matrix, python string, wants ...string) *Resolution {
	t.Helper()
	r := Request{Python: python, Described: true, Today: "2026-11-21", Requirements: parsed(t, wants...)}
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}
	res, err := Resolve(m, h, r)
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
	m := dataThen(t).With(matrix.Read{})
	m.Extensions = slices.DeleteFunc(m.Extensions, func(e matrix.Extension) bool { return e.Package == "torchcodec" && strings.Contains(e.Source, "read_") })
	res := withoutGPUIn(t, m, "3.12", "torch==2.5.1", "torchcodec")
	if res.Decision != InstallCPU || res.Choice.Torch != "2.5.1" {
		t.Fatalf("%s %v", res.Decision, res.Reasons)
	}
	if !strings.Contains(strings.Join(res.Choice.Holds, " "), "torchcodec<0.2") {
		t.Errorf("held %q", res.Choice.Holds)
	}
	if res := withoutGPU(t, "3.12", "torch==2.5.1", "torchcodec"); res.Choice == nil || res.Choice.Packages["torchcodec"] != "0.1.1" {
		t.Errorf("with rows of what was read: %+v", res.Choice)
	}
}

// What was read on an index is a row as all others are: it needs no torch, its driver and
// its GPUs decide, and beside torch its CUDA may be another one.
func TestReadRows(t *testing.T) {
	v, _ := version.ParsePython("3.1")
	only, _ := version.ParseSpecifier("==3.1")
	floor, _ := dataThen(t).Floor("cu120")
	sm := machine.SM{Major: 7}
	m := dataThen(t).With(matrix.Read{
		Files:      []matrix.Files{{Package: "boost", Versions: "3.1", OS: "linux", Arch: "x86_64", Tags: "py3"}, {Package: "splat", Versions: "3.1", Tags: "py3"}},
		Extensions: []matrix.Extension{{Package: "splat", Version: v, Fails: "import", Note: "JIT", Proof: matrix.ByWheel}},
		Frameworks: []matrix.Framework{{Package: "boost", Ask: "boost", OS: "linux", Arch: "x86_64", Versions: only, CUDA: "12", Driver: floor.Linux, DriverWin: floor.Windows,
			MinSM: sm, Plain: "none", Apart: true, Proof: matrix.ByWheel}},
	})
	ask := func(driver string, sm machine.SM, wants ...string) *Resolution {
		r := Request{Python: "3.12", Described: true, Today: "2026-11-21", Requirements: parsed(t, wants...)}
		h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Driver: &machine.Driver{Version: version.MustDotted(driver)},
			GPUs: []machine.GPU{{Vendor: machine.NVIDIA, Name: "X", SM: sm, Visible: true, Evidence: machine.FromFlag}}}
		res, err := Resolve(m, h, r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	ampere := machine.SM{Major: 8}
	if res := ask("580.95.05", ampere, "boost"); res.Choice == nil || res.Choice.Torch != "" || res.Choice.Ask["boost"] != "boost==3.1" {
		t.Errorf("alone: %+v", res.Choice)
	}
	if res := ask("580.95.05", ampere, "torch", "boost"); res.Choice == nil || !strings.HasPrefix(res.Choice.CUDA, "13") {
		t.Errorf("beside torch: %+v", res.Choice)
	}
	if res := ask("580.95.05", ampere, "torch", "boost-cpu"); res.Choice == nil || res.Choice.Torch == "" {
		t.Errorf("what is for a CPU alone beside what is for GPUs alone: %v", res.Reasons)
	}
	if res := ask("470.82.01", ampere, "boost"); res.Decision != UpgradeDriver {
		t.Errorf("old driver: %s", res.Decision)
	}
	if res := ask("535.161.07", machine.SM{Major: 6}, "boost"); res.Decision != NoSolution {
		t.Errorf("old GPU: %s", res.Decision)
	}
	if res := ask("580.95.05", ampere, "splat"); !strings.Contains(strings.Join(res.Warnings, " "), "compiled at its first use, with nvcc") {
		t.Errorf("no word of nvcc: %q", res.Warnings)
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
