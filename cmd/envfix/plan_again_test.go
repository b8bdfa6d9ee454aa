package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/plan"
	"envfix/internal/ui"
)

// The command that a plan names as the next one is run as it stands, but for its verb:
// it makes the very plan that was shown.
func TestNextCommand(t *testing.T) {
	envfix := build(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"wish list.txt": "torch==2.14.1\nnumpy\n", "project/requirements.txt": "torch<2.15\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeText(t, path, text)
	}
	run := func(argv ...string) string {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "PATH="+filepath.Dir(envfix)+":"+os.Getenv("PATH"), "ENVFIX_NVML=off", "COLUMNS=80")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
		return string(out)
	}
	id := func(text string) string {
		var p struct{ ID string }
		if err := json.Unmarshal([]byte(text), &p); err != nil || p.ID == "" {
			t.Fatalf("%v\n%s", err, text)
		}
		return p.ID
	}
	for _, args := range [][]string{
		{},
		{"project"},
		{"./project"},
		{"-r", "wish list.txt"},
		{"--requirements=wish list.txt", "-v"},
		{"torch==2.14.*", "numpy>=2", "--env", "an other"},
		{"-v", "torch", "--python", "3.12", "--manager", "pip", "--fresh", "--only-index", "default", "--env", "dir/somewhere/far/away"},
		{"--out", "p.json", "torch==2.14.1"},
	} {
		if args = slices.Clone(args); len(args) == 1 && args[0] == "project" { // a bare word is a package
			args[0] = "project/"
		}
		text := run(append([]string{envfix, "plan"}, args...)...)
		next := nextCommand(text)
		if slices.Contains(args, "--out") {
			if next != "envfix apply p.json" {
				t.Errorf("%q: %s", args, next)
			}
			continue
		}
		again, yes := strings.CutPrefix(next, "envfix apply")
		if !yes {
			t.Errorf("%q names no command:\n%s", args, text)
			continue
		}
		want := id(run(append([]string{envfix, "plan", "--json"}, args...)...))
		if got := id(run("sh", "-c", "envfix plan --json"+again)); got != want {
			t.Errorf("%q: `%s` makes another plan", args, next)
		}
	}
}

// On the machine that was described the command does not describe it.
func TestNextElsewhere(t *testing.T) {
	out, err := exec.Command(build(t), "plan", "torch==2.9.1", "--gpu", "RTX 5090", "--driver=570.124.06", "--libc", "glibc-2.39", "--arch", "x86_64", "--os", "linux", "--python", "3.12").Output()
	if got := nextCommand(string(out)); err != nil || got != "envfix apply torch==2.9.1 --python 3.12" {
		t.Errorf("%q %v\n%s", got, err, out)
	}
}

// Where only another driver helps, the next command is for the described machine, and
// carried out it has steps.
func TestNextDriver(t *testing.T) {
	envfix, dir := build(t), t.TempDir()
	run := func(command string) string {
		c := exec.Command("sh", "-c", command)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+filepath.Dir(envfix)+":"+os.Getenv("PATH"), "ENVFIX_NVML=off", "COLUMNS=80")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", command, err, out)
		}
		return string(out)
	}
	const asked = "envfix plan --gpu 'RTX 5090' --driver 470.256.02 --os linux --arch x86_64 --libc glibc-2.35 --python 3.12"
	for _, command := range []string{asked, asked + " --out p.json"} {
		next := nextCommand(run(command))
		if !strings.HasSuffix(next, "--change-driver") || !strings.Contains(run(next), "\nsteps ") && !strings.Contains(run(next+" --json"), `"id": "reboot"`) {
			t.Errorf("%s: %s", command, next)
		}
	}
}

// The command that a plan names agrees to what is built, and asks for what the sources
// import: it is carried out whole. A plan in a file is what it is, and needs the consent alone.
func TestNextWhole(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{ID: "torch"}}, Target: plan.Target{Lacks: true, Build: []string{"docopt==0.6.2"}, Places: []string{"lib @ git+https://host.example/lib ; extra"}}}
	const agrees = " --allow-build docopt==0.6.2 --allow-build git+https://host.example/lib"
	for args, want := range map[string]string{
		".":                         ". --closure" + agrees,
		". --out p.json":            "p.json" + agrees,
		". --out p.json --kernel k": "p.json" + agrees + " --kernel k",
	} {
		if got := strings.Join(nextArgs(strings.Fields(args), p), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	if text := ui.Next(&plan.Plan{Steps: p.Steps}, nextArgs([]string{}, &plan.Plan{Steps: p.Steps}), ui.Style{Width: 80}); !strings.Contains(text, "`envfix apply` shows this") {
		t.Errorf("nothing was asked for, and that is said:\n%s", text)
	}
	if got := nextArgs(nil, p); got != nil {
		t.Errorf("%q", got)
	}
	text := ui.Next(p, nextArgs([]string{"."}, p), ui.Style{Width: 200})
	for _, want := range []string{"with what its sources import besides", "what it builds runs code of its own"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// nextCommand is the command that follows "next" in a plan's text, in one line or in
// several that a shell reads as one; "" none.
func nextCommand(text string) string {
	_, after, _ := strings.Cut(text, "\nnext ")
	line, rest, _ := strings.Cut(after, "\n")
	if _, quoted, yes := strings.Cut(line, "`"); yes {
		command, _, _ := strings.Cut(quoted, "`")
		return command
	}
	var words []string
	for line := range strings.Lines(rest) {
		text, goes := strings.CutSuffix(strings.TrimSpace(line), " \\")
		words = append(words, text)
		if !goes {
			break
		}
	}
	return strings.Join(words, " ")
}

// A credential among the arguments is not printed again.
func TestNextHidesCredentials(t *testing.T) {
	if got := sameWish([]string{"envfix", "plan", "--mirror", "default=https://me:hunter2@mirror.example/simple"}); got != nil {
		t.Errorf("%q", got)
	}
	if got := sameWish([]string{"envfix", "-v", "plan", "."}); !slices.Equal(got, []string{"."}) {
		t.Errorf("%q", got)
	}
}

// After the first part of a plan, the command for the rest asks for the same: run as a
// dry run it makes the plan that was begun.
func TestRestOf(t *testing.T) {
	envfix := build(t)
	dir := t.TempDir()
	for _, args := range [][]string{
		{},
		{"torch==2.14.*", "numpy>=2; python_version>'3.8'", "--env", "an other", "--jit"},
		{"--python", "3.13", "--manager", "uv", "--cpu"},
		{"torch", "--build", "cpu", "--as-named", "numpyy", "numpyy"},
	} {
		run := func(argv ...string) *plan.Plan {
			c := exec.Command(argv[0], argv[1:]...)
			c.Dir = dir
			c.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "PATH="+filepath.Dir(envfix)+":"+os.Getenv("PATH"), "ENVFIX_NVML=off")
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%q: %v\n%s", argv, err, out)
			}
			p, err := plan.Decode(out)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := run(append([]string{envfix, "plan", "--json"}, args...)...)
		command := restOf(p)
		if !strings.HasPrefix(command, "`envfix apply") {
			t.Fatal(command)
		}
		again := strings.Replace(strings.Trim(command, "`"), "apply", "plan --json", 1)
		if q := run("sh", "-c", again); q.ID != p.ID {
			t.Errorf("%q: %s makes another plan", args, again)
		}
	}
}
