//go:build unix

package system

import (
	"fmt"
	"os"
	"path/filepath"
)

// Helper returns the program that root's steps are given to: self where only root can
// change it, else the first of places that only root can change and that is the same
// program, else self again, which the current user can change; own then is true. It
// refuses a self that anybody else could exchange: whoever can would be root.
func Helper(self string, places []string, same func(path string) bool) (path string, own bool, err error) {
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", false, err
	}
	if onlyRootWrites(self) == nil {
		return self, false, nil
	}
	for _, p := range places {
		if real, err := filepath.EvalSymlinks(p); err == nil && onlyRootWrites(real) == nil && same(real) {
			return real, false, nil
		}
	}
	info, err := os.Stat(self)
	if err != nil {
		return "", false, err
	}
	if err := Trusted(filepath.Dir(self)); err != nil {
		return "", false, fmt.Errorf("%s is not run with root's rights: %w", self, err)
	}
	uid, _ := ownerOf(info)
	switch {
	case uid != 0 && uid != uint32(os.Geteuid()):
		return "", false, fmt.Errorf("%s is not run with root's rights: it belongs to another user (uid %d)", self, uid)
	case info.Mode()&0o002 != 0, info.Mode()&0o020 != 0 && !ownGroup(info):
		return "", false, fmt.Errorf("%s is not run with root's rights: others can write it (mode %o): `chmod go-w %s`", self, info.Mode().Perm(), self)
	}
	return self, true, nil
}
