//go:build linux

package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// What each installer takes is counted on each file system once: where the cache
// is on another than the environment, and where it is not.
func TestNeeds(t *testing.T) {
	const wheel, disk = 3_000_000_000, 5_600_000_000
	b := newBench(t)
	far := small(t, "size=1m", 0)
	for _, tt := range []struct {
		name, exe, cache, uv string
		want                 []need
	}{
		{"uv links from its cache", "/usr/bin/uv", b.dir, "", []need{{b.dir, []string{"the environment"}, disk}}},
		{"uv copies from a cache elsewhere", "/usr/bin/uv", far, "", []need{{far, []string{"uv's cache"}, disk}, {b.dir, []string{"the environment"}, disk}}},
		{"that a variable names", "/usr/bin/uv", b.dir, far, []need{{far, []string{"uv's cache"}, disk}, {b.dir, []string{"the environment"}, disk}}},
		{"pip keeps three forms, whatever uv does", gen + "/bin/python", b.dir, far, []need{{b.dir, []string{"TMPDIR", "pip's cache", "the environment"}, 2*wheel + disk}}},
		{"pip with a cache elsewhere", gen + "/bin/python", far, "", []need{{b.dir, []string{"TMPDIR", "the environment"}, wheel + disk}, {far, []string{"pip's cache"}, wheel}}},
	} {
		t.Setenv("XDG_CACHE_HOME", filepath.Join(tt.cache, "not", "yet", "there"))
		t.Setenv("UV_CACHE_DIR", tt.uv)
		p := b.plan("2.14.1+cu126", func(p *plan.Plan) {
			p.Steps[1].Bytes, p.Steps[1].Disk = wheel, disk
			p.Steps[1].Run.Argv = []string{tt.exe, "install", gen}
		})
		r := &run{env: b.open(), plan: p}
		if diff := cmp.Diff(tt.want, r.needs(p.Steps), cmp.AllowUnexported(need{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A plan that will not fit is refused before anything is done, with the place, what
// for, and both numbers: on the target, in the cache, and by inodes.
func TestPreflightRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, target, cache string // options of small file systems; "" roomy
		argv                string
		want                string
	}{
		{"the environment", "size=20m", "", "/usr/bin/uv", "(the environment) has 21 MB free, and the plan needs about 44 MB there"},
		{"uv's cache", "", "size=20m", "/usr/bin/uv", "(uv's cache) has 21 MB free, and the plan needs about 44 MB there"},
		{"TMPDIR", "size=50m", "", "/usr/bin/python3", "(TMPDIR, the environment) has 52 MB free, and the plan needs about 66 MB there"},
		{"pip's cache", "", "size=20m", "/usr/bin/python3", "(pip's cache) has 21 MB free, and the plan needs about 22 MB there"},
		{"files", "size=100m,nr_inodes=150", "", "/usr/bin/uv", "files (inodes), and the plan needs about 309"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			if tt.target != "" {
				b.dir = small(t, tt.target, 0)
			}
			cache := t.TempDir()
			if tt.cache != "" {
				cache = small(t, tt.cache, 0)
			} else if tt.name == "TMPDIR" || tt.name == "files" {
				cache = b.dir
			}
			if tt.name == "TMPDIR" {
				cache = t.TempDir()
			}
			t.Setenv("XDG_CACHE_HOME", cache)
			t.Setenv("UV_CACHE_DIR", "")
			_, err := b.apply(context.Background(), b.plan("2.14.1+cu126", func(p *plan.Plan) {
				p.Steps[1].Bytes, p.Steps[1].Disk = 20_000_000, 40_000_000
				p.Steps[1].Run.Argv = []string{tt.argv, "install"}
			}))
			if err == nil {
				t.Fatal("it was begun")
			}
			b.wantKind(err, fail.Preflight)
			var e *fail.Error
			errors.As(err, &e)
			if !strings.Contains(e.Text, tt.want) || !strings.Contains(strings.Join(e.Hints, "\n"), "XDG_CACHE_HOME") {
				t.Errorf("got %q, %q; want %q", e.Text, e.Hints, tt.want)
			}
			if left, err := os.ReadDir(filepath.Join(b.dir, logsDir)); err != nil || len(left) > 0 {
				t.Errorf("something was run: %v, %v", left, err)
			}
		})
	}
}

// TMPDIR is on the environment's file system whatever the session's is: many an
// installer filled a small /tmp.
func TestTMPDIR(t *testing.T) {
	b := newBench(t)
	if _, err := emptyVenv(); err != nil { // the one that all tests copy must not lie in a directory of this one
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	b.mustApply(b.talking("echo \"TMPDIR is $TMPDIR\"; touch \"$TMPDIR/mine\""))
	if want := "TMPDIR is " + filepath.Join(b.dir, tmpDir) + "\n"; !strings.Contains(b.lastLog("torch"), want) {
		t.Errorf("want %q in\n%s", want, b.lastLog("torch"))
	}
}

// What lies in the way of an environment or of envfix's state is found before
// anything runs, and it is said what to do.
func TestInTheWay(t *testing.T) {
	for name, put := range map[string]func(dir string) error{
		".venv is a file": func(dir string) error { return os.WriteFile(filepath.Join(dir, ".venv"), nil, 0o600) },
		".venv is a pipe": func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, ".venv"), 0o600) },
		"the lock is a directory": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, lockName), 0o700)
		},
		"a directory of the state is a file": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, stateDir), 0o755), os.WriteFile(filepath.Join(dir, tmpDir), nil, 0o600))
		},
	} {
		b := newBench(t)
		if err := put(b.dir); err != nil {
			t.Fatal(err)
		}
		ran := filepath.Join(t.TempDir(), "ran")
		_, err := b.apply(context.Background(), b.plan("2.14.1+cu126", func(p *plan.Plan) { p.Steps[0].Run.Argv = []string{"touch", ran} }))
		var e *fail.Error
		if !errors.As(err, &e) || len(e.Hints) == 0 {
			t.Errorf("%s: %v, no hint", name, err)
		}
		if _, err := os.Stat(ran); !gone(err) {
			t.Errorf("%s: steps ran first", name)
		}
	}
}
