package machine

import (
	"strings"

	"envfix/internal/xslices"
)

// How the notes begin that say that NVIDIA's library answered nothing.
const (
	NVMLHangs   = "nvml: NVIDIA's library did not answer within"
	NVMLCrashes = "nvml: NVIDIA's library ended its process:"
)

// SilentDriver is the note of a driver whose library hangs, or ends the process that
// asks it; "" it answers.
func (m *Machine) SilentDriver() string {
	n, _ := xslices.Find(m.Notes, func(n string) bool { return strings.HasPrefix(n, NVMLHangs) || strings.HasPrefix(n, NVMLCrashes) })
	return strings.TrimPrefix(n, "nvml: ")
}
