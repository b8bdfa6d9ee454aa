//go:build linux

package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/plan"
)

// The login of a requirement's own address reaches the installer in a file that the user
// alone reads, stands in no argument, and is gone when the step is over, however it ended:
// a step that is killed leaves it to the next run.
func TestThreat13Handover(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("NETRC", "")
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine own.example login a password b"), 0o600); err != nil {
		t.Fatal(err)
	}
	q, err := pep508.Parse("foo @ https://me:canary%40x@h.example/foo-1-py3-none-any.whl", "")
	if err != nil {
		t.Fatal(err)
	}
	const look = `[ $(stat -c %a "$NETRC" "$GIT_CONFIG_GLOBAL" | tr -d '\n') = 600600 ] && grep -q own.example "$NETRC" &&
		grep -qx "password [c]anary@x" "$NETRC" && grep -q "Basic bWU6Y2FuYXJ5QHg=" "$GIT_CONFIG_GLOBAL"`
	for script, ends := range map[string]bool{look: true, look + " && exit 1": false} {
		b := newBench(t)
		_, err := b.apply(context.Background(), b.plan("2.14.1+cu126", func(p *plan.Plan) {
			p.Basis.Request.Requirements = []pep508.Requirement{q}
			p.Steps[1].Run.Argv = append([]string{"sh", "-c", script + ` && "$@"`, "sh"}, p.Steps[1].Run.Argv...)
		}))
		if ends && err != nil {
			t.Errorf("%v\n%s", err, b.out.String())
		}
		b.noneHolds("canary")
	}
	b := newBench(t)
	if err := errors.Join(b.open().prepare(), os.WriteFile(filepath.Join(b.dir, netrcName), []byte("password canary"), 0o600)); err != nil {
		t.Fatal(err)
	}
	b.mustApply(b.plan("2.14.1+cu126"))
	b.noneHolds("canary")
}

// noneHolds looks for a word in all that apply says and keeps.
func (b *bench) noneHolds(word string) {
	b.Helper()
	if strings.Contains(b.out.String(), word) {
		b.Errorf("it is said:\n%s", b.out.String())
	}
	err := filepath.WalkDir(filepath.Join(b.dir, stateDir), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), word) {
			b.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil {
		b.Error(err)
	}
}

// What lies in the place of envfix's state is named, and not followed, filled or waited for.
func TestStateOfAnotherKind(t *testing.T) {
	for _, name := range []string{gensDir, plansDir, logsDir, tmpDir, lockName, journalName} {
		for what, put := range map[string]func(path, outside string) error{
			"a directory": func(p, _ string) error { return os.Mkdir(p, 0o700) },
			"a file":      func(p, _ string) error { return os.WriteFile(p, nil, 0o600) },
			"a link":      func(p, outside string) error { return os.Symlink(outside, p) },
		} {
			isDir := name != lockName && name != journalName
			if what == "a directory" && isDir || what == "a file" && !isDir {
				continue
			}
			b, outside := newBench(t), t.TempDir()
			place := filepath.Join(b.dir, name)
			if err := errors.Join(os.Mkdir(filepath.Join(b.dir, stateDir), 0o755), put(place, outside)); err != nil {
				t.Fatal(err)
			}
			_, err := b.apply(context.Background(), b.plan("2.14.1+cu126"))
			b.wantKind(err, fail.Integrity)
			if err == nil || !strings.Contains(err.Error(), place+" is not the ") {
				t.Errorf("%s for %s: %v", what, name, err)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("%s for %s: %v was written to it, %v", what, name, left, err)
			}
		}
	}
}

// A place whose programs no PATH could name is refused before anything is made there.
func TestPlaceOnPath(t *testing.T) {
	dir := t.TempDir()
	for _, bad := range []string{"a:b/.venv", "c:d", "e/f:g/h/.venv"} {
		err := MakeParent(filepath.Join(dir, bad))
		var e *fail.Error
		if !errors.As(err, &e) || e.Code != fail.Preflight || !strings.Contains(e.Text, "parts the directories on PATH") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("made: %v, %v", left, err)
	}
}
