//go:build linux

package system

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A profile is edited once, only if it is the one that was meant, and kept as it
// was; no copy is ever replaced.
func TestEditBlock(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, ".bashrc"), filepath.Join(dir, ".bashrc.envfix-1")
	const text = "alias l=ls\n"
	sum := sha256.Sum256([]byte(text))
	k := Keep{Backup: backup, Before: hex.EncodeToString(sum[:])}
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o640), os.Chmod(path, 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	is := func(path, want string) {
		t.Helper()
		b, err := os.ReadFile(path)
		if info, err2 := os.Stat(path); err != nil || err2 != nil || string(b) != want || info.Mode().Perm() != 0o640 {
			t.Errorf("%s is %q, %v, %v", path, b, err, err2)
		}
	}
	const edited = text + "# >>> envfix profile >>>\nx\n# <<< envfix profile <<<\n"

	write(path, text)
	for _, first := range []bool{true, false} { // again: nothing
		if changed, err := EditBlock(path, "profile", []string{"x"}, k); err != nil || changed != first {
			t.Errorf("first %v: %v, %v", first, changed, err)
		}
		is(path, edited)
		is(backup, text)
	}

	write(path, text) // cut off between the copy and the edit: carried on
	if changed, err := EditBlock(path, "profile", []string{"x"}, k); err != nil || !changed {
		t.Errorf("%v, %v", changed, err)
	}
	is(path, edited)

	write(path, text) // and what a killed process left is cleared away, not what one is writing
	old, fresh := filepath.Join(dir, ".envfix-tmp-1"), filepath.Join(dir, ".envfix-tmp-2")
	write(old, text)
	write(fresh, text)
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, hour, hour); err != nil {
		t.Fatal(err)
	}
	if _, err := EditBlock(path, "profile", []string{"x"}, k); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", old, err)
	}
	is(fresh, text)

	write(path, "alias l='ls -l'\n") // not the file that was meant
	if _, err := EditBlock(path, "profile", []string{"x"}, k); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	is(path, "alias l='ls -l'\n")

	write(path, text) // a copy of something else
	write(backup, "mine\n")
	if _, err := EditBlock(path, "profile", []string{"x"}, k); err == nil {
		t.Error("a copy was replaced")
	}
	is(path, text)
	is(backup, "mine\n")
}

func TestBlockLines(t *testing.T) {
	for text, want := range map[string]int{
		"": -1, "a\n# >>> envfix p >>>\nx\ny\n# <<< envfix p <<<\nb\n": 2, "# >>> envfix p >>>\r\nx\r\n# <<< envfix p <<<\r\n": 1,
		"# >>> envfix p >>>\n# <<< envfix p <<<": 0, "# >>> envfix p >>>\nx\n": -1,
	} {
		got := BlockLines(text, "p")
		if got == nil && want >= 0 || got != nil && len(got) != want || want > 0 && got[0] != "x" {
			t.Errorf("%q: %q", text, got)
		}
	}
}
