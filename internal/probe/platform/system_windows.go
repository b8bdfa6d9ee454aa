package platform

import (
	"fmt"
	"runtime"

	"envfix/internal/probe/sysroot"

	"golang.org/x/sys/windows"
)

// nativeArch is the machine's architecture: Windows tells a 32-bit or emulated
// process the true one in another variable.
func nativeArch(h *sysroot.Host) string {
	for _, name := range []string{"PROCESSOR_ARCHITEW6432", "PROCESSOR_ARCHITECTURE"} {
		if v := h.Env[name]; v != "" {
			return v
		}
	}
	return runtime.GOARCH
}

// systemVersion is the version of Windows or macOS.
func systemVersion() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}
