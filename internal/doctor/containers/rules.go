// Package containers is the room of how a container is started and built, as text describes it.
package containers

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"CTR008"}, Needs: "what the CDI descriptions name, and what is there", Find: staleCDI},
	{
		Checks: []string{"CTR001", "CTR018", "CTR022", "CTR024"},
		Needs:  "a compose file, a pod or a command line that asks for no GPU", After: asksForNone,
	},
	{Checks: []string{"CTR018"}, Needs: "a reservation of devices without the capability gpu", Find: noCapability},
	{
		Checks: []string{"CTR002"},
		Needs:  "a Docker that refuses GPUs, and the toolkit that is installed", Find: toolkitUnread,
	},
	{
		Checks: []string{"HW001"},
		Needs:  "a Docker that refuses GPUs, and a machine without NVIDIA's", Find: nothingToGive,
	},
	{
		Checks: []string{"CTR003", "CTR002"},
		Needs:  "the runtimes that docker knows, and what asks for NVIDIA's", Find: runtimes,
	},
	{Checks: []string{"CTR022"}, Needs: "a pod with a GPU and without a runtime class", Find: podRuntime},
	{Checks: []string{"PY001", "IDX003", "CTR010", "CTR001"}, Needs: "a Dockerfile", After: dockerfile},
	{Checks: []string{"CTR006"}, Needs: "a container that had its GPU", Find: lostGPU},
	{Checks: []string{"CTR026"}, Needs: "a container in LXC or LXD", Find: nestedContainer},
	{Checks: []string{"CTR001"}, Needs: "podman, which starts the container", After: podman},
	{Checks: []string{"TK013", "TK003"}, Needs: "an image without what compiles", After: runtimeImage},
	{Checks: []string{"CTR001"}, Needs: "nvidia-smi that works within the container", Find: smiInside},
	{Checks: []string{"DRV021"}, Needs: "error 500 in a container on Windows", Find: unmappedLibrary},
}
