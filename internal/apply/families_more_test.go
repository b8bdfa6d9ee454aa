//go:build linux

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/testindex"
)

// What stands where the journal should be is not read for ever, not followed out of
// the project, and not written over.
func TestJournalIsNoJournal(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, put := range map[string]func(path string) error{
		"a directory":       func(p string) error { return os.Mkdir(p, 0o700) },
		"a pipe":            func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a link elsewhere":  func(p string) error { return os.Symlink(outside, p) },
		"a giant":           func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, maxJournal+1)) },
		"of another schema": func(p string) error { return os.WriteFile(p, []byte("{\"format\":9}\n{\"format\":9}\n"), 0o600) },
	} {
		b := newBench(t)
		if err := errors.Join(b.open().prepare(), put(filepath.Join(b.dir, journalName))); err != nil {
			t.Fatal(err)
		}
		if _, err := b.apply(context.Background(), b.plan("2.14.1+cu126")); err == nil {
			t.Errorf("%s: it was believed", name)
		}
		if _, err := os.Stat(outside); !gone(err) {
			t.Fatalf("%s: it was written to: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(b.dir, ".venv")); !gone(err) {
			t.Errorf("%s: an environment was made", name)
		}
	}
}

// A journal of another machine, or of a later envfix that knows more states, is
// read: the project may lie on a disk that travels.
func TestJournalOfAnotherMachine(t *testing.T) {
	b := newBench(t)
	b.mustApply(b.plan("2.13.0+cu126"))
	path := filepath.Join(b.dir, journalName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, err := encodeEntry(Entry{Seq: 1 + countLines(text), State: "polished", Env: ".venv", Boot: "another", PID: 1, Time: "2026-11-21T12:00:00Z"})
	if err == nil {
		err = os.WriteFile(path, append(text, line...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.mustApply(b.plan("2.14.1+cu126"))
	if h, err := b.open().History(); err != nil || len(h.Events) != 2 {
		t.Errorf("history: %+v, %v", h, err)
	}
}

// A clock that jumps a year, either way, changes nothing: order is by number.
func TestClockJumps(t *testing.T) {
	for _, year := range []string{"1980", "2099"} {
		b := newBench(t)
		b.mustApply(b.plan("2.12.0+cu126"))
		second := b.mustApply(b.plan("2.13.0+cu126"))
		path := filepath.Join(b.dir, journalName)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		entries, _, err := parseJournal(path, text)
		if err != nil {
			t.Fatal(err)
		}
		var jumped []byte
		for _, e := range entries {
			e.Time = year + e.Time[4:]
			line, err := encodeEntry(e)
			if err != nil {
				t.Fatal(err)
			}
			jumped = append(jumped, line...)
		}
		e := b.open()
		g, err := e.root.ReadFile(markerPath(second.Generation))
		if err != nil {
			t.Fatal(err)
		}
		var gen Generation
		if err := json.Unmarshal(g, &gen); err != nil {
			t.Fatal(err)
		}
		gen.Created = year + gen.Created[4:]
		if err := errors.Join(e.mark(gen), os.WriteFile(path, jumped, 0o600)); err != nil {
			t.Fatal(err)
		}
		third := b.mustApply(b.plan("2.14.1+cu126"))
		if _, err := e.Rollback(""); err != nil {
			t.Fatal(err)
		}
		if got := b.torch(); got != "2.13.0+cu126" {
			t.Errorf("%s: after the rollback torch is %q", year, got)
		}
		if gens, err := e.generations(); err != nil || len(gens) != 2 || gens[1].ID != third.Generation {
			t.Errorf("%s: generations %+v, %v", year, gens, err)
		}
	}
}

// Without a home, or with one that nobody may read, an environment is built all the
// same: nothing of envfix's own lies there.
func TestHomes(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	for name, home := range map[string]string{"unset": "", "missing": "/nonexistent/home", "closed": closed, "relative": "home"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", home)
			if home == "" {
				os.Unsetenv("HOME")
			}
			b := newBench(t)
			b.mustApply(b.plan("2.14.1+cu126", func(p *plan.Plan) { p.Steps[1].Bytes, p.Steps[1].Disk = 1000, 1000 }))
			if got := b.torch(); got != "2.14.1+cu126" {
				t.Errorf("torch: got %q", got)
			}
		})
	}
}

// Who is killed while it works holds nobody up, and what it had started is gone.
func TestKilledHolder(t *testing.T) {
	b := newBench(t)
	b.mustApply(b.plan("2.13.0+cu126"))
	started := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	slow := b.plan("2.14.1+cu126", func(p *plan.Plan) {
		p.Steps[1].Run.Argv = []string{"sh", "-c", "echo $$ > " + started + "; exec sleep 600"}
	})
	c := exec.Command(os.Args[0])
	c.Env = []string{"ENVFIX_FAULT_DIR=" + b.dir, "ENVFIX_FAULT_PLAN=" + b.saved(slow), "PATH=/usr/bin:/bin"}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(started) // waits for the writer
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.apply(context.Background(), b.plan("2.14.1+cu126"))
	b.wantKind(err, fail.Busy)
	if want := fmt.Sprintf("is locked by process %d", c.Process.Pid); !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q", err, want)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	b.mustApply(b.plan("2.14.1+cu126"))
	if !strings.Contains(b.out.String(), "an earlier apply was cut off") {
		t.Errorf("output:\n%s", b.out.String())
	}
	pid := 0
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && bytes.Contains(cmdline, []byte("sleep")) {
		t.Errorf("what it had started lives on: %q", cmdline)
	}
}

// A cache that fills up ends like an environment that does, and is named; so does a
// file system without room for more files.
func TestFullCache(t *testing.T) {
	b, x := newBench(t), testindex.Serve(t, testindex.Torch("2.14.1+cu126", "12.6", "sm_75", "sm_80"), testindex.Wheel{Name: "big", Version: "1", Padding: 2 << 20})
	cache := small(t, "size=1m", 0)
	p := b.real("uv", x, "torch==2.14.1", "big")
	t.Setenv("XDG_CACHE_HOME", cache)
	delete(p.Steps[1].Run.Env, "UV_CACHE_DIR")
	_, err := b.apply(context.Background(), reseal(t, p))
	if err == nil {
		t.Fatalf("it worked:\n%s", b.out.String())
	}
	b.wantKind(err, fail.Preflight)
	var e *fail.Error
	errors.As(err, &e)
	if details := strings.Join(e.Details, "\n"); !strings.Contains(details, cache+" has ") || strings.Contains(details, b.dir+" has ") {
		t.Errorf("the full place is not named, or another one: %q", e.Details)
	}
	b = newBench(t)
	b.dir = small(t, "size=100m,nr_inodes=25", 0)
	_, err = b.apply(context.Background(), b.plan("2.14.1+cu126"))
	if err == nil {
		t.Fatal("25 files were enough")
	}
	b.wantKind(err, fail.Preflight)
}
