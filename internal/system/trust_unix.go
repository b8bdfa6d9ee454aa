//go:build unix

package system

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ownGroup reports whether a file's group is the one that its owner alone is in, as
// most distributions give each user one of the same number.
func ownGroup(info fs.FileInfo) bool {
	st := info.Sys().(*syscall.Stat_t)
	return st.Gid == st.Uid
}

func ownerOf(info fs.FileInfo) (uid uint32, links uint64) {
	st := info.Sys().(*syscall.Stat_t)
	return st.Uid, uint64(st.Nlink)
}

// onlyRootWrites refuses a program that anybody but root could exchange.
func onlyRootWrites(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for p := real; ; p = filepath.Dir(p) {
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		if uid, _ := ownerOf(info); uid != 0 || info.Mode()&0o022 != 0 {
			return fmt.Errorf("%s is not run with root's rights: others than root can write %s", path, p)
		}
		if p == "/" {
			return nil
		}
	}
}

// Trusted refuses a directory whose path another user could bend: a component
// that belongs to somebody else, or that everybody may write without the sticky
// bit. Root and the current user are trusted.
func Trusted(dir string) error { return trusted(dir, sudoUser, false) }

// OnlyOwn is Trusted for a directory whose files are run without being looked at again:
// it trusts nobody but root and the current user, not even who started us with sudo, and
// no group but the owner's own.
func OnlyOwn(dir string) error {
	return trusted(dir, func(uint32) bool { return false }, true)
}

func trusted(dir string, also func(uid uint32) bool, noGroups bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	self := uint32(os.Geteuid())
	path := "/"
	for i, part := range strings.Split(strings.TrimPrefix(dir, "/"), "/") {
		if i > 255 {
			return fmt.Errorf("%s: too deep", dir)
		}
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		uid, _ := ownerOf(info)
		if uid != 0 && uid != self && !also(uid) {
			return fmt.Errorf("%s belongs to another user (uid %d)", path, uid)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if path, err = filepath.EvalSymlinks(path); err != nil {
				return err
			}
			if err := trusted(path, also, noGroups); err != nil { // it has a path of its own
				return err
			}
			continue
		}
		switch open := info.Mode()&fs.ModeSticky == 0; {
		case open && info.Mode()&0o002 != 0:
			return fmt.Errorf("%s can be written by everybody: `chmod o-w %s`", path, path)
		case open && noGroups && info.Mode()&0o020 != 0 && !ownGroup(info):
			return fmt.Errorf("%s can be written by its group: `chmod g-w %s`", path, path)
		}
	}
	return nil
}

// sudoUser reports whether uid is the user who started us with sudo.
func sudoUser(uid uint32) bool {
	o := SudoOwner()
	return o != nil && o.UID == uid
}

// ours refuses to replace a file that is not the current user's own: of another
// user, with further names (a hard link to something else), or not regular.
func ours(path string, info fs.FileInfo) error {
	uid, links := ownerOf(info)
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case uid != uint32(os.Geteuid()):
		return fmt.Errorf("%s belongs to another user (uid %d)", path, uid)
	case links > 1:
		return fmt.Errorf("%s has %d names (hard links): replacing it would part them", path, links)
	}
	return nil
}

func trustedLink(path string, info fs.FileInfo) error {
	if uid, _ := ownerOf(info); uid != 0 && uid != uint32(os.Geteuid()) {
		return fmt.Errorf("%s is a symbolic link of another user (uid %d)", path, uid)
	}
	return nil
}

// believable refuses a file that another user made or could have changed.
func believable(info fs.FileInfo) error {
	uid, _ := ownerOf(info)
	switch {
	case uid != 0 && uid != uint32(os.Geteuid()) && !sudoUser(uid):
		return fmt.Errorf("it belongs to another user (uid %d)", uid)
	case info.Mode().IsRegular() && info.Mode()&0o002 != 0:
		return errors.New("everybody may write it: `chmod o-w` it after reading it")
	}
	return nil
}

// Foreign reports whether a file belongs to neither root nor the current user, nor
// to whom the directory dir belongs that we work in.
func Foreign(path, dir string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true
	}
	if believable(info) == nil {
		return false
	}
	here, err := os.Stat(dir)
	if err != nil {
		return true
	}
	uid, _ := ownerOf(info)
	owner, _ := ownerOf(here)
	return uid != owner
}
