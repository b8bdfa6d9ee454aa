package installers

import (
	"maps"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestConda(t *testing.T) {
	forge := &resolver.Choice{Torch: "2.13.0", Build: "cu129", CUDA: "12.9", Python: "3.12", Channel: managers.CondaForge, Packages: map[string]string{"torch": "2.13.0", "torchvision": ""}}
	forgeNumPy := *forge
	forgeNumPy.Packages = map[string]string{"torch": "2.13.0", "torchvision": "", "numpy": ""}
	older := &resolver.Choice{Torch: "1.12.1", Build: "cu113", CUDA: "11.3", Python: "3.10", Channel: managers.CondaPyTorch, Packages: map[string]string{"torch": "1.12.1"}}
	cpu := &resolver.Choice{Torch: "2.13.0", Build: "cpu", Python: "3.12", Channel: managers.CondaForge, Packages: map[string]string{"torch": "2.13.0"}}
	old := &resolver.Choice{Torch: "2.5.1", Build: "cu124", CUDA: "12.4", Python: "3.11", Channel: managers.CondaPyTorch, Packages: map[string]string{"torch": "2.5.1", "torchvision": "0.20.1"}}
	turing := v100()
	turing.GPUs[0] = machine.GPU{Vendor: "nvidia", Name: "T4", SM: machine.MustSM("7.5"), Visible: true}
	turing.Tools = []machine.Tool{{Name: "micromamba", Path: "/opt/mm/micromamba"}, {Name: "conda", Path: "/opt/conda/bin/conda"}}
	volta := v100()
	volta.Tools = turing.Tools
	active := turing
	active.Pythons = []machine.Python{{Version: "3.12.4", Path: "/home/me/env/bin/python", Active: true, Source: "conda"}}
	windows := turing // of which this one's active environment is none
	windows.Platform, windows.Tools = machine.Platform{OS: "windows", Arch: "x86_64"}, nil
	windows.Pythons = []machine.Python{{Version: "3.12.4", Active: true, Source: "conda"}}
	for _, test := range []struct {
		name    string
		machine machine.Machine
		choice  *resolver.Choice
		request resolver.Request
		target  plan.Target
		want    []string
	}{
		{"conda-forge chooses micromamba where it is", turing, forge, resolver.Request{}, plan.Target{}, []string{
			"conda: /opt/mm/micromamba create --yes --prefix {gen} --override-channels --channel conda-forge python=3.12 pytorch=2.13.0=cuda129* cuda-version=12.9 torchvision",
			"verify: verify 2.13.0", "switch: switch .venv",
		}},
		{"conda, with cuDNN held back for an old GPU", volta, &forgeNumPy, resolver.Request{Requirements: []pep508.Requirement{requirement(t, "numpy>=2"), requirement(t, "numpy<3")}}, plan.Target{Manager: "conda"}, []string{
			"conda: /opt/conda/bin/conda create --yes --prefix {gen} --override-channels --channel conda-forge python=3.12 pytorch=2.13.0=cuda129* cuda-version=12.9 cudnn<9.11 numpy>=2 numpy<3 torchvision",
			"verify: verify 2.13.0", "switch: switch .venv",
		}},
		{"a described Windows, where all is in place: there is none yet", windows, cpu, resolver.Request{Described: true}, plan.Target{Manager: "conda", InPlace: true}, []string{
			"conda: conda create --yes --prefix {gen} --override-channels --channel conda-forge python=3.12 pytorch=2.13.0=cpu*",
			"verify: verify 2.13.0",
		}},
		{"a CPU build, in place, offline", active, cpu, resolver.Request{}, plan.Target{Manager: "conda", InPlace: true, Offline: true}, []string{
			"conda: /opt/conda/bin/conda install --yes --prefix {gen} --override-channels --offline --channel conda-forge python=3.12 pytorch=2.13.0=cpu*",
			"verify: verify 2.13.0",
		}},
		{"what pip installs after conda", turing, old, resolver.Request{}, plan.Target{Manager: "conda", Below: []string{"einops", "old==1.0"}, Build: []string{"old==1.0"},
			Places: []string{"tool @ git+https://example.org/tool"}, Editable: "/home/me/x"}, []string{
			"conda: /opt/conda/bin/conda create --yes --prefix {gen} --override-channels --channel pytorch --channel nvidia --channel conda-forge python=3.11 pip pytorch==2.5.1 pytorch-cuda=12.4 mkl<2024.1 torchvision=0.20.1",
			"packages: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --no-binary old torch==2.5.1 einops old==1.0",
			"places: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 torch==2.5.1 tool @ git+https://example.org/tool",
			"project: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --no-deps --editable /home/me/x",
			"verify: verify 2.5.1", "switch: switch .venv",
		}},
		{"the pytorch channel", turing, old, resolver.Request{}, plan.Target{Manager: "conda"}, []string{
			"conda: /opt/conda/bin/conda create --yes --prefix {gen} --override-channels --channel pytorch --channel nvidia --channel conda-forge python=3.11 pytorch==2.5.1 pytorch-cuda=12.4 mkl<2024.1 torchvision=0.20.1",
			"verify: verify 2.5.1", "switch: switch .venv",
		}},
		{"the pytorch channel before pytorch-cuda", turing, older, resolver.Request{}, plan.Target{Manager: "conda"}, []string{
			"conda: /opt/conda/bin/conda create --yes --prefix {gen} --override-channels --channel pytorch --channel nvidia --channel conda-forge python=3.10 pytorch==1.12.1 cudatoolkit=11.3 mkl<2024.1",
			"verify: verify 1.12.1", "switch: switch .venv",
		}},
		{"no conda", v100(), forge, resolver.Request{}, plan.Target{Manager: "mamba"}, []string{
			"conda: manual install mamba, or use `--manager uv`, which envfix brings itself",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := must(t, test.machine, test.request, install(test.choice), test.target)
			if said := strings.Join(p.Warnings, " "); strings.Contains(said, "is not here") != (test.name == "no conda") {
				t.Errorf("warnings: %q", said)
			}
			if on := test.machine.Platform.OS; on == "windows" && (p.Interpreter() != "python" || p.EnvFixes[len(p.EnvFixes)-1].Value != ".venv") {
				t.Errorf("conda's Python is in its root on Windows: %s, %v", p.Interpreter(), p.EnvFixes)
			}
			if diff := cmp.Diff(test.want, commands(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without a driver conda has no __cuda, and would take a CPU build in silence.
func TestCondaOverride(t *testing.T) {
	forge := &resolver.Choice{Torch: "2.13.0", Build: "cu129", CUDA: "12.9", Python: "3.12", Channel: managers.CondaForge, Packages: map[string]string{"torch": "2.13.0"}}
	h := v100()
	h.Tools = []machine.Tool{{Name: "conda", Path: "conda"}}
	for _, test := range []struct {
		described bool
		want      map[string]string
	}{{true, map[string]string{"CONDA_OVERRIDE_CUDA": "12.9"}}, {false, nil}} {
		p := must(t, h, resolver.Request{Described: test.described}, install(forge), plan.Target{})
		maps.DeleteFunc(p.Steps[0].Run.Env, func(k, _ string) bool { return strings.HasPrefix(k, "CONDA_REMOTE_") })
		if diff := cmp.Diff(test.want, p.Steps[0].Run.Env, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("described %v: %s", test.described, diff)
		}
	}
}
