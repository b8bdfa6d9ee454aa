package team

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/system"
)

// Read reads and checks the team's envfix.lock. Where there is none, the error is
// os.ErrNotExist.
func (t *Team) Read() (*lock.Lock, error) { return read(t.path(lock.File)) }

// Present is [Team.Read] where there has to be a lock.
func (t *Team) Present() (*lock.Lock, error) {
	l, err := t.Read()
	if errors.Is(err, os.ErrNotExist) {
		return nil, fail.Wrong("there is no "+lock.File+" here", "`envfix lock --help` says how to make one")
	}
	return l, err
}

func read(path string) (*lock.Lock, error) {
	b, err := ReadFile(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return nil, fail.Wrap(fail.Usage, err)
	}
	l, err := lock.Decode(b)
	return l, fail.Wrap(fail.Integrity, err)
}

// At reads a lock from a file of any name or from a folder, and returns the folder
// that its pylock files lie in.
func At(path string) (*lock.Lock, string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		l, err := (&Team{Dir: path}).Present()
		return l, path, err
	}
	l, err := read(path)
	if errors.Is(err, os.ErrNotExist) {
		err = fail.Wrap(fail.Usage, err)
	}
	return l, filepath.Dir(path), err
}

// Home returns the nearest directory at or above dir that holds an envfix.lock, ""
// where none does. The search ends at the repository's root and at the user's home
// directory. A lock of a stranger's, as anybody can leave one in /tmp, is not
// followed and named by stranger.
func Home(dir string) (home, stranger string) {
	for _, at := range upward(dir) {
		path := filepath.Join(at, lock.File)
		if info, err := os.Stat(path); err == nil && !info.IsDir() { // what is no regular file fails where it is read
			if system.Foreign(path, dir) {
				return "", path
			}
			return at, ""
		}
	}
	return "", ""
}

// upward are a folder and those above it, up to the repository's root or the user's home.
func upward(dir string) (out []string) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	own, _ := os.UserHomeDir() // "": there is none to end at
	for at := dir; ; at = filepath.Dir(at) {
		out = append(out, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == own || at == filepath.Dir(at) {
			return out
		}
	}
}

func (t *Team) path(name string) string { return filepath.Join(t.Dir, name) }

// fromLock is the way from the lock's folder to a file or a folder, with slashes; inside
// says whether it lies below that folder, where the others of the team have it too.
func (t *Team) fromLock(path string) (way string, inside bool, err error) {
	home, err := filepath.Abs(t.Dir)
	if err != nil {
		return "", false, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", false, err
	}
	way, err = filepath.Rel(home, path)
	return filepath.ToSlash(way), err == nil && !strings.HasPrefix(way, ".."), err
}

// strange is the error for a file that lies outside the lock's folder.
func strange(path string) error {
	return fmt.Errorf("%s lies outside the project: the others of the team do not have it; put it beside the lock", path)
}

// ReadFile reads a lock, or another small file of a team.
func ReadFile(path string) ([]byte, error) {
	b, err := system.ReadFile(path, lock.MaxBytes)
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return b, err
}

// Packages reads the pylock file of a profile and holds it to the lock's digest;
// which hosts files may come from is decided where they are fetched.
func (t *Team) Packages(p *lock.Profile) (*lock.Packages, error) {
	b, err := ReadFile(t.path(p.Pylock.File))
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err)
	}
	any := func(string) bool { return true }
	k, err := p.Bind(b, any, any)
	return k, fail.Wrap(fail.Integrity, err)
}

// Write writes the pylock files first and envfix.lock last, each by a rename:
// whoever reads in between finds either lock whole, and a pylock that does not fit
// its digest is refused. Files of profiles that are gone are removed and named.
func (t *Team) Write(l *lock.Lock, files map[string][]byte) (removed []string, err error) {
	b, err := l.Encode()
	if err != nil {
		return nil, err
	}
	for _, p := range l.Profiles {
		b, made := files[p.Name]
		if !made {
			continue // a profile that --profile left as it was
		}
		if err := writeFile(t.path(p.Pylock.File), b); err != nil {
			return nil, err
		}
	}
	if err := writeFile(t.path(lock.File), b); err != nil {
		return nil, err
	}
	stale, err := filepath.Glob(t.path("pylock.*.toml"))
	for _, path := range stale {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "pylock."), ".toml")
		if !slices.Contains(l.Names(), name) && writtenByUs(path) {
			err = errors.Join(err, os.Remove(path))
			removed = append(removed, filepath.Base(path))
		}
	}
	return removed, err
}

func writtenByUs(path string) bool {
	b, err := ReadFile(path)
	if err != nil {
		return false
	}
	p, err := lock.DecodePylock(b)
	return err == nil && p.CreatedBy == "envfix"
}

// writeFile replaces a file that is for the whole team: mode 0644, and an equal
// one is left alone.
func writeFile(path string, b []byte) error {
	if old, err := system.ReadFile(path, int64(2*len(b))); err == nil && bytes.Equal(lock.Text(old), b) {
		return nil
	}
	sweep(path)
	return fail.Wrap(fail.Preflight, system.Replace(path, b, 0o644))
}

// sweep removes what a process that was killed left beside path: nothing else ever
// would, and it would be committed. What is a minute old is nobody's.
func sweep(path string) {
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".*"))
	if err != nil {
		return // a directory whose name is no pattern
	}
	for _, f := range left {
		number := strings.TrimPrefix(filepath.Base(f), "."+filepath.Base(path)+".")
		info, err := os.Lstat(f)
		if err == nil && strings.Trim(number, "0123456789") == "" && info.Mode().IsRegular() && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(f) // no harm where it stays
		}
	}
}
