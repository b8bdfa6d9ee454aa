//go:build unix && !linux

package observe

import "syscall"

func defaultAction(syscall.Signal) {}

// dieToo: this system cannot tie one process to another.
func dieToo() *syscall.SysProcAttr { return nil }
