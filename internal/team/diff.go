package team

import (
	"path/filepath"
	"slices"

	"envfix/internal/lock"
)

// Diff says in words what two locks differ in; each is a file or a folder with one.
// The pylock files beside them are compared package by package where they are the
// ones that the locks pin.
func Diff(old, now string) ([]string, error) {
	var locks [2]*lock.Lock
	var dirs [2]string
	for i, path := range []string{old, now} {
		l, dir, err := At(path)
		if err != nil {
			return nil, err
		}
		locks[i], dirs[i] = l, dir
	}
	return lock.Diff(locks[0], locks[1], func(l *lock.Lock, profile string) *lock.Packages {
		dir := dirs[slices.Index(locks[:], l)]
		b, err := ReadFile(filepath.Join(dir, lock.PylockName(profile)))
		p, perr := l.Profile(profile)
		if err != nil || perr != nil || lock.Sum(b) != p.Pylock.SHA256 {
			return nil
		}
		k, err := lock.DecodePylock(b)
		if err != nil {
			return nil
		}
		return k
	}), nil
}
