//go:build unix

package main

import "syscall"

// umask sets the mask of new files, and returns what sets the old one again.
func umask(mask int) (back func()) {
	old := syscall.Umask(mask)
	return func() { syscall.Umask(old) }
}
