//go:build unix

package team

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/lock"
)

// Whose lock governs, and how far it is looked for.
func TestThreat19StrangersLock(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files of another user can only be made by root")
	}
	const mallory = 12345
	put := func(t *testing.T, path string, uid int) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Chown(path, uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		lock, here, repo int // uids; repo < 0: the working directory is no repository
		at               string
		follows, told    bool
	}{
		"one's own above":                 {0, 0, -1, "", true, false},
		"a stranger's in a shared parent": {mallory, 0, -1, "", false, true},
		"a stranger's beside us":          {mallory, 0, -1, "work", false, true},
		"a stranger's project is entered": {mallory, mallory, -1, "work", true, false},
		"behind the repository's root":    {0, 0, 0, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			work := filepath.Join(parent, "work")
			if err := errors.Join(os.Chmod(parent, 0o1777), os.Mkdir(work, 0o755), os.Chown(work, tt.here, tt.here)); err != nil {
				t.Fatal(err)
			}
			if tt.repo >= 0 {
				if err := os.Mkdir(filepath.Join(work, ".git"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			put(t, filepath.Join(parent, tt.at, lock.File), tt.lock)
			home, stranger := Home(work)
			if (home != "") != tt.follows || (stranger != "") != tt.told {
				t.Errorf("follows %q, stranger %q", home, stranger)
			}
		})
	}
}
