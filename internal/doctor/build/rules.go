// Package build is the room of what torch was built for: CUDA, another vendor's GPU, or the processor alone.
package build

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY001", "PY016", "PY025", "IDX003", "ARC014"}, Needs: "torch's build", Find: cpuBuild},
	{
		Checks: []string{"PY017", "HW001", "ROC001", "ROC002", "XPU003"},
		Needs:  "the GPU's vendor and torch's build", Find: vendorBuild,
	},
	{Checks: []string{"PY001"}, Needs: "xformers' warning", Find: xformersCPU},
	{Checks: []string{"PY025"}, Needs: "conda, and somebody's words that a CPU build came", Find: condaWords},
	{Checks: []string{"ROC002"}, Needs: "torch that computes on an AMD GPU", Find: workingROCm},
}
