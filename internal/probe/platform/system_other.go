//go:build !windows && !darwin

package platform

import (
	"runtime"

	"envfix/internal/probe/sysroot"
)

// nativeArch is the machine's architecture, which need not be this binary's.
func nativeArch(*sysroot.Host) string { return runtime.GOARCH }

// systemVersion is the version of Windows or macOS.
func systemVersion() string { return "" }
