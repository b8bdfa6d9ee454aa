// Package access is the room of who may use the GPU: variables, permissions, schedulers, jobs.
package access

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC001"}, Needs: "CUDA_VISIBLE_DEVICES and the list of GPUs", Find: visibleDevices},
	{Checks: []string{"ACC011"}, Needs: "the word that Slurm writes into it", Find: noDevFiles},
	{Checks: []string{"ACC008", "ROC003"}, Needs: "a permission refused", Find: permission},
	{Checks: []string{"MG001"}, Needs: "shared memory and NCCL", Find: sharedMemory},
	{Checks: []string{"MG006"}, Needs: "peer access, and GPUs that have none", Find: noPeers},
	{
		Checks: []string{"ACC012"},
		Needs:  "a worker that ended, on a system that starts processes anew", Find: spawnedWorker,
	},
	{
		Checks: []string{"MG009"},
		Needs:  "the interface that NCCL chose, and a connection that failed", Find: innerInterface,
	},
	{Checks: []string{"HW002"}, Needs: "several hardware messages", Find: hardware},
	{Checks: []string{"DRV014"}, Needs: "what lspci and nvidia-smi list", Find: missingGPU},
	{
		Checks: []string{"ACC001"},
		Needs:  "the GPUs of CUDA_VISIBLE_DEVICES and the processes started on them", Find: moreProcesses,
	},
	{Checks: []string{"ACC001"}, Needs: "an index set in a script", Find: lateIndex},
	{Checks: []string{"ACC003"}, Needs: "the order of `import torch` and of the variable's setting", Find: lateVariable},
	{Checks: []string{"ACC002"}, Needs: "the number of a GPU that is asked for, and how many there are", Find: tooMany},
	{
		Checks: []string{"ACC002"},
		Needs:  "the number of a GPU that is asked for, and how many CUDA_VISIBLE_DEVICES leaves", Find: tooManyLeft,
	},
	{Checks: []string{"ACC001"}, Needs: "how many GPUs torch counts, and CUDA_VISIBLE_DEVICES", Find: fewerCounted},
	{Checks: []string{"ACC011"}, Needs: "a cluster, and a node that has no nvidia-smi", Find: loginNode},
	{Checks: []string{"ACC011"}, Needs: "a job of Slurm, and what was asked for it", Find: plainJob},
	{Checks: []string{"ACC011"}, Needs: "GPUs per task, and what each task sees", Find: perTask},
}
