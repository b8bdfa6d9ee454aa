package system

import (
	"errors"
	"fmt"
	"io/fs"
)

func onlyRootWrites(path string) error {
	return fmt.Errorf("%s: nothing is run with root's rights on Windows", path)
}

// Trusted trusts every directory: Windows keeps its own lists of rights.
func Trusted(string) error { return nil }

// OnlyOwn trusts every directory, as Trusted does.
func OnlyOwn(string) error { return nil }

func ours(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}

// SudoOwner returns nil: there is no sudo.
func SudoOwner() *Owner { return nil }

func trustedLink(string, fs.FileInfo) error { return nil }

func believable(fs.FileInfo) error { return nil }

// Become is for systems with sudo.
func Become(*Owner, []string) error { return errors.ErrUnsupported }

// Foreign reports false: what others may write is the file system's to say.
func Foreign(path, dir string) bool { return false }
