package ui

import (
	"strings"
	"testing"

	"envfix/internal/doctor"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/resolver"
)

// On a login node the next command goes through the scheduler that is there: what runs
// on the node itself sees no GPU.
func TestLoginNode(t *testing.T) {
	login := host()
	login.Platform.Environment = machine.HPCLogin
	login.Installed = []machine.Package{{Name: "torch", Version: "2.15.0+cu132"}}
	for tool, want := range map[string]string{
		"sbatch": "`srun --gres=gpu:1 envfix doctor`",
		"bsub":   "`bsub -I -gpu num=1 envfix doctor`",
		"flux":   "`flux run --gpus-per-task=1 envfix doctor`",
		"qsub":   "`envfix doctor` in a job with a GPU",
	} {
		login.Tools = []machine.Tool{{Name: tool, Path: "/usr/bin/" + tool}}
		p := &plan.Plan{Decision: resolver.NeedTarget, Basis: plan.Basis{Facts: login}}
		for name, text := range map[string]string{"doctor": Style{}.Looked(login), "envfix": Home(Dashboard{Plan: p}, Style{})} {
			if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, want) || strings.Contains(got, "next `envfix verify`") {
				t.Errorf("%s, %s: no %s:\n%s", tool, name, want, text)
			}
		}
	}
	login.GPUs = []machine.GPU{gpu("NVIDIA A100", "8.0")}
	if got := (Style{}).Looked(login); !strings.Contains(got, "`envfix verify` proves") {
		t.Errorf("a node with a GPU:\n%s", got)
	}
}

// Where one of conda's environments is active, a plan makes another one beside it.
func TestHomeBesideConda(t *testing.T) {
	p := &plan.Plan{Decision: resolver.Install, Choice: resolver.Choice{Torch: "2.15.0", Build: "cu132"}, Basis: plan.Basis{Facts: host()}}
	text := Home(Dashboard{Plan: p, Environment: "environment /opt/conda/envs/x (active)", Into: ".venv"}, Style{})
	if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, "build cu132, into .venv; what is active stays as it is") {
		t.Error(text)
	}
}

// The first Python's torch is judged where there is no environment yet; a driver that no step
// mends sends to doctor. The words are those of a real H200's container (27 November 2026).
func TestHomeWithoutEnvironment(t *testing.T) {
	h := host()
	h.Installed = []machine.Package{{Name: "torch", Version: "2.11.0+cu130"}}
	installs := &plan.Plan{Decision: resolver.Install, Choice: resolver.Choice{Torch: "2.15.0", Build: "cu132"}, Basis: plan.Basis{Facts: h}}
	driver := &plan.Plan{Decision: resolver.FixDriver, Basis: plan.Basis{Facts: h}, Steps: []plan.Step{{ID: "driver", Manual: &plan.Manual{}}}}
	for want, d := range map[string]Dashboard{
		"nothing was computed next `envfix verify --env /opt/torch` proves that torch computes; `envfix apply` makes an environment": {Plan: installs, New: true, Found: "/opt/torch"},
		"nothing was computed next `envfix apply` shows the plan":                                                                    {Plan: installs, New: true},
		"no: its device files do not answer next `envfix doctor` shows":                                                              {Plan: driver, New: true, Faults: []string{"its device files do not answer"}},
	} {
		if got := strings.Join(strings.Fields(Home(d, Style{})), " "); !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// A doctor who found nothing says what was not tried, and only then.
func TestUntried(t *testing.T) {
	for _, imported := range []*read.Imported{nil, {Torch: "2.9.1"}} {
		p := &read.Case{}
		p.Imported = imported
		p.Torch.Version = "2.9.1"
		got := Doctor(doctor.Report{OK: true}, p, Style{})
		if !strings.HasPrefix(got, "nothing is wrong\n") || strings.Contains(got, "Python was not started") != (imported == nil) {
			t.Errorf("%v:\n%s", imported, got)
		}
	}
}
