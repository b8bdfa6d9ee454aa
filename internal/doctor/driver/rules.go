// Package driver is the room of the driver: that it is there, its two halves, and what the build needs of it.
package driver

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"KMD003"}, Needs: "the kernels of dkms, and the one that runs", Find: otherKernel},
	{
		Checks: []string{"DRV005", "DRV006"},
		Needs:  "the driver, or what nvidia-smi reports, and torch's CUDA", Find: driverFloor,
	},
	{Checks: []string{"DRV005"}, Needs: "a driver older than every build", Find: ancientDriver},
	{
		Checks: []string{"DRV004"},
		Needs:  "the versions of the driver's library and of its kernel module", Find: driverHalves,
	},
	{Checks: []string{"DRV001", "KMD001", "HW012"}, Needs: "the kernel driver bound to the GPU", Find: boundDriver},
	{Checks: []string{"DRV001", "HW001", "DRV025"}, Needs: "what is there of GPU, driver and torch", Find: nothingThere},
	{Checks: []string{"DRV015"}, Needs: "nvidia-smi working while torch sees nothing", Find: silentFailure},
	{Checks: []string{"DRV010"}, Needs: "collect_env without a driver while CUDA works", Find: renamedFields},
	{Checks: []string{"DRV006"}, Needs: "the CUDA that nvidia-smi shows, and torch's", After: newerDriver},
	{Checks: []string{"DRV001", "CTR001", "CTR014"}, Needs: "a GPU on the bus that no driver serves", Find: unserved},
	{Checks: []string{"DRV001"}, Needs: "a driver whose kernel module is not loaded", Find: notLoaded},
	{Checks: []string{"PY002"}, Needs: "a GPU and no torch", Find: noTorch},
	{Checks: []string{"DRV005"}, Needs: "the driver, and the CUDA that somebody has", Find: saidFloor},
}
