package doctor

// ruledMore are the second half of [ruled].
var ruledMore = []struct{ check, sick, healthy string }{
	{
		"TK004",
		"nvcc: release 11.5, V11.5.119\ntorch==2.7.0+cu128\nERROR: Failed building wheel for flash-attn",
		"nvcc: release 12.8, V12.8.93\ntorch==2.7.0+cu128\nSuccessfully built flash-attn",
	},
	{
		"PY012",
		"ERROR: Could not find a version that satisfies the requirement torch==2.4.1 (from versions: none)\nPython 3.13.0",
		"Python 3.13.0",
	},
	{
		"IDX002",
		"pip install torch --index-url https://download.pytorch.org/whl/cu125\nERROR: No matching distribution found for torch",
		"pip install torch --index-url https://download.pytorch.org/whl/cu126",
	},
	{
		"IDX001",
		"uv: hint: `numpy` was found on https://download.pytorch.org/whl/cu128, but not at the requested version (numpy>=2)",
		"uv: Resolved 3 packages in 1 ms",
	},
	{
		"CTR015", "WSL2 Ubuntu\nlibcuda.so.1: cannot open shared object file\n>>> torch.cuda.is_available()\nTrue",
		"WSL2 Ubuntu\n>>> torch.cuda.is_available()\nTrue",
	},
	{
		"CTR014", "WSL2 Ubuntu\nlibcuda.so.1: cannot open shared object file",
		"WSL2 Ubuntu\ntorch.cuda.is_available() True",
	},
	{"CTR020", "no-cgroups = true", "no-cgroups = false"},
	{
		"CTR018", "services:\n  a:\n    image: vllm/vllm-openai\n",
		"services:\n  a:\n    image: vllm/vllm-openai\n    gpus: all\n",
	},
	{
		"CTR003", "services:\n  a:\n    image: x\n    runtime: nvidia\n\nRuntimes: runc",
		"services:\n  a:\n    image: x\n    runtime: nvidia\n\nRuntimes: nvidia runc",
	},
	{"CTR022", "NVIDIA_VISIBLE_DEVICES=void", "NVIDIA_VISIBLE_DEVICES=all"},
	{
		"LD011", "faster-whisper: Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file",
		"faster-whisper: Detected language 'en' with probability 0.98",
	},
	{
		"ACC012", "Windows 11\nRuntimeError: DataLoader worker (pid(s) 4120) exited unexpectedly",
		"Windows 11\nDataLoader worker (pid 4120) started",
	},
	{
		"MG009", "h1: [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>\nNCCL WARN socketStartConnect: Connect to 172.17.0.1<41231> failed\nncclSystemError",
		"h1: [0] NCCL INFO Bootstrap : Using eth0:10.0.0.4<0>\nh1: [0] NCCL INFO comm 0x7f Init COMPLETE",
	},
	{
		"PERF001", "torch.cuda.is_available() True and the GPU is at 0 % in training",
		"torch.cuda.is_available() True and the GPU is at 97 % in training",
	},
	{
		"ACC011", "$ srun --pty bash\n$ nvidia-smi\nNo devices were found",
		"$ srun --gres=gpu:1 --pty bash\n$ nvidia-smi -L\nGPU 0: NVIDIA A40 (UUID: GPU-1)",
	},
	{
		"ACC002", "CUDA_VISIBLE_DEVICES=3\nRuntimeError: CUDA error: invalid device ordinal",
		"CUDA_VISIBLE_DEVICES=3\ntorch.cuda.device_count() = 1",
	},
	{
		"ACC006", "|  No MIG devices found  |\ntorch.cuda.is_available() False",
		"GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 3g.40gb     Device  0: (UUID: MIG-1)",
	},
	{"ACC022", "OSError: [WinError 1455] The paging file is too small for this operation to complete", "Windows 11, pagefile.sys 32 GB"},
	{"CTR027", "0/6 nodes are available: 6 Insufficient nvidia.com/gpu.", "Successfully assigned default/train to gpu-node-1"},
	{"CTR009", "NVIDIA_DRIVER_CAPABILITIES=utility", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
	{
		"CTR001", "docker: RuntimeError: Found no NVIDIA driver on your system.",
		"docker: torch.cuda.is_available() True",
	},
	{
		"MPS002", "Apple M1 Pro\nPython platform: macOS-13.4-x86_64-i386-64bit",
		"Apple M1 Pro\nPython platform: macOS-13.4-arm64-arm-64bit",
	},
	{
		"PY024",
		"glibc 2.17\nERROR: torch-2.7.0-cp311-cp311-manylinux_2_28_x86_64.whl is not a supported wheel on this platform.",
		"glibc 2.35",
	},
	{"ROC004", "kfd kfd: amdgpu: PITCAIRN  not supported in kfd", "kfd kfd: amdgpu: added device 1002:744c"},
	{
		"ACC001", "CUDA_VISIBLE_DEVICES=-1\ntorch.cuda.is_available() False",
		"CUDA_VISIBLE_DEVICES=0\ntorch.cuda.is_available() True",
	},
	{
		"ACC010",
		"CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.00 GiB total capacity; 0.50 GiB already allocated; 10.00 MiB free; 0.60 GiB reserved in total by PyTorch)",
		"memory allocated 0.5 GiB",
	},
	{
		"ACC009",
		"CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 10.00 GiB total capacity; 9.00 GiB already allocated; 0.20 GiB free; 9.50 GiB reserved in total by PyTorch)",
		"memory allocated 9.0 GiB",
	},
	{
		"ACC004", "RuntimeError: CUDA error: out of memory\n| N/A   35C    P0    42W / 300W |      3MiB / 32510MiB |      0%   E. Process |",
		"| N/A   35C    P0    42W / 300W |      3MiB / 32510MiB |      0%      Default |",
	},
	{
		"KMD003", "$ dkms status\nnvidia/535.183.01, 5.15.0-122-generic, x86_64: installed\n$ uname -r\n5.15.0-124-generic",
		"$ dkms status\nnvidia/535.183.01, 5.15.0-122-generic, x86_64: installed\n$ uname -r\n5.15.0-122-generic",
	},
	{
		"LD012", "FAIL : Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object file",
		"Available providers: CUDAExecutionProvider",
	},
	{
		"CTR002", "ii  nvidia-container-toolkit  1.17.3-1\ndocker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].",
		"ii  nvidia-container-toolkit  1.17.3-1",
	},
	{
		"PY020", "BNB_CUDA_VERSION=124 environment variable detected\nCould not find the bitsandbytes CUDA binary at PosixPath('x')",
		"WARNING: BNB_CUDA_VERSION=124 environment variable detected; loading libbitsandbytes_cuda124.so.",
	},
	{
		"ACC007", "A100-SXM4-80GB\nCUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 9.75 GiB of which 120.06 MiB is free.",
		"A100-SXM4-80GB, memory allocated 9.0 GiB",
	},
	{
		"ACC006",
		"A100 with MIG 1g.5gb instances, MIG mode enabled: fails\nRuntimeError: CUDA error: invalid device ordinal",
		"GPU 0: NVIDIA A100-SXM4-40GB",
	},
	{
		"ROC003", "AMD Radeon RX 7900 XTX\nUnable to open /dev/kfd read-write: Permission denied",
		"AMD Radeon RX 7900 XTX",
	},
	{"MG001", "NCCL WARN Call to shm_open failed : Permission denied", "NCCL INFO shm transport"},
	{"PY032", "torch==2.8.0.dev20250601+cu128\ntorchvision==0.22.0", "torch==2.7.0\ntorchvision==0.22.0"},
	{
		"XPU003",
		"00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 620\nAssertionError: Torch not compiled with XPU enabled",
		"00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 620",
	},
	{
		"DRV014",
		"01:00.0 3D controller: NVIDIA Corporation GA102GL [A40] (rev a1)\n41:00.0 3D controller: NVIDIA Corporation GA102GL [A40] (rev a1)\nGPU 0: NVIDIA A40 (UUID: GPU-1)",
		"01:00.0 3D controller: NVIDIA Corporation GA102GL [A40] (rev a1)\n02:00.0 VGA compatible controller: NVIDIA Corporation GK208B [GeForce GT 710] (rev a1)\nGPU 0: NVIDIA A40 (UUID: GPU-1)",
	},
	{
		"KMD008",
		"NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2330)\nNVRM: installed in this system is not supported by the\nNVRM: NVIDIA 570.86.15 driver release.",
		"NVRM: GPU 0000:01:00.0 (PCI ID: 10de:2330)\nNVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.86.15",
	},
	{
		"DRV004", "nvidia-utils 590.48.01-1\n$ cat /sys/module/nvidia/version\n590.44.01",
		"nvidia-utils 590.48.01-1\n$ cat /sys/module/nvidia/version\n590.48.01",
	},
	{
		"DRV005", "torch 2.9.1: torch.cuda.is_available() False\nnvidia driver 470.256",
		"torch 2.9.1: torch.cuda.is_available() True\nnvidia driver 535.183.01",
	},
	{
		"ARC001",
		"failed to run cuBLAS routine cublasSgemm_v2: CUBLAS_STATUS_EXECUTION_FAILED\ncudatoolkit 9.0, tensorflow 1.14, RTX 3070",
		"cudatoolkit 11.8, tensorflow 2.12, RTX 3070: cublasSgemm_v2 takes 2 ms",
	},
	{
		"CODE010", "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR\nGTX 1080 Ti, torch 2.2.0+cu121",
		"torch.fft.rfft(x) on a GTX 1080 Ti, torch 2.2.0+cu121: fine",
	},
	{"CODE012", "RuntimeError: Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same",
		"Input type (torch.cuda.FloatTensor), weight type (torch.cuda.FloatTensor)"},
	{
		"MPS005", "MacBook Pro M2, macOS 15.3\nAssertionError: Torch not compiled with CUDA enabled",
		"MacBook Pro M2, macOS 15.3\ndevice: mps",
	},
	{
		"MPS001", "macOS 12.7, torch 2.5.1\nRuntimeError: The MPS backend is supported on MacOS 12.3+.",
		"macOS 14.1, torch 2.5.1: mps works",
	},
	{
		"CTR006", "docker exec trainer nvidia-smi\nFailed to initialize NVML: Unknown Error",
		"docker exec trainer nvidia-smi\n| NVIDIA-SMI 580.95.05",
	},
	{
		"CTR026", "docker run --gpus all nvidia/cuda nvidia-smi fails inside an unprivileged LXD container",
		"docker run --gpus all nvidia/cuda nvidia-smi works inside an LXD container",
	},
	{
		"LD018", "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
		"libGL.so.1 => /usr/lib/x86_64-linux-gnu/libGL.so.1",
	},
	{
		"PY006", "pip install -r requirements.txt replaced torch 2.10.0+cu130 -> torch 2.9.1",
		"torch 2.9.1+cu128 -> torch 2.10.0+cu130, all is well",
	},
	{
		"ARC015",
		"ValueError: Requested float16 compute type, but the target device or backend do not support efficient float16 computation.",
		"compute_type float16 on an L4",
	},
	{
		"PERF019", "whisper --device cpu\nUserWarning: FP16 is not supported on CPU; using FP32 instead",
		"whisper --device cpu",
	},
	{"PY010", "ImportError: libcudnn.so.8: cannot open shared object file", "libcudnn.so.8 was found"},
	{
		"ACC002", "nvidia-smi -L\nGPU 0: NVIDIA A40\nGPU 1: NVIDIA A40\ntorchrun --nproc_per_node=4 x.py\nRuntimeError: CUDA error: invalid device ordinal",
		"nvidia-smi -L\nGPU 0: NVIDIA A40\nGPU 1: NVIDIA A40\ntorchrun --nproc_per_node=2 x.py",
	},
	{"ACC011", "salloc: Granted job allocation 12\nbash: nvidia-smi: command not found", "salloc: Granted job allocation 12"},
	{"GPU001", "torch.cuda.is_available() returns False", "torch.cuda.is_available() returns True"},
	{
		"PY012",
		"Python 3.11, torch==1.13.1\nERROR: Could not find a version that satisfies the requirement torch==1.13.1 (from versions: 2.0.0, 2.0.1)",
		"Python 3.10, torch==1.13.1: installed",
	},
	{
		"MG006", "2x RTX 4090\nNCCL WARN Cuda failure 'peer access is not supported between these two devices'",
		"2x RTX 4090\nNCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct",
	},
	{
		"HW002", "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.",
		"NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05",
	},
}
