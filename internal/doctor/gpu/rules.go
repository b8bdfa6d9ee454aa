// Package gpu is the room of whether the build has code for the GPU, and whether the GPU is divided.
package gpu

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ARC005"}, Find: jit},
	{Checks: []string{"ARC001", "ARC002", "ARC005", "ARC013"}, Find: arch},
	{Checks: []string{"ARC013"}, Find: beyondRange},
	{Checks: []string{"ARC005"}, Find: ancientGPU},
	{Checks: []string{"ARC005"}, Find: oldInWords},
	{Checks: []string{"ARC001", "ARC005", "TK011", "ROC001"}, Find: noKernel},
	{Checks: []string{"HW014"}, Find: branchDropsGPU},
	{Checks: []string{"KMD008"}, Find: refused},
}
