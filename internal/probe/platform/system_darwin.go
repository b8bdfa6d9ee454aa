package platform

import (
	"runtime"

	"envfix/internal/probe/sysroot"
	"envfix/internal/text"

	"golang.org/x/sys/unix"
)

// nativeArch is the machine's architecture: a binary for Intel may run
// translated (Rosetta) on an Apple chip.
func nativeArch(h *sysroot.Host) string {
	if v, err := unix.SysctlUint32("hw.optional.arm64"); err == nil && v == 1 {
		if runtime.GOARCH != "arm64" {
			h.Note("envfix runs translated by Rosetta; the machine is arm64")
		}
		return "arm64"
	}
	return runtime.GOARCH
}

// systemVersion is the version of Windows or macOS.
func systemVersion() string {
	v, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return ""
	}
	return text.Printable(v)
}
