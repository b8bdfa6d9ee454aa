//go:build failpoints

package apply

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"envfix/internal/testindex"
)

// How many packages of how many files a killed installation is about.
const (
	killPackages = 6
	killFiles    = 120
)

// killWheels are torch and packages that say which version each of their files
// is of, so that a mixture is seen.
func killWheels(version string) []testindex.Wheel {
	torch := testindex.Torch(version, "12.6", "sm_75", "sm_80")
	out := []testindex.Wheel{torch}
	for p := range killPackages {
		name := fmt.Sprintf("pkg%d", p)
		files := map[string]string{name + "/__init__.py": ""}
		for f := range killFiles {
			files[fmt.Sprintf("%s/m%03d.py", name, f)] = fmt.Sprintf("V = %q\n", version)
		}
		torch.Requires = append(torch.Requires, name+"=="+strings.Split(version, "+")[0])
		out = append(out, testindex.Wheel{Name: name, Version: strings.Split(version, "+")[0], Files: files})
	}
	out[0] = torch
	return out
}

// whole imports every module and prints the versions that it found, once each.
const whole = `
import importlib, torch
seen = {torch.__version__.split("+")[0]}
for p in range(%d):
    for f in range(%d):
        seen.add(importlib.import_module("pkg%%d.m%%03d" %% (p, f)).V.split("+")[0])
print(" ".join(sorted(seen)))
`

// versions returns what is installed in an environment: one version, several
// (a mixture), or "" where something does not import.
func versions(venv string) string {
	out, err := exec.Command(filepath.Join(venv, "bin/python"), "-I", "-B", "-c", fmt.Sprintf(whole, killPackages, killFiles)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// A killer ends commands at random moments of the time that they take.
type killer struct {
	*bench
	random *rand.Rand
}

// kill starts c and kills it somewhere in its last three quarters; whole is how
// long it takes undisturbed.
func (k killer) kill(c *exec.Cmd, whole time.Duration) {
	k.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		k.Fatal(err)
	}
	time.Sleep(time.Duration(float64(whole) * (0.25 + 0.75*k.random.Float64())))
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may be done
	_ = c.Wait()
}

// time runs a command twice, each time made anew, and returns how long the second
// took: the first fills caches.
func (k killer) time(c func() *exec.Cmd) (took time.Duration) {
	k.Helper()
	for range 2 {
		cmd := c()
		start := time.Now()
		if text, err := cmd.CombinedOutput(); err != nil {
			k.Fatalf("%v\n%s", err, text)
		}
		took = time.Since(start)
	}
	return took
}

// tally is a row of the table.
type tally struct{ kills, old, new, torn, recovered int }

func (t *tally) add(got, again string) {
	t.kills++
	switch got {
	case "2.13.0":
		t.old++
	case "2.14.1":
		t.new++
	default:
		t.torn++
	}
	if again == "2.14.1" {
		t.recovered++
	}
}

// commandOf is how people call the tool to install packages.
var commandOf = map[string]string{"pip": "pip", "uv": "uv pip"}

var plainKills = flag.Int("plain", 100, "at most so many random kills of each installer alone")

func (t tally) print(what string) {
	fmt.Printf("%-28s %5d %5d %5d %5d %9d\n", what, t.kills, t.old, t.new, t.torn, t.recovered)
}

// TestRandomKills kills real installations, by envfix and without it.
func TestRandomKills(t *testing.T) {
	x := testindex.Serve(t, append(killWheels("2.13.0+cu126"), killWheels("2.14.1+cu126")...)...)
	fmt.Printf("%-28s %5s %5s %5s %5s %9s\n", "kill -9 during", "kills", "old", "new", "torn", "recovered")
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			k := killer{newBench(t), rand.New(rand.NewSource(*seed))}
			ours := k.envfix(tool, x, *kills/2)
			ours.print("envfix apply, " + tool)
			if n := min(*kills/2, *plainKills); n > 0 {
				k.plain(tool, x, n).print(commandOf[tool] + " install --upgrade")
			}
			if ours.torn > 0 || ours.recovered < ours.kills {
				t.Errorf("%d torn, %d of %d recovered", ours.torn, ours.recovered, ours.kills)
			}
		})
	}
}

// envfix kills `envfix apply` of a second environment n times.
func (k killer) envfix(tool string, x *testindex.Index, n int) (out tally) {
	k.Helper()
	first := newBenchAt(k.T, k.python, k.site)
	first.mustApply(first.real(tool, x, "torch==2.13.0"))
	p := k.real(tool, x, "torch==2.14.1")
	s := story{name: "kill", template: first.dir, plan: k.saved(p)}
	took := k.time(func() *exec.Cmd { return s.command(s.copy(k.bench)) })
	for range n {
		dir := s.copy(k.bench)
		k.kill(s.command(dir), took)
		got := versions(dir + "/.venv")
		text, err := s.command(dir).CombinedOutput()
		again := versions(dir + "/.venv")
		if err != nil || again != "2.14.1" {
			k.Logf("running again: %v, %q\n%s", err, again, text)
		}
		out.add(got, again)
		os.RemoveAll(dir)
	}
	return out
}

// plain kills the installer's own upgrade of an environment n times.
func (k killer) plain(tool string, x *testindex.Index, n int) (out tally) {
	k.Helper()
	install := func(venv, version string) *exec.Cmd {
		p := k.real(tool, x, "torch=="+version, "--upgrade")
		var argv []string
		for _, a := range p.Steps[1].Run.Argv {
			argv = append(argv, strings.ReplaceAll(a, "{gen}", venv))
		}
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = []string{"HOME=" + k.TempDir(), "PATH=/usr/bin:/bin", "PIP_CONFIG_FILE=/dev/null", "UV_NO_CONFIG=1"}
		for name, v := range p.Steps[1].Run.Env {
			c.Env = append(c.Env, name+"="+v)
		}
		return c
	}
	template := filepath.Join(k.TempDir(), "venv")
	run := func(c *exec.Cmd) {
		if text, err := c.CombinedOutput(); err != nil {
			k.Fatalf("%v\n%s", err, text)
		}
	}
	run(exec.Command(k.python, "-I", "-m", "venv", "--without-pip", template))
	run(install(template, "2.13.0"))
	fresh := func() string {
		venv := filepath.Join(k.TempDir(), "venv")
		run(exec.Command("cp", "-a", template, venv))
		return venv
	}
	took := k.time(func() *exec.Cmd { return install(fresh(), "2.14.1") })
	for range n {
		venv := fresh()
		k.kill(install(venv, "2.14.1"), took)
		got := versions(venv)
		_ = install(venv, "2.14.1").Run() // whether it helped is what is counted
		out.add(got, versions(venv))
		os.RemoveAll(venv)
	}
	return out
}
