// Package use is the room of what the GPUs of this machine do and how they are set up: processes, modes, the
// kernel's log, a running process, what stands around them.
package use

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC010", "PERF016"}, Find: full},
	{Checks: []string{"ACC010"}, Find: orphaned},
	{Checks: []string{"ACC004", "ACC005"}, Find: computeMode},
	{Checks: []string{"HW002", "HW003", "HW004", "HW006", "HW009", "KMD008", "KMD010", "KMD011", "KMD012", "KMD013"}, Find: kernelErrors},
	{Checks: []string{"PERF005", "PERF006"}, Find: slowed},
}
