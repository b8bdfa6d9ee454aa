package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/testindex"
	"envfix/resolver"
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
	waits  string  // seconds that real installers wait for an index; "" 60: a busy machine is no index that stalls
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
	p := &plan.Plan{Decision: resolver.Install, Choice: resolver.Choice{Torch: strings.Split(version, "+")[0], Build: "cu126"}, Target: plan.Target{Dir: ".venv", Manager: "pip"},
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
func kind(t *testing.T, err error) int {
	t.Helper()
	var e *fail.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want a *fail.Error", err, err)
	}
	return e.Code
}

func (b *bench) wantKind(err error, want int) {
	b.Helper()
	if got := kind(b.T, err); got != want {
		b.Errorf("kind of %q: got %d, want %d", err, got, want)
	}
}

// tree lists what is in the project, links with their targets.
func (b *bench) tree(below string) (out []string) {
	b.Helper()
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
