package apply

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/testindex"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// A bench is a project directory and what plans of the tests are made of: a real
// Python, whose environments take 60 ms, and torch's stand-in.
type bench struct {
	*testing.T
	dir    string // the project
	python string
	site   string // lib/python3.11/site-packages
	out    strings.Builder
	how    Options // Retries 0 means none here
}

var findPython = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-I", "-c", "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])").Output()
	return strings.TrimSpace(string(out)), err
})

// emptyVenv is an environment that plans copy, removed by TestMain: making one
// takes 150 ms of a processor.
var emptyVenv = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "envfix-test-venv-")
	if err != nil {
		return "", err
	}
	found, err := findPython()
	if err != nil {
		return "", err
	}
	python, _, _ := strings.Cut(found, " ")
	out, err := exec.Command(python, "-I", "-m", "venv", "--without-pip", filepath.Join(dir, "venv")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return filepath.Join(dir, "venv"), nil
})

func newBench(t *testing.T) *bench {
	t.Helper()
	found, err := findPython()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	python, version, _ := strings.Cut(found, " ")
	return &bench{T: t, dir: t.TempDir(), python: python, site: "lib/python" + version + "/site-packages"}
}

// unpacked writes a wheel's files into a new directory, as an installer would.
func (b *bench) unpacked(w testindex.Wheel) string {
	b.Helper()
	dir := b.TempDir()
	info := "torch-" + w.Version + ".dist-info"
	files := map[string]string{info + "/METADATA": w.Metadata(), info + "/RECORD": w.SHA256() + "\n"}
	for name, text := range w.Files {
		files[name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// plan makes a plan that installs torch's stand-in of this version.
func (b *bench) plan(version string, change ...func(*plan.Plan)) *plan.Plan {
	b.Helper()
	empty, err := emptyVenv()
	if err != nil {
		b.Fatal(err)
	}
	src := b.unpacked(testindex.Torch(version, "12.6", "sm_75", "sm_80"))
	p := &plan.Plan{Decision: resolver.Install, Torch: strings.Split(version, "+")[0], Build: "cu126", Target: plan.Target{Dir: ".venv", Manager: "pip"},
		Steps: []plan.Step{
			{ID: "venv", Title: "make the environment", Run: &plan.Run{Argv: []string{"cp", "-a", empty, "{gen}"}}},
			{ID: "torch", Title: "install torch " + version, Run: &plan.Run{Argv: []string{"cp", "-r", src + "/.", "{gen}/" + b.site}}},
			{ID: "verify", Title: "verify", Verify: &plan.Verify{Torch: version, CUDA: "12.6", CuDNN: "9.10.2.21", Arches: []string{"sm_80", "sm_75"}, Imports: []string{"torch"}}},
			{ID: "switch", Title: "switch .venv", Switch: &plan.Switch{Dir: ".venv"}},
		}}
	for _, c := range change {
		c(p)
	}
	if err := plan.Seal(p); err != nil {
		b.Fatal(err)
	}
	return p
}

func (b *bench) open() *Env {
	b.Helper()
	e, err := Open(filepath.Join(b.dir, ".venv"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	return e
}

// apply carries p out as `envfix apply` would.
func (b *bench) apply(ctx context.Context, p *plan.Plan) (Result, error) {
	b.Helper()
	b.out.Reset()
	how := b.how
	how.Out, how.Wait = &b.out, func(context.Context, time.Duration) error { return nil }
	if how.Retries == 0 {
		how.Retries = -1
	}
	return b.open().Apply(ctx, p, how)
}

func (b *bench) mustApply(p *plan.Plan) Result {
	b.Helper()
	r, err := b.apply(context.Background(), p)
	if err != nil {
		b.Fatalf("%v\n%+v\n%s", err, err, b.out.String())
	}
	return r
}

// torch asks the environment for its torch; "" where nothing imports.
func (b *bench) torch() string {
	b.Helper()
	out, err := exec.Command(filepath.Join(b.dir, ".venv/bin/python"), "-I", "-c", "import torch; print(torch.__version__)").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// kind returns an error's kind and fails where it is none of ours.
func kind(t *testing.T, err error) Kind {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want an *apply.Error", err, err)
	}
	return e.Kind
}

func (b *bench) wantKind(err error, want Kind) {
	b.Helper()
	if got := kind(b.T, err); got != want {
		b.Errorf("kind of %q: got %d, want %d", err, got, want)
	}
}

// tree lists what is in the project, links with their targets.
func (b *bench) tree(below string) []string {
	b.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(b.dir, below), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(b.dir, path)
		if to, isLink := os.Readlink(path); isLink == nil {
			name += " → " + to
		}
		out = append(out, name)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

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
		kind  Kind
	}{
		{"an installer fails", func(p *plan.Plan) { p.Steps[1].Run.Argv = []string{"cp", "/nonexistent", "{gen}"} }, Failed},
		{"an installer is missing", func(p *plan.Plan) { p.Steps[1].Run.Argv = []string{"no-such-installer"} }, Failed},
		{"it does not import", func(p *plan.Plan) { p.Steps[2].Verify.Imports = []string{"torch", "torchvision"} }, Verification},
		{"another torch came", func(p *plan.Plan) { p.Steps[2].Verify.Torch = "2.14.1+cpu" }, Verification},
		{"other code came", func(p *plan.Plan) { p.Steps[2].Verify.Arches = []string{"sm_90"} }, Verification},
		{"a GPU does not compute", func(p *plan.Plan) { p.Steps[2].Verify.GPUs = 1 }, Verification},
		{"no environment was made", func(p *plan.Plan) {
			p.Steps = slices.Delete(p.Steps, 0, 2)
			p.Steps[0] = plan.Step{ID: "verify", Run: &plan.Run{Argv: []string{"true"}}}
		}, BadPlan},
		{"the disk is too small", func(p *plan.Plan) { p.Steps[1].Disk = 1 << 60 }, Preflight},
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
	b.wantKind(err, Failed)
	_, err = e.Rollback("../../etc")
	b.wantKind(err, BadPlan)
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
	b.wantKind(err, Stale)
	var e *Error
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
