//go:build unix && !linux

package observe

import "syscall"

func defaultAction(syscall.Signal) {}
