package machine

import "strings"

// How the notes begin that say that NVIDIA's library answered nothing.
const (
	NVMLHangs   = "nvml: NVIDIA's library did not answer within"
	NVMLCrashes = "nvml: NVIDIA's library ended its process:"
)

// SilentDriver is the note of a driver whose library hangs, or ends the process that
// asks it; "" it answers.
func (m *Machine) SilentDriver() string {
	for _, n := range m.Notes {
		if strings.HasPrefix(n, NVMLHangs) || strings.HasPrefix(n, NVMLCrashes) {
			return strings.TrimPrefix(n, "nvml: ")
		}
	}
	return ""
}
