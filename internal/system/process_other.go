//go:build unix && !linux

package system

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}
