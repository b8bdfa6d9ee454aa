package installers

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

const cu126 = "https://download.pytorch.org/whl/cu126"

func v100() machine.Machine {
	return machine.Machine{
		Format:    1,
		Platform:  machine.Platform{OS: "linux", Arch: "x86_64", Distro: "ubuntu", DistroVersion: "24.04", Kernel: "6.8.0-45-generic"},
		Privilege: "sudo",
		GPUs:      []machine.GPU{{Vendor: "nvidia", Name: "Tesla V100", SM: machine.MustSM("7.0"), Visible: true}},
		Driver:    &machine.Driver{Version: version.MustDotted("580.95.05")},
		Pythons:   []machine.Python{{Version: "3.12.4", Path: "/usr/bin/python3", Active: true, Source: "system"}},
		Tools:     []machine.Tool{{Name: "uv", Path: "/usr/bin/uv"}},
		Env:       map[string]string{},
	}
}

func choice() *resolver.Choice {
	url := cu126
	return &resolver.Choice{Torch: "2.14.1", Build: "cu126", CUDA: "12.6", CuDNN: "9.10.2.21", Python: "3.12", Channel: "pip", Index: &url,
		Packages: map[string]string{"torch": "2.14.1+cu126", "torchvision": "0.29.1+cu126"}, Arches: []string{"sm_70"}}
}

func install(c *resolver.Choice) *resolver.Resolution {
	return &resolver.Resolution{Decision: resolver.Install, Choice: c, Driver: resolver.DriverChoice{Action: "keep"}}
}

func must(t *testing.T, h machine.Machine, r resolver.Request, res *resolver.Resolution, target plan.Target) *plan.Plan {
	t.Helper()
	if target.Dir == "" {
		target.Dir = ".venv"
	}
	p, err := Plan(&matrix.Matrix{}, h, r, res, target)
	if err == nil {
		err = plan.Seal(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// commands is the steps as lines: id, then the argv or the kind.
func commands(p *plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		line := s.ID + ":"
		if s.Root {
			line += " root"
		}
		switch {
		case s.Run != nil:
			line += " " + strings.Join(s.Run.Argv, " ")
		case s.Copy != nil:
			line += " copy " + s.Copy.Dir + " " + strings.Join(s.Copy.Packages, " ")
		case s.Manual != nil:
			line += " manual " + s.Manual.Text
		case s.Verify != nil:
			line += " verify " + s.Verify.Torch
		case s.Switch != nil:
			line += " switch " + s.Switch.Dir
		case s.Block != nil:
			line += " block " + s.Block.Path
		case s.Write != nil:
			line += " write " + s.Write.Path
		}
		out = append(out, line)
	}
	return out
}

func requirement(t *testing.T, text string) pep508.Requirement {
	t.Helper()
	q, err := pep508.Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestSteps(t *testing.T) {
	bare := v100()
	bare.Tools = nil
	none := v100()
	none.Tools, none.Pythons = []machine.Tool{{Name: "apt-get", Path: "/usr/bin/apt-get"}}, nil
	oldPython := v100()
	oldPython.Pythons[0].Version = "3.9.2"
	defaultIndex := choice()
	defaultIndex.Index, defaultIndex.Torch, defaultIndex.Build = nil, "2.15.0", "cu132"
	defaultIndex.Packages = map[string]string{"torch": "2.15.0+cu132", "torchvision": "0.30.0"}
	mixed := choice()
	mixed.Packages = map[string]string{"torch": "2.14.1+cu126", "torchaudio": "2.11.0", "vllm": "0.12.0"}
	before2 := choice()
	before2.Holds = []string{"numpy<2"}
	alone := choice()
	alone.Holds, alone.Packages = []string{"numpy<2"}, map[string]string{"torch": "2.14.1+cu126"}
	windows := v100()
	windows.Platform, windows.Tools, windows.Pythons[0].Path = machine.Platform{OS: "windows", Arch: "x86_64"}, nil, ""
	unseen := v100()
	unseen.Tools, unseen.Pythons = nil, nil
	mine := v100()
	mine.Env["PIP_INDEX_URL"] = "https://me:secret@pkgs.example/simple"

	for _, test := range []struct {
		name    string
		machine machine.Machine
		request resolver.Request
		choice  *resolver.Choice
		target  plan.Target
		want    []string
	}{
		{name: "uv", machine: v100(), choice: choice(), want: []string{
			"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		}},
		{name: "pip", machine: v100(), choice: choice(), target: plan.Target{Manager: "pip"}, want: []string{
			"venv: /usr/bin/python3 -m venv {gen}",
			"torch: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"check: {gen}/bin/python -I -m pip --isolated check",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		}},
		{name: "no uv", machine: bare, choice: choice(), want: []string{
			"tools: /usr/bin/python3 -m venv {tools}/uv",
			"uv: {tools}/uv/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: uv",
			"venv: {tools}/uv/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"torch: {tools}/uv/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"check: {tools}/uv/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		}},
		{name: "neither Python nor uv", machine: none, choice: choice(), want: []string{
			"lists: root /usr/bin/apt-get update",
			"python: root /usr/bin/apt-get install -y --no-install-recommends python3 python3-venv",
		}},
		{name: "no uv, and no network to bring it", machine: none, choice: choice(), target: plan.Target{Offline: true}, want: []string{
			"uv: manual put uv on PATH: one file, the same on every Linux of this architecture; or use the folder that `envfix lock bundle` writes, which holds it: `--bundle DIR`",
		}},
		{name: "no Python that fits", machine: oldPython, choice: choice(), target: plan.Target{Offline: true}, want: []string{
			"python: /usr/bin/uv --offline python install 3.12",
			"venv: /usr/bin/uv --offline venv --no-project --python 3.12 {gen}",
			"torch: /usr/bin/uv --offline pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		}},
		{name: "pip cannot bring a Python", machine: oldPython, choice: choice(), target: plan.Target{Manager: "pip"}, want: []string{
			"python: manual install Python 3.12, or drop `--manager pip`: uv brings its own",
		}},
		{name: "pip on a Windows that was described: its launcher finds the Python", machine: windows, choice: choice(), target: plan.Target{Manager: "pip", InPlace: true},
			request: resolver.Request{Described: true}, want: []string{
				"venv: py -3.12 -m venv {gen}",
				"torch: {gen}/Scripts/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
				"check: {gen}/Scripts/python -I -m pip --isolated check",
				"verify: verify 2.14.1+cu126",
			}},
		{name: "pip on a Linux that was described", machine: unseen, choice: choice(), target: plan.Target{Manager: "pip"},
			request: resolver.Request{Described: true}, want: []string{
				"venv: python3.12 -m venv {gen}",
				"torch: {gen}/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --retries 3 --timeout 60 --only-binary :all: --index-url " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
				"check: {gen}/bin/python -I -m pip --isolated check",
				"verify: verify 2.14.1+cu126",
				"switch: switch .venv",
			}},
		{name: "default index: no label, no index", machine: v100(), choice: defaultIndex, want: []string{
			"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: torch==2.15.0 torchvision==0.30.0",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.15.0+cu132",
			"switch: switch .venv",
		}},
		{name: "NumPy is held beside torchvision, and in what follows", machine: v100(), choice: before2,
			request: resolver.Request{Requirements: []pep508.Requirement{requirement(t, "pandas")}}, want: []string{
				"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
				"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126 numpy<2",
				"packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: torch==2.14.1+cu126 torchvision==0.29.1+cu126 numpy<2 pandas",
				"check: /usr/bin/uv pip check --python {gen}/bin/python",
				"verify: verify 2.14.1+cu126",
				"switch: switch .venv",
			}},
		{name: "NumPy is held beside torch alone", machine: v100(), choice: alone, want: []string{
			"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126",
			"packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: torch==2.14.1+cu126 numpy<2",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.14.1+cu126",
			"switch: switch .venv",
		}},
		{name: "the rest comes later, with torch held", machine: v100(), choice: mixed,
			request: resolver.Request{Requirements: []pep508.Requirement{requirement(t, "vllm[audio]>=0.10"), requirement(t, "transformers>=4 ; python_version < '3.13'")}},
			target:  plan.Target{Mirrors: []string{"https://download.pytorch.org/whl=https://mirror.example/torch", "default=https://mirror.example/simple"}},
			want: []string{
				"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
				"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index https://mirror.example/torch/cu126 torch==2.14.1+cu126",
				"packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index https://mirror.example/simple torch==2.14.1+cu126 torchaudio==2.11.0 vllm[audio]==0.12.0 transformers>=4 ; python_version < '3.13'",
				"check: /usr/bin/uv pip check --python {gen}/bin/python",
				"verify: verify 2.14.1+cu126",
				"switch: switch .venv",
			}},
		{name: "two requirements on one package, and an extra of torch", machine: v100(), choice: defaultIndex,
			request: resolver.Request{Requirements: []pep508.Requirement{requirement(t, "torch[optree]"), requirement(t, "numpy<2 ; python_version < '3.12'"), requirement(t, "numpy>=2 ; python_version >= '3.12'"), requirement(t, "numpy<2 ; python_version < '3.12'")}},
			want: []string{
				"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
				"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: torch[optree]==2.15.0 torchvision==0.30.0",
				"packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: torch[optree]==2.15.0 torchvision==0.30.0 numpy>=2 ; python_version >= '3.12'",
				"check: /usr/bin/uv pip check --python {gen}/bin/python",
				"verify: verify 2.15.0+cu132",
				"switch: switch .venv",
			}},
		{name: "my own index, without its password", machine: mine, choice: defaultIndex, want: []string{
			"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index https://pkgs.example/simple torch==2.15.0 torchvision==0.30.0",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.15.0+cu132",
			"switch: switch .venv",
		}},
		{name: "in place", machine: v100(), choice: choice(), target: plan.Target{InPlace: true}, want: []string{
			"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
			"torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index " + cu126 + " torch==2.14.1+cu126 torchvision==0.29.1+cu126",
			"check: /usr/bin/uv pip check --python {gen}/bin/python",
			"verify: verify 2.14.1+cu126",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := must(t, test.machine, test.request, install(test.choice), test.target)
			if diff := cmp.Diff(test.want, commands(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is asked for, one installer call names at most one index, never an extra
// one, and no child is given the user's configuration.
func TestOneIndexPerCall(t *testing.T) {
	h := v100()
	h.Env["PIP_EXTRA_INDEX_URL"] = "https://evil.example/simple"
	h.Env["UV_INDEX"] = "https://evil.example/simple"
	for _, manager := range []string{"uv", "pip"} {
		p := must(t, h, resolver.Request{Requirements: []pep508.Requirement{requirement(t, "transformers")}}, install(choice()), plan.Target{Manager: manager})
		calls := 0
		for _, s := range p.Steps {
			if s.Run == nil || !strings.Contains(strings.Join(s.Run.Argv, " "), "pip install") {
				continue
			}
			calls++
			text := strings.Join(s.Run.Argv, " ")
			if n := strings.Count(text, "index"); n > 1 || strings.Contains(text, "extra-index") || strings.Contains(text, "evil") {
				t.Errorf("%s: %s", manager, text)
			}
			want := map[string]string{"UV_NO_CONFIG": "1", "UV_HTTP_TIMEOUT": "60", "UV_HTTP_RETRIES": "3"}
			if manager == "pip" {
				want = map[string]string{"PIP_CONFIG_FILE": "/dev/null"}
			}
			if diff := cmp.Diff(want, s.Run.Env); diff != "" {
				t.Errorf("%s: environment of %s: %s", manager, s.ID, diff)
			}
		}
		if calls != 2 {
			t.Errorf("%s: %d calls install, want 2", manager, calls)
		}
		warned := strings.Join(p.Warnings, "\n")
		if !strings.Contains(warned, "PIP_EXTRA_INDEX_URL is not honoured") || !strings.Contains(warned, "UV_INDEX is not honoured") {
			t.Errorf("%s: warnings %q", manager, p.Warnings)
		}
	}
}

func TestSecretsStayOut(t *testing.T) {
	h := v100()
	h.Env["PIP_INDEX_URL"] = "https://me:s3cret@pkgs.example/simple"
	h.Env["HTTPS_PROXY"] = "http://me:s3cret@proxy:3128"
	h.Env["NO_PROXY"] = "localhost"
	p := must(t, h, resolver.Request{}, install(choice()), plan.Target{})
	for _, s := range p.Steps {
		if s.Run != nil && strings.Contains(strings.Join(s.Run.Argv, " "), "s3cret") || s.Run != nil && s.Run.Env["HTTPS_PROXY"] != "" {
			t.Errorf("step %s holds the password: %v", s.ID, s.Run)
		}
	}
	if strings.Contains(strings.Join(p.Warnings, "\n"), "s3cret") {
		t.Errorf("warnings hold the password: %q", p.Warnings)
	}
	if got := p.Steps[1].Run.Env["NO_PROXY"]; got != "localhost" {
		t.Errorf("NO_PROXY is %q, want it passed on", got)
	}
}

func TestNothingToDo(t *testing.T) {
	cuda := "12.6"
	conforming := v100()
	conforming.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126", CUDA: &cuda}, {Name: "torchvision", Version: "0.29.1+cu126"}}
	for _, test := range []struct {
		name   string
		change func(h *machine.Machine, r *resolver.Request)
		empty  bool
	}{
		{"the same", func(*machine.Machine, *resolver.Request) {}, true},
		{"another build", func(h *machine.Machine, _ *resolver.Request) { h.Installed[0].Version = "2.14.1+cpu" }, false},
		{"a wheel without label, by its CUDA", func(h *machine.Machine, _ *resolver.Request) { h.Installed[0].Version = "2.14.1" }, true},
		{"a wheel without label of another CUDA", func(h *machine.Machine, _ *resolver.Request) {
			other := "13.0"
			h.Installed[0].Version, h.Installed[0].CUDA = "2.14.1", &other
		}, false},
		{"no companion", func(h *machine.Machine, _ *resolver.Request) { h.Installed = h.Installed[:1] }, false},
		{"another Python", func(h *machine.Machine, _ *resolver.Request) { h.Pythons[0].Version = "3.11.9" }, false},
		{"a further request", func(_ *machine.Machine, r *resolver.Request) {
			r.Requirements = []pep508.Requirement{requirement(t, "transformers")}
		}, false},
		{"a request for another system", func(_ *machine.Machine, r *resolver.Request) {
			r.Requirements = []pep508.Requirement{requirement(t, `pywin32; sys_platform == "win32"`)}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := conforming
			h.Installed = append([]machine.Package{}, conforming.Installed...)
			h.Pythons = append([]machine.Python{}, conforming.Pythons...)
			var r resolver.Request
			test.change(&h, &r)
			p := must(t, h, r, install(choice()), plan.Target{})
			if empty := len(p.Steps) == 0; empty != test.empty {
				t.Errorf("no steps: %v, want %v\n%s", empty, test.empty, strings.Join(commands(p), "\n"))
			}
		})
	}
}

// What torch brings is no change where torch is the same and asks for no other.
func TestSameTorchSameLibraries(t *testing.T) {
	h, r := v100(), resolver.Request{Requirements: []pep508.Requirement{requirement(t, "rich")}}
	for nccl, changes := range map[string]int{"2.27.5": 0, "2.20.0": 1} {
		there := &machine.Held{Files: true, Dists: []machine.HeldDist{dist("torch", "2.14.1+cu126", "nvidia-nccl-cu12==2.27.5"), dist("nvidia-nccl-cu12", nccl), dist("cuda-pathfinder", "1.0")}}
		p := must(t, h, r, install(choice()), plan.Target{Dir: ".venv", Held: there})
		if got := p.Keep.Changes; len(got) != changes {
			t.Errorf("nccl %s: %v", nccl, got)
		}
	}
}

// What is not wanted any more is a change; what cannot be left out is said.
func TestLess(t *testing.T) {
	cuda := "12.6"
	h := v100()
	h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126", CUDA: &cuda}, {Name: "torchvision", Version: "0.29.1+cu126"}, {Name: "rich", Version: "15.0"}}
	there := held(dist("torch", "2.14.1+cu126", "sympy"), dist("torchvision", "0.29.1+cu126"), dist("sympy", "1.14"), dist("rich", "15.0"))
	for _, test := range []struct {
		name   string
		target plan.Target
		asked  string
		less   bool
		warned string
	}{
		{"nothing", plan.Target{}, "", false, ""},
		{"one is dropped", plan.Target{Drop: []string{"rich"}}, "", true, ""},
		{"one that is asked for", plan.Target{Drop: []string{"rich"}}, "rich", false, "`envfix remove rich` takes it out"},
		{"one that is not there", plan.Target{Drop: []string{"poor"}}, "", false, "it is not in .venv"},
		{"all but what is wanted", plan.Target{Fresh: true}, "", true, ""},
		{"all is wanted", plan.Target{Fresh: true}, "rich", false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r resolver.Request
			if test.asked != "" {
				r.Requirements = []pep508.Requirement{requirement(t, test.asked)}
			}
			test.target.Dir, test.target.Held = ".venv", there
			p := must(t, h, r, install(choice()), test.target)
			if less := len(p.Steps) > 0; less != test.less || test.warned != "" && !strings.Contains(strings.Join(p.Warnings, " "), test.warned) {
				t.Errorf("steps %v, want %v; %q", less, test.less, p.Warnings)
			}
		})
	}
}

// An environment that is activated elsewhere is not replaced: what it holds besides
// does not come along.
func TestWhatIsLeftBehind(t *testing.T) {
	h := v100()
	h.Pythons[0].Source = "venv"
	h.Installed = []machine.Package{
		{Name: "torch", Version: "2.7.1"}, {Name: "sympy", Version: "1.13.3"}, {Name: "nvidia-cudnn-cu12", Version: "9"},
		{Name: "vllm", Version: "0.10.0"}, {Name: "transformers", Version: "5.0"},
	}
	p := must(t, h, resolver.Request{}, install(choice()), plan.Target{})
	want := []string{"the new environment does not hold what the one in use does besides (vllm, transformers): name them, use `-r FILE`, or `--in-place`"}
	if diff := cmp.Diff(want, p.Warnings); diff != "" {
		t.Error(diff)
	}
}

// In place, another build of the same version satisfies the requirement, and would
// stay.
func TestAnotherBuildIsReplaced(t *testing.T) {
	h := v100()
	h.Pythons[0].Source = "venv"
	h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cpu"}, {Name: "torchvision", Version: "0.28.0+cpu"}}
	for manager, want := range map[string]string{"uv": " --reinstall-package torch ", "pip": " --force-reinstall "} {
		p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Manager: manager, InPlace: true})
		if got := commands(p)[0]; !strings.Contains(got, want) || strings.Contains(got, "package torchvision") {
			t.Errorf("%s: %s", manager, got)
		}
		aside := must(t, h, resolver.Request{}, install(choice()), plan.Target{Manager: manager})
		if got := commands(aside)[1]; strings.Contains(got, "reinstall") {
			t.Errorf("%s, aside: %s", manager, got)
		}
	}
}

// What only a vendor serves is taken as the vendor serves it.
func TestVendors(t *testing.T) {
	m := &matrix.Matrix{VendorIndexes: []matrix.VendorIndex{
		{URL: "https://vendor.example/index", Kind: "index"}, {URL: "https://vendor.example/nightly", Kind: "index (nightly)"}, {URL: "https://vendor.example/links", Kind: "find-links"},
	}}
	for kind, want := range map[string]string{
		"index":   "torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --default-index https://vendor.example/index torch torchvision",
		"nightly": "torch: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: --prerelease allow --default-index https://vendor.example/nightly torch torchvision",
		"links":   "torch: manual install the wheels of torch and torchvision for Python 3.12 from https://vendor.example/links, as the vendor's page says",
	} {
		url := "https://vendor.example/" + kind
		c := &resolver.Choice{Build: "rocm7.2", Python: "3.12", Channel: "pip", Index: &url, Packages: map[string]string{"torch": "", "torchvision": ""}}
		p, err := Plan(m, v100(), resolver.Request{}, &resolver.Resolution{Decision: resolver.UseVendorIndex, Choice: c}, plan.Target{Dir: ".venv"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, line := range commands(p) {
			found = found || line == want
		}
		if !found {
			t.Errorf("%s: %q", kind, commands(p))
		}
	}
}
