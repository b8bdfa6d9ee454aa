package apply

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

func TestApplyIntoNothing(t *testing.T) {
	b := newBench(t)
	p := b.plan("2.14.1+cu126")
	r := b.mustApply(p)
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch: got %q", got)
	}
	if to, err := os.Readlink(filepath.Join(b.dir, ".venv")); err != nil || to != ".envfix/gens/"+r.Generation {
		t.Errorf(".venv → %q, %v; want the generation %q", to, err, r.Generation)
	}
	for _, line := range []string{"step 1 of 4: make the environment", "step 4 of 4: switch .venv", "not proven: nothing was computed on a GPU: none is usable here"} {
		if !strings.Contains(b.out.String(), line) {
			t.Errorf("the output lacks %q:\n%s", line, b.out.String())
		}
	}
	if r := b.mustApply(p); !r.Nothing {
		t.Errorf("a second apply did something: %+v", r)
	}
}

// A plan's steps that fail leave the old environment, and no rubbish.
func TestFailureKeepsTheOld(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*plan.Plan)
		kind  int
	}{
		{"an installer fails", func(p *plan.Plan) { p.Steps[1].Run.Argv = []string{"cp", "/nonexistent", "{gen}"} }, fail.Failed},
		{"an installer is missing", func(p *plan.Plan) { p.Steps[1].Run.Argv = []string{"no-such-installer"} }, fail.Failed},
		{"it does not import", func(p *plan.Plan) { p.Steps[2].Verify.Imports = []string{"torch", "torchvision"} }, fail.Verify},
		{"another torch came", func(p *plan.Plan) { p.Steps[2].Verify.Torch = "2.14.1+cpu" }, fail.Verify},
		{"other code came", func(p *plan.Plan) { p.Steps[2].Verify.Arches = []string{"sm_90"} }, fail.Verify},
		{"a GPU does not compute", func(p *plan.Plan) { p.Steps[2].Verify.GPUs = 1 }, fail.Verify},
		{"no environment was made", func(p *plan.Plan) {
			p.Steps = slices.Delete(p.Steps, 0, 2)
			p.Steps[0] = plan.Step{ID: "verify", Run: &plan.Run{Argv: []string{"true"}}}
		}, fail.Usage},
		{"the disk is too small", func(p *plan.Plan) { p.Steps[1].Disk = 1 << 60 }, fail.Preflight},
	}
	shared := newBench(t)
	shared.mustApply(shared.plan("2.13.0+cu126"))
	before := shared.tree(".envfix/gens")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &bench{T: t, dir: shared.dir, python: shared.python, site: shared.site}
			_, err := b.apply(context.Background(), b.plan("2.14.1+cu126", tt.spoil))
			if err == nil {
				t.Fatalf("it worked:\n%s", b.out.String())
			}
			b.wantKind(err, tt.kind)
			if got := b.torch(); got != "2.13.0+cu126" {
				t.Errorf("torch: got %q, want the old one", got)
			}
			if diff := cmp.Diff(before, b.tree(".envfix/gens")); diff != "" {
				t.Errorf("generations (-before +after):\n%s", diff)
			}
		})
	}
}

// A real directory that was there becomes a generation by one exchange, and a
// rollback puts the very same back.
func TestAdoptAndRollBack(t *testing.T) {
	b := newBench(t)
	if out, err := exec.Command(b.python, "-I", "-m", "venv", "--without-pip", filepath.Join(b.dir, ".venv")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mine := b.tree(".venv")
	r := b.mustApply(b.plan("2.14.1+cu126"))
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Fatalf("torch: got %q", got)
	}
	e := b.open()
	g, err := e.Rollback("")
	if err != nil {
		t.Fatal(err)
	}
	if !g.Adopted {
		t.Errorf("went back to %+v, want what was there before", g)
	}
	if diff := cmp.Diff(mine, b.tree(".venv")); diff != "" {
		t.Errorf("the adopted environment came back changed (-before +after):\n%s", diff)
	}
	if _, err := e.Rollback(r.Generation); err != nil {
		t.Fatal(err)
	}
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch after going forth again: got %q", got)
	}
	h, err := e.History()
	if err != nil {
		t.Fatal(err)
	}
	var what []string
	for _, ev := range h.Events {
		what = append(what, ev.What+" "+ev.State)
	}
	if diff := cmp.Diff([]string{"apply done", "rollback done", "rollback done"}, what); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// A link of the user's own is written down and comes back.
func TestAdoptAForeignLink(t *testing.T) {
	b := newBench(t)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(b.dir, ".venv")); err != nil {
		t.Fatal(err)
	}
	b.mustApply(b.plan("2.14.1+cu126"))
	if _, err := b.open().Rollback(""); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(filepath.Join(b.dir, ".venv")); err != nil || to != elsewhere {
		t.Errorf(".venv → %q, %v; want %q", to, err, elsewhere)
	}
}

func TestRollbackWalksBack(t *testing.T) {
	b := newBench(t)
	for _, v := range []string{"2.12.0+cu126", "2.13.0+cu126"} {
		b.mustApply(b.plan(v))
	}
	e := b.open()
	if _, err := e.Rollback(""); err != nil {
		t.Fatal(err)
	}
	if got := b.torch(); got != "2.12.0+cu126" {
		t.Errorf("torch: got %q", got)
	}
	_, err := e.Rollback("")
	b.wantKind(err, fail.Failed)
	_, err = e.Rollback("../../etc")
	b.wantKind(err, fail.Usage)
}

// A rollback goes to what was in use before, whatever was built in between.
func TestRollbackToWhatWasInUse(t *testing.T) {
	b := newBench(t)
	for _, v := range []string{"2.11.0+cu126", "2.12.0+cu126"} {
		b.mustApply(b.plan(v))
	}
	e := b.open()
	back := func(want string) {
		t.Helper()
		if _, err := e.Rollback(""); err != nil {
			t.Fatal(err)
		}
		if got := b.torch(); got != want {
			t.Errorf("torch: got %q, want %q", got, want)
		}
	}
	back("2.11.0+cu126")
	b.mustApply(b.plan("2.13.0+cu126")) // 2.12 goes: it was given up
	back("2.11.0+cu126")
}

// An environment that a script of `plan --sh` made lies among ours and has no record: it is
// somebody's, in use by whichever link, and gone back to like every other.
func TestEnvironmentOfAScript(t *testing.T) {
	for name, link := range map[string]func(b *bench) string{
		"by its whole path": func(b *bench) string { return filepath.Join(b.dir, genPath("20261126")) },
		"from beside":       func(*bench) string { return genPath("20261126") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			made := b.mustApply(b.plan("2.12.0+cu126"))
			at := func(name string) string { return filepath.Join(b.dir, name) }
			err := errors.Join(os.Rename(at(genPath(made.Generation)), at(genPath("20261126"))), os.Remove(at(markerPath(made.Generation))), os.RemoveAll(at(journalName)),
				os.Remove(at(".venv")), os.Symlink(link(b), at(".venv")), os.Mkdir(at(genPath("garbage")), 0o755),
				os.Mkdir(at(genPath("others")), 0o755), os.Symlink(at(genPath("others")), at("other")))
			if err != nil {
				t.Fatal(err)
			}
			b.mustApply(b.plan("2.13.0+cu126"))
			if _, err := b.open().Abandon(); err != nil { // begins as every change does
				t.Fatal(err)
			}
			for dir, stays := range map[string]bool{"20261126": true, "others": true, "garbage": false} {
				if _, err := os.Stat(at(genPath(dir))); stays == gone(err) {
					t.Errorf("%s: %v", dir, err)
				}
			}
			g, err := b.open().Rollback("")
			if err != nil || g.ID != "20261126" || b.torch() != "2.12.0+cu126" {
				t.Errorf("back to %+v, torch %s: %v", g, b.torch(), err)
			}
		})
	}
}

func TestStalePlan(t *testing.T) {
	b := newBench(t)
	was := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Driver: &machine.Driver{}}
	if err := was.Driver.Version.UnmarshalText([]byte("550.54.14")); err != nil {
		t.Fatal(err)
	}
	is := was
	is.Driver = &machine.Driver{}
	if err := is.Driver.Version.UnmarshalText([]byte("570.26")); err != nil {
		t.Fatal(err)
	}
	is.Installed = []machine.Package{{Name: "numpy", Version: "2.1.0"}}
	p := b.plan("2.14.1+cu126", func(p *plan.Plan) {
		p.Basis.Facts = was
		p.Target.InPlace = true
		p.Steps = p.Steps[:3]
	})
	facts := func(h machine.Machine) Options {
		return Options{Out: &b.out, Facts: func(context.Context) (machine.Machine, error) { return h, nil }}
	}
	_, err := b.open().Apply(context.Background(), p, facts(is))
	b.wantKind(err, fail.Stale)
	var e *fail.Error
	errors.As(err, &e)
	if diff := cmp.Diff([]string{"driver 550.54.14 → 570.26", "package numpy none → 2.1.0"}, e.Details); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if b.torch() != "" {
		t.Error("a stale plan was carried out")
	}
	if _, err := b.open().Apply(context.Background(), p, facts(was)); err != nil {
		t.Errorf("with the facts of the plan: %v", err)
	}
}

// A generation that cannot be removed (root's files after a `sudo pip`) is named and
// left: it neither fails the apply whose environment is in use already, nor any later
// one.
func TestUndeletableGeneration(t *testing.T) {
	b := newBench(t)
	old := b.mustApply(b.plan("2.10.0+cu126")).Generation
	stuck := filepath.Join(b.dir, genPath(old), "lib")
	undeletable(t, stuck)
	b.mustApply(b.plan("2.11.0+cu126"))
	for _, v := range []string{"2.12.0+cu126", "2.13.0+cu126"} {
		b.out.Reset()
		b.mustApply(b.plan(v))
		if got := b.torch(); got != v {
			t.Errorf("torch: got %q, want %q", got, v)
		}
		if want := "the environment " + old + " cannot be removed: "; !strings.Contains(b.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, b.out.String())
		}
	}
	h, err := b.open().History()
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range h.Events {
		if ev.State != "done" {
			t.Errorf("history: %+v", ev)
		}
	}
}

// undeletable keeps what is in a directory from being removed until the test ends.
func undeletable(t *testing.T, dir string) {
	t.Helper()
	flag := func(on string) error {
		out, err := exec.Command("chattr", on+"i", dir).CombinedOutput() // also root may not then
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	if err := flag("+"); err != nil {
		t.Skipf("nothing can be made undeletable here: %v", err)
	}
	t.Cleanup(func() {
		if err := flag("-"); err != nil {
			t.Error(err)
		}
	})
}

// Generations beyond the one before the current go, but none that a process still
// uses: as its program, as a library, as where it is.
func TestCollect(t *testing.T) {
	b := newBench(t)
	var gens []string
	next := func() {
		t.Helper()
		gens = append(gens, b.mustApply(b.plan(fmt.Sprintf("2.%d.0+cu126", 10+len(gens)))).Generation)
	}
	left := func(what string, want ...string) {
		t.Helper()
		all, err := b.open().generations()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, g := range all {
			ids = append(ids, g.ID)
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	var users []*exec.Cmd
	use := func(dir string, argv ...string) {
		t.Helper()
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = dir
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		users = append(users, c)
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("a process said %q, %v", line, err)
		}
	}
	gen := func(n int) string { return filepath.Join(b.dir, gensDir, gens[n]) }
	const wait = "; print('ready', flush=True); import time; time.sleep(600)"
	next()
	use("/", gen(0)+"/bin/python", "-I", "-c", "import torch"+wait)
	next()
	use("/", b.python, "-I", "-c", "import mmap; f = open('"+gen(1)+"/pyvenv.cfg', 'rb'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ); f.close()"+wait)
	next()
	use(gen(2), b.python, "-I", "-c", "0"+wait)
	next()
	next()
	next()
	left("with a user of each of the first three", gens[0], gens[1], gens[2], gens[4], gens[5])
	if !strings.Contains(b.out.String(), fmt.Sprintf("kept the environment %s: process %d uses it", gens[0], users[0].Process.Pid)) {
		t.Errorf("output:\n%s", b.out.String())
	}
	for _, c := range users {
		c.Process.Kill()
		c.Wait()
	}
	next()
	left("without users", gens[5], gens[6])
}

func TestInPlace(t *testing.T) {
	b := newBench(t)
	p := b.plan("2.14.1+cu126", func(p *plan.Plan) {
		p.Target.InPlace = true
		p.Steps = p.Steps[:3]
	})
	b.mustApply(p)
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch: got %q", got)
	}
	if info, err := os.Lstat(filepath.Join(b.dir, ".venv")); err != nil || !info.IsDir() {
		t.Errorf(".venv is not a real directory: %v, %v", info, err)
	}
}
