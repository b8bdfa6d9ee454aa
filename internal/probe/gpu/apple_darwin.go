package gpu

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"

	"golang.org/x/sys/unix"
)

// appleGPUs is the GPU of an Apple chip, which shares the chip's memory. Macs
// with Intel processors have none that PyTorch still builds for.
func appleGPUs(h *sysroot.Host) []machine.GPU {
	brand, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil || !strings.HasPrefix(brand, "Apple") {
		return nil
	}
	g := machine.GPU{Vendor: machine.Apple, Name: text.Printable(brand), Visible: true, Integrated: true, Evidence: machine.FromSysctl}
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil && n < 1<<50 {
		g.MemoryBytes = int64(n)
	}
	return []machine.GPU{g}
}
