//go:build !windows && !darwin

package probe

// nativeArch is the machine's architecture, which need not be this binary's.
func nativeArch(*host) string { return goarch }

// systemVersion is the version of Windows or macOS.
func systemVersion() string { return "" }
