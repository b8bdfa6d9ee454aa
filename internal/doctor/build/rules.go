// Package build is the room of what torch was built for: CUDA, another vendor's GPU, or the processor alone.
package build

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY001", "PY016", "PY025", "IDX003", "ARC014"}, Find: cpuBuild},
	{Checks: []string{"PY017", "HW001", "ROC002"}, Find: cudaOnAMD},
	{Checks: []string{"PY017", "HW001", "XPU003"}, Find: cudaOnIntel},
	{Checks: []string{"ROC001"}, Find: rocmTarget},
	{Checks: []string{"ROC001"}, After: unbuilt},
	{Checks: []string{"PY001"}, Find: xformersCPU},
}
