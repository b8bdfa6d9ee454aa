//go:build !windows && !darwin

package probe

import "runtime"

// nativeArch is the machine's architecture, which need not be this binary's.
func nativeArch(*host) string { return runtime.GOARCH }

// systemVersion is the version of Windows or macOS.
func systemVersion() string { return "" }
