// Package places is the room of the system: WSL, a Mac, a Jetson, a notebook service, an old C library.
package places

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"MPS005"}, Needs: "a Mac, and a message about CUDA", Find: macCUDA},
	{Checks: []string{"MPS001"}, Needs: "macOS, torch, and what torch says of MPS", Find: macTooOld},
	{Checks: []string{"ARC014"}, Needs: "a Jetson", Find: jetson},
	{Checks: []string{"HW001"}, Needs: "a notebook service, and no GPU at all", Find: noRuntimeGPU},
	{Checks: []string{"CTR011"}, Needs: "error 803 or 804, and a container or a compatibility library", Find: compat},
	{Checks: []string{"CTR014"}, Needs: "WSL and a driver's message", Find: wsl},
	{Checks: []string{"CTR020"}, Needs: "the container runtime's configuration", Find: noCgroups},
	{
		Checks: []string{"CTR009", "CTR022"},
		Needs:  "NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES", Find: containerVariables,
	},
	{Checks: []string{"MPS002"}, Needs: "a Mac, its architecture and Python's", Find: apple},
	{Checks: []string{"PY024"}, Needs: "the C library and what failed", Find: oldLibc},
	{Checks: []string{"ROC004"}, Needs: "an AMD GPU that the kernel's compute driver refuses", Find: kfd},
}
