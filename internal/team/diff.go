package team

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/say"
	"envfix/internal/system"
)

// Diff says in words what two locks differ in. Each is a file, a folder with one, or a
// revision of Git. The pylock files beside them are compared package by package; where
// one is missing or another than the lock's, that is said.
func Diff(ctx context.Context, old, now string) ([]string, error) {
	a, err := sideOf(ctx, old)
	if err != nil {
		return nil, err
	}
	b, err := sideOf(ctx, now)
	if err != nil {
		return nil, err
	}
	var silent []string
	lines := lock.Diff(a.lock, b.lock, func(l *lock.Lock, profile string) *lock.Packages {
		s := say.Either(l == a.lock, a, b)
		k, err := s.packages(profile)
		if err != nil {
			silent = append(silent, fmt.Sprintf("%s: the packages are not compared: %s of %s: %v", profile, lock.PylockName(profile), s.name, err))
		}
		return k
	})
	return append(lines, silent...), nil
}

// A side is one of the two locks.
type side struct {
	name string
	lock *lock.Lock
	read func(file string) ([]byte, error)
}

func sideOf(ctx context.Context, name string) (side, error) {
	s := side{name: name}
	if _, err := os.Stat(name); err == nil || strings.HasPrefix(name, "-") {
		l, dir, err := At(name)
		s.lock, s.read = l, func(file string) ([]byte, error) { return ReadFile(filepath.Join(dir, file)) }
		return s, err
	}
	s.read = func(file string) ([]byte, error) { return gitShow(ctx, name, file) }
	b, err := s.read(lock.File)
	if err != nil {
		return s, fail.Wrong(clean(name)+" is neither a file or folder with a lock nor a revision of Git that has one: "+err.Error(),
			"`envfix lock diff OLD NEW` takes files, folders with a lock, and revisions of Git such as HEAD~3")
	}
	if s.lock, err = lock.Decode(b); err != nil {
		return s, fail.Wrap(fail.Integrity, err)
	}
	return s, nil
}

// gitShow returns a file of this folder as it was at a revision.
func gitShow(ctx context.Context, revision, file string) ([]byte, error) {
	cmd, err := system.Git(ctx, ".", "cat-file", "blob", revision+":./"+file) // no filter, no textconv, no pager
	if err != nil {
		return nil, err
	}
	said := system.Tail{Most: mostTail}
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(strings.Join(said.Lines(0), " "))
	}
	if len(out) > lock.MaxBytes {
		return nil, fmt.Errorf("it has %d bytes", len(out))
	}
	return out, nil
}

// packages returns a profile's packages where they are those that the lock pins.
func (s side) packages(profile string) (*lock.Packages, error) {
	p, err := s.lock.Profile(profile)
	if err != nil {
		return nil, err
	}
	b, err := s.read(p.Pylock.File)
	if err != nil {
		return nil, err
	}
	if lock.Sum(lock.Text(b)) != p.Pylock.SHA256 {
		return nil, errors.New("it is not the file that the lock pins")
	}
	return lock.DecodePylock(b)
}
