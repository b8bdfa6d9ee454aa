// Package gpu is the room of whether the build has code for the GPU, and whether the GPU is divided.
package gpu

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{
		Checks: []string{"ARC001", "ARC002", "ARC005", "ARC013"},
		Needs:  "the GPU's capability and torch's list of architectures or build", Find: arch,
	},
	{
		Checks: []string{"ARC013"},
		Needs:  "the GPU's capability and the range that torch's warning names", Find: beyondRange,
	},
	{Checks: []string{"ARC005"}, Needs: "a GPU older than every build", Find: ancientGPU},
	{Checks: []string{"ARC005"}, Needs: "an older GPU, and words that it is not served any more", Find: oldInWords},
	{
		Checks: []string{"ARC001", "ARC005", "TK011", "ROC001"},
		Needs:  "the message that no kernel image is there", Find: noKernel,
	},
	{Checks: []string{"HW014"}, Needs: "the GPU's capability and the driver", Find: branchDropsGPU},
	{
		Checks: []string{"HW013"},
		Needs:  "words on the open kernel module, and a GPU older than it serves", Find: openForOld,
	},
	{Checks: []string{"KMD008"}, Needs: "a driver that refuses a GPU of its own list", Find: refused},
	{Checks: []string{"ACC006"}, Needs: "MIG and a message", Find: mig},
	{Checks: []string{"ACC006"}, Needs: "MIG mode, and that nothing was divided", Find: undivided},
	{
		Checks: []string{"ACC006"},
		Needs:  "the instance that CUDA_VISIBLE_DEVICES names, and those that are listed", Find: otherInstance,
	},
}
