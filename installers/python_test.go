package installers

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// A fresh machine's first plan is the whole plan where the data knows which Python
// the distribution brings; else it begins, and says so.
func TestFreshMachine(t *testing.T) {
	debian := []matrix.Distribution{{IDs: []string{"debian"}, Versions: []string{"12"}, Manager: "apt-get", Python: "3.11", Program: "/usr/bin/python3", Packages: []string{"python3", "python3-venv"}}}
	newest := []*matrix.Release{{Builds: []*matrix.Build{{PythonMin: version.MustPython("3.10"), PythonMax: version.MustPython("3.14")}}}}
	bare := func(distro, v string) machine.Machine {
		return machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Distro: distro, DistroVersion: v}, Tools: []machine.Tool{{Name: "apt-get", Path: "/usr/bin/apt-get"}}}
	}
	choice := choice()
	choice.Python = "3.11"
	for _, test := range []struct {
		name    string
		machine machine.Machine
		partial bool
		first   []string
	}{
		{"known", bare("debian", "12"), false, []string{"lists", "python", "tools", "uv", "venv", "torch", "check", "verify", "switch"}},
		{"its point release", bare("debian", "12.4"), false, []string{"lists", "python", "tools", "uv", "venv", "torch", "check", "verify", "switch"}},
		{"unknown", bare("debian", "14"), true, []string{"lists", "python"}},
		{"another number that begins alike", bare("debian", "122"), true, []string{"lists", "python"}},
	} {
		m := &matrix.Matrix{Distributions: debian, Releases: newest}
		p, err := Plan(m, WithDistributionPython(m, test.machine, plan.Target{}), resolver.Request{}, install(choice), plan.Target{Dir: ".venv"})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range p.Steps {
			ids = append(ids, s.ID)
		}
		if !slices.Equal(ids, test.first) || p.Partial != test.partial {
			t.Errorf("%s: steps %v, partial %v", test.name, ids, p.Partial)
		}
	}
}

// Debian keeps what makes environments in a package apart: it is installed where
// it is missing, and only there.
func TestPythonWithoutEnsurepip(t *testing.T) {
	h := v100()
	h.Tools = []machine.Tool{{Name: "apt-get", Path: "/usr/bin/apt-get"}}
	h.Pythons[0].NoEnsurepip = true
	for _, manager := range []string{"", "pip"} {
		p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Manager: manager})
		if got := commands(p)[1]; got != "python: root /usr/bin/apt-get install -y --no-install-recommends python3.12-venv" {
			t.Errorf("%s: %s", manager, got)
		}
	}
	h.Pythons = append(h.Pythons, machine.Python{Version: "3.13.1", Path: "/opt/python/bin/python3", Source: "system"})
	if p := must(t, h, resolver.Request{}, install(choice()), plan.Target{}); p.Steps[0].ID != "tools" || p.Steps[0].Run.Argv[0] != "/opt/python/bin/python3" {
		t.Errorf("another Python here needs nothing: %v", commands(p))
	}
}

// The directories that the user gave the installers for their caches are kept.
func TestCaches(t *testing.T) {
	h := v100()
	h.Env = map[string]string{"UV_CACHE_DIR": "/scratch/uv", "PIP_CACHE_DIR": "/scratch/pip", "UV_PYTHON_INSTALL_DIR": "relative"}
	for _, s := range must(t, h, resolver.Request{}, install(choice()), plan.Target{}).Steps {
		if s.Run != nil && (s.Run.Env["UV_CACHE_DIR"] != "/scratch/uv" || s.Run.Env["UV_PYTHON_INSTALL_DIR"] != "") {
			t.Errorf("%s: %v", s.ID, s.Run.Env)
		}
	}
	steps := must(t, h, resolver.Request{}, install(choice()), plan.Target{Manager: "pip"}).Steps
	if argv := strings.Join(steps[1].Run.Argv, " "); !strings.Contains(argv, "--cache-dir /scratch/pip") {
		t.Error(argv)
	}
	l := LockedProfile{Profile: &lock.Profile{Name: "gpu", Torch: "2.14.1", Build: "cu126", Python: "3.12", Match: lock.Match{OS: "linux"}},
		Packages: &lock.Packages{Packages: []lock.Package{{Name: "torch", Version: "2.14.1"}}}}
	p, err := Locked(&matrix.Matrix{}, h, resolver.Request{}, l, plan.Target{Dir: ".venv", Manager: "pip"})
	if err != nil || !slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Run != nil && slices.Contains(s.Run.Argv, "/scratch/pip") }) {
		t.Errorf("%v: %q", err, commands(p))
	}
}

// TestInterpreterOfTheEnvironment: an environment is built anew with the release of
// Python that it has: what it holds may not be for an older one.
func TestInterpreterOfTheEnvironment(t *testing.T) {
	h := v100()
	h.Pythons = []machine.Python{
		{Version: "3.12.9", Path: "/home/u/p/.venv/bin/python3", Active: true, Source: "venv"},
		{Version: "3.12.4", Path: "/usr/bin/python3", Source: "system"},
		{Version: "3.12.9", Path: "/home/u/.pyenv/versions/3.12.9/bin/python3", Source: "pyenv"},
	}
	p := must(t, h, resolver.Request{}, install(choice()), plan.Target{})
	if got := commands(p)[0]; !strings.Contains(got, "versions/3.12.9/bin/python3") {
		t.Error(got)
	}
}

// Without a uv, a Python and root, envfix takes uv out of its wheel; uv brings a Python, or
// the distribution's is unpacked beside.
func TestFromNothing(t *testing.T) {
	debian := []matrix.Distribution{{IDs: []string{"debian"}, Versions: []string{"12"}, Manager: "apt-get", Program: "/usr/bin/python3", Python: "3.11"}}
	m := &matrix.Matrix{Distributions: debian, Releases: []*matrix.Release{{Builds: []*matrix.Build{{PythonMin: version.MustPython("3.10"), PythonMax: version.MustPython("3.14")}}}}}
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Distro: "debian", DistroVersion: "12"}, Tools: []machine.Tool{{Name: "apt-get", Path: "/usr/bin/apt-get"}}}
	for _, test := range []struct {
		target plan.Target
		python string
		want   []string
	}{
		{plan.Target{Bring: "https://index.example/simple"}, "3.13", []string{
			"uv: {envfix} __bring --default-index https://index.example/simple uv {tools}/uv",
			"python: {tools}/uv/bin/uv python install 3.13",
			"venv: {tools}/uv/bin/uv venv --no-project --python 3.13 {gen}"}},
		{plan.Target{Bring: "https://index.example/simple", Unpack: true}, "3.11", []string{
			"uv: {envfix} __bring --default-index https://index.example/simple uv {tools}/uv",
			"python: {envfix} __bring python {tools}/python",
			"venv: {tools}/uv/bin/uv venv --no-project --python {tools}/python/usr/bin/python3 {gen}"}},
	} {
		choice := choice()
		choice.Python = test.python
		test.target.Dir = ".venv"
		p, err := Plan(m, WithDistributionPython(m, h, test.target), resolver.Request{}, install(choice), test.target)
		if err != nil {
			t.Fatal(err)
		}
		if got := commands(p)[:3]; !slices.Equal(got, test.want) {
			t.Errorf("got %q\nwant %q", got, test.want)
		}
	}
}
