//go:build unix

package system

import "syscall"

const (
	nofollow = syscall.O_NOFOLLOW
	nonblock = syscall.O_NONBLOCK
)
