//go:build linux

package apply

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/testindex"
)

// real makes a plan whose steps are those that package installers makes for a
// real pip or a real uv, against the loopback index x.
func (b *bench) real(tool string, x *testindex.Index, reqs ...string) *plan.Plan {
	b.Helper()
	waits := cmp.Or(b.waits, "60")
	_, version, _ := strings.Cut(reqs[0], "==") // a plan is for one torch
	return b.plan(version+"+cu126", func(p *plan.Plan) {
		venv, install := p.Steps[0].Run, p.Steps[1].Run
		if tool == "uv" {
			uv := testindex.UV(b)
			venv.Argv = []string{uv, "venv", "--no-project", "--python", b.python, "{gen}"}
			install.Argv = append([]string{uv, "pip", "install", "--python", "{gen}/bin/python", "--only-binary", ":all:", "--default-index", x.URL}, reqs...)
			install.Env = map[string]string{"UV_CACHE_DIR": b.TempDir(), "UV_HTTP_TIMEOUT": waits, "UV_HTTP_RETRIES": "0"}
		} else {
			install.Argv = append([]string{b.pip(), "--python", "{gen}", "install", "--isolated", "--no-input", "--no-cache-dir", "--no-compile",
				"--retries", "0", "--timeout", waits, "--only-binary", ":all:", "--index-url", x.URL}, reqs...)
		}
		p.Target.Manager = tool
	})
}

// pip is a real pip that installs into other environments: making one with
// ensurepip takes four seconds each.
func (b *bench) pip() string {
	b.Helper()
	pip := filepath.Join(filepath.Dir(b.python), "pip3")
	if _, err := os.Stat(pip); err != nil {
		b.Fatalf("no pip beside %s: %v", b.python, err)
	}
	return pip
}

func torchIndex(t testing.TB) *testindex.Index {
	return testindex.Serve(t,
		testindex.Torch("2.14.1+cu126", "12.6", "sm_75", "sm_80"),
		testindex.Wheel{Name: "torchvision", Version: "0.29.1+cu126", Requires: []string{"torch==2.14.1", "num-py"}},
		testindex.Wheel{Name: "num-py", Version: "2.1.0", Padding: 400 << 10},
	)
}

var tools = []string{"pip", "uv"}

func TestRealInstallers(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			b, x := newBench(t), torchIndex(t)
			b.mustApply(b.real(tool, x, "torch==2.14.1", "torchvision"))
			if got := b.torch(); got != "2.14.1+cu126" {
				t.Errorf("torch: got %q\n%s", got, b.out.String())
			}
		})
	}
}

// Each way in which an index fails has its exit code, and changes nothing.
func TestIndexFails(t *testing.T) {
	page, wheel := "/simple/torch/", "/files/"+testindex.Torch("2.14.1+cu126", "").Filename()
	tests := []struct {
		name, path string
		fault      testindex.Fault
		pip, uv    int
	}{
		{"page not found", page, testindex.NotFound, fail.Failed, fail.Failed},
		{"page is garbage", page, testindex.Garbage, fail.Failed, fail.Failed},
		{"page stalls", page, testindex.Stall, fail.Failed, fail.Failed},
		// pip takes what came for the whole file, and finds another hash.
		{"wheel cut off", wheel, testindex.Truncate, fail.Integrity, fail.Failed},
		{"wrong hash", page, testindex.WrongHash, fail.Integrity, fail.Integrity},
		{"other bytes", wheel, testindex.WrongBytes, fail.Integrity, fail.Integrity},
	}
	for _, tt := range tests {
		for tool, kind := range map[string]int{"pip": tt.pip, "uv": tt.uv} {
			if tool == "pip" && tt.fault != testindex.WrongHash && !long {
				continue // a second of a processor each; TestInstallersWords has the words
			}
			t.Run(tt.name+"/"+tool, func(t *testing.T) {
				b, x := newBench(t), torchIndex(t)
				if tt.fault == testindex.Stall {
					b.waits = "1"
				}
				x.Break(tt.path, tt.fault)
				_, err := b.apply(context.Background(), b.real(tool, x, "torch==2.14.1"))
				if err == nil {
					t.Fatalf("it worked:\n%s", b.out.String())
				}
				b.wantKind(err, kind)
				if t.Failed() {
					t.Log(b.out.String())
				}
				if _, err := os.Lstat(filepath.Join(b.dir, ".venv")); !gone(err) {
					t.Errorf(".venv is there: %v", err)
				}
				if left := b.tree(".envfix/gens"); len(left) != 1 {
					t.Errorf("rubbish is left: %v", left)
				}
			})
		}
	}
}

// small mounts a file system of so many bytes on a new directory; only root can.
func small(t *testing.T, options string, flags uintptr) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("no small file system can be mounted here (%v): run the tests as root for this one", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A full disk ends with the old environment and the code for it, whether envfix
// or the installer meets it.
func TestFullDisk(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			x := torchIndex(t)
			b := newBench(t)
			b.dir = small(t, "size=500k", 0)
			_, err := b.apply(context.Background(), b.real(tool, x, "torch==2.14.1", "torchvision"))
			if err == nil {
				t.Fatalf("it worked:\n%s", b.out.String())
			}
			b.wantKind(err, fail.Preflight)
			if left := b.tree(".envfix/gens"); len(left) != 1 {
				t.Errorf("rubbish is left: %v", left)
			}
		})
	}
}

func TestReadOnlyTarget(t *testing.T) {
	b := newBench(t)
	b.dir = small(t, "size=1m", syscall.MS_RDONLY)
	_, err := b.apply(context.Background(), b.plan("2.14.1+cu126"))
	b.wantKind(err, fail.Preflight)
}

// Ctrl-C while the installer waits for a stalled index: the installer is gone,
// the old environment stays, and nothing is left over.
func TestInterruptInstaller(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			b, x := newBench(t), torchIndex(t)
			b.mustApply(b.plan("2.13.0+cu126"))
			x.Break("/simple/torch/", testindex.Stall)
			ctx, cancel := context.WithCancel(context.Background())
			go func() { // Ctrl-C once the installer asks
				for !slices.Contains(x.Requests(), "/simple/torch/") && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			_, err := b.apply(ctx, b.real(tool, x, "torch==2.14.1"))
			b.wantKind(err, fail.Interrupted)
			if got := b.torch(); got != "2.13.0+cu126" {
				t.Errorf("torch: got %q, want the old one", got)
			}
			if left := b.tree(".envfix/gens"); strings.Contains(strings.Join(left, "\n"), "-2/") {
				t.Errorf("rubbish is left: %v", left)
			}
		})
	}
}

func reseal(t *testing.T, p *plan.Plan) *plan.Plan {
	t.Helper()
	if err := plan.Seal(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// What was there is not said to be missing after Ctrl-C, also where it is no environment of
// envfix's own: somebody's, or the one that a rollback brought back.
func TestInterruptedBesideAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".venv")
	env, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	r := &run{env: env, gen: Generation{ID: "new-1"}, plan: &plan.Plan{Steps: []plan.Step{{Switch: &plan.Switch{Dir: dir}}}}}
	for _, want := range []string{"is not there yet", "is as it was before"} {
		e := &fail.Error{Code: fail.Interrupted}
		tellState(e, r, true)
		if len(e.Details) != 1 || !strings.Contains(e.Details[0], want) || !strings.Contains(e.Details[0], "begins anew") {
			t.Errorf("got %q, want %q", e.Details, want)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
