package doctor

import (
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// shellCases are of variables and limits of a shell.
var shellCases = []liveCase{
	{"a UUID of another machine", variable("CUDA_VISIBLE_DEVICES", "GPU-deadbeef-0000", bashrc), "ACC001", []string{"GPU-deadbeef-0000", "~/.bashrc:7"}, false},
	{"a MIG instance that is not there", variable("CUDA_VISIBLE_DEVICES", "MIG-xyz"), "ACC001", []string{"MIG-xyz"}, false},
	{"the beginning of a UUID serves", variable("CUDA_VISIBLE_DEVICES", "GPU-11111111"), "", nil, false},
	{"set by conda's activation", variable("CUDA_VISIBLE_DEVICES", "", machine.Origin{Kind: machine.OriginConda, Name: "ml", File: "/c/envs/ml/etc/conda/activate.d/gpu.sh", Line: 2}), "ACC001", []string{"activate.d/gpu.sh:2"}, false},
	{"set by Python's start", func(c *read.Case) {
		c.Files.Variables = []machine.Variable{{Name: "CUDA_VISIBLE_DEVICES", Value: "-1", AtStart: true, Origins: []machine.Origin{{Kind: machine.OriginPython, File: site + "/usercustomize.py", Line: 3}}}}
	}, "ACC001", []string{"usercustomize.py:3", "every Python"}, false},
	{"an option of another torch", func(c *read.Case) {
		variable("PYTORCH_ALLOC_CONF", "max_split_size:128")(c)
		c.Files.Options = []machine.BadOption{{Variable: "PYTORCH_ALLOC_CONF", Option: "max_split_size"}}
	}, "ACC023", []string{"max_split_size"}, false},
	{"PYTHONHOME in a profile", variable("PYTHONHOME", "/usr", bashrc), "PY044", []string{"PYTHONHOME", "~/.bashrc:7", "unset PYTHONHOME"}, false},
	{"CUDA_HOME of a toolkit that was removed", func(c *read.Case) {
		variable("CUDA_HOME", "/usr/local/cuda-11.8")(c)
		c.Files.Notes = []string{"CUDA_HOME is not there"}
	}, "LD005", []string{"/usr/local/cuda-11.8"}, true},
	{"a malformed list of architectures", variable("TORCH_CUDA_ARCH_LIST", "sm_90"), "TK022", []string{"sm_90"}, true},
	{"a list of generations", variable("TORCH_CUDA_ARCH_LIST", "Ampere;8.9+PTX 9.0a"), "", nil, false},
	{"a word that NCCL does not know", variable("NCCL_P2P_LEVEL", "PBX", bashrc), "ACC025", []string{"PXB", "~/.bashrc:7", "no effect"}, true},
	{"a word that NCCL knows", variable("NCCL_P2P_LEVEL", "PXB"), "", nil, false},
	{"a word in another spelling", variable("NCCL_DEBUG", "Info"), "", nil, false},
	{"an order of devices that CUDA does not know", variable("CUDA_DEVICE_ORDER", "PCI_BUS"), "ACC025", []string{"CUDA does not start", "`export CUDA_DEVICE_ORDER=PCI_BUS_ID`"}, false},
	// what an H200 on driver 580.159.04 did with torch 2.11.0 (27 November 2026)
	{"an index with something behind it", variable("CUDA_VISIBLE_DEVICES", "0x0"), "", nil, false},
	{"a range, of which CUDA reads the first", variable("CUDA_VISIBLE_DEVICES", "0-1"), "", nil, false},
	{"an index in quotes", variable("CUDA_VISIBLE_DEVICES", "'0'"), "ACC001", []string{"names no GPU"}, false},
	{"a UUID without what it begins with", variable("CUDA_VISIBLE_DEVICES", "f15a61ee-3ad4-c8f3-98c3-405fff35fc91"), "ACC001", []string{"names no GPU"}, false},
	{"the beginning of a UUID alone", variable("CUDA_VISIBLE_DEVICES", "GPU-"), "ACC001", []string{"no GPU here has that UUID"}, false},
	{"a runtime's variable beside a GPU that answers", variable("NVIDIA_VISIBLE_DEVICES", "none"), "", nil, false},
	{"all code from PTX", variable("CUDA_FORCE_JIT", "1"), "ARC005", []string{"no PTX", "unset CUDA_FORCE_JIT"}, false},
	{"an assembler of a toolkit that was removed", func(c *read.Case) {
		variable("TRITON_PTXAS_PATH", "/usr/local/cuda-11.8/bin/ptxas")(c)
		c.Files.Notes = []string{"TRITON_PTXAS_PATH is not there"}
	}, "LD005", []string{"torch.compile", "unset TRITON_PTXAS_PATH"}, true},
	{"a limit on addresses", func(c *read.Case) {
		c.Machine.GPUs[0].MemoryBytes, c.Around = 24<<30, &machine.Around{Addresses: 11 << 30}
	}, "ACC014", []string{"CUDA does not start within that", "ulimit -v"}, false},
	{"a limit on the stack", func(c *read.Case) { c.Around = &machine.Around{Stack: 64 << 10} }, "ACC014", []string{"Python does not start", "ulimit -s"}, false},
	{"a limit on addresses that sufficed", func(c *read.Case) {
		c.Machine.GPUs[0].MemoryBytes, c.Around = 140<<30, &machine.Around{Addresses: 20_000_000 << 10}
	}, "ACC014", []string{"may reserve"}, true},
	{"a limit on open files", func(c *read.Case) { c.Around = &machine.Around{Files: 256} }, "ACC024", []string{"256 files", "LimitNOFILE"}, true},
	{"a limit on locked memory beside InfiniBand", func(c *read.Case) { c.Around = &machine.Around{Locked: 8 << 20} }, "MG011", []string{"memlock"}, true},
	{"shared memory of a megabyte", func(c *read.Case) {
		c.Around = &machine.Around{SharedMem: &machine.SharedMem{Size: 1 << 20, Free: 1 << 20}}
	}, "MG001", []string{"1 MiB", "remount"}, true},
}
