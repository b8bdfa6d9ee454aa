package doctor

import (
	"slices"
	"testing"

	"envfix/internal/doctor/know"
)

func checksOf(r Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.Check)
	}
	return out
}

// Where a check follows from a message, the message's example is a sick machine
// and its counter-example a healthy one.
func TestMessageChecks(t *testing.T) {
	for _, m := range know.Embedded().Messages {
		sick, _ := examine(t, m.Example)
		if got := checksOf(sick); !slices.Contains(got, m.Checks[0]) {
			t.Errorf("%s: its example gives %v, not %s", m.ID, got, m.Checks[0])
		}
		healthy, _ := examine(t, m.Counter)
		for _, f := range healthy.Findings {
			if f.Severity == know.Error && f.Check == m.Checks[0] {
				t.Errorf("%s: its counter-example gives %s: %s", m.ID, f.Check, f.Text)
			}
		}
	}
}

// ruled are the checks that look at facts: text of a sick machine and of a
// healthy one that differs in the one fact that matters.
var ruled = []struct{ check, sick, healthy string }{
	{
		"XPU001", "torch 2.6.0+xpu\nAssertionError: Torch not compiled with CUDA enabled",
		"torch 2.6.0+xpu\nthe model trains on xpu",
	},
	{
		"DRV021", "Windows 11, docker run --gpus all: Error 500: named symbol not found",
		"Windows 11, docker run --gpus all: torch.cuda.is_available() True",
	},
	{
		"TK002", "export CUDA_HOME=$CUDA_HOME:/usr/local/cuda-11.8\nlibNVVM cannot be found",
		"export CUDA_HOME=/usr/local/cuda-11.8\nthe kernel is compiled",
	},
	{
		"HW001", "inference on a CPU-only machine fails\nCUDA failure 100: no CUDA-capable device is detected ; GPU=0",
		"inference on a CPU-only machine, and it works",
	},
	{
		"CTR004", "GeForce GTX 580\nnvidia-container-cli: requirement error: unsatisfied condition: cuda>=10.2, please update your driver",
		"GeForce GTX 580\nthe container runs",
	},
	{
		"PY023", "File \"C:\\venv\\lib\\site-packages\\cupy\\x.py\", line 13, in <module>\nImportError: DLL load failed while importing runtime: not found",
		"File \"C:\\venv\\lib\\site-packages\\cupy\\x.py\", line 13, in <module>\nthe runtime is loaded, torch.cuda.is_available() True",
	},
	{"PY001", "PyTorch version: 2.7.1+cpu\nGPU 0: NVIDIA A10", "PyTorch version: 2.7.1+cu128\nGPU 0: NVIDIA A10"},
	{
		"PY025", "[conda] pytorch 2.4.1 cpu_py311_0 conda-forge",
		"[conda] pytorch 2.4.1 py3.11_cuda12.1_cudnn9.1.0_0 pytorch",
	},
	{
		"IDX003",
		"PyTorch version: 2.3.1\nCUDA used to build PyTorch: None\nPython platform: Linux-6.5-aarch64-with-glibc2.35",
		"PyTorch version: 2.3.1\nCUDA used to build PyTorch: 12.1\nPython platform: Linux-6.5-x86_64-with-glibc2.35",
	},
	{
		"PY010", "Jetson Nano, Jetpack 4.6\nOSError: libcurand.so.10: cannot open shared object file: No such file or directory",
		"Jetson Nano, Jetpack 4.6\nimport torch; torch.cuda.is_available() True",
	},
	{
		"PY035", "pip install llama-cpp-python\nfrom llama_cpp import Llama\nwhy does it not use the GPU?",
		"pip install llama-cpp-python\nfrom llama_cpp import Llama\nit uses the GPU",
	},
	{
		"PY030", "File \"/opt/v/lib/python3.8/site-packages/jaxlib/xla_client.py\", line 148\nGPU backend does not work in fit()",
		"File \"/opt/v/lib/python3.8/site-packages/jaxlib/xla_client.py\", line 148\nthe GPU backend works in fit()",
	},
	{
		"PY031", "tensorflow: Could not load dynamic library 'libcudnn.so.7'; dlerror: libcudnn.so.7: cannot open shared object file",
		"tensorflow: Successfully opened dynamic library libcudnn.so.7",
	},
	{
		"HW022", "RTX 5090, nvidia-driver-570\nnvidia-smi: No devices were found",
		"RTX 5090, nvidia-driver-570-open\nnvidia-smi: No devices were found",
	},
	{
		"KMD008", "NVIDIA Open GPU Kernel Modules Version 525.60.11, RTX 3060 Ti\nNVRM: GPU 0000:05:00.0: RmInitAdapter failed! (0x62:0xffff:1622)",
		"NVIDIA Open GPU Kernel Modules Version 525.60.11, RTX 3060 Ti",
	},
	{
		"ROC003", "singularity: File \"/opt/dist-packages/vllm-0.6.6.rocm624-py3.10.egg/vllm/api.py\"\nRuntimeError: Failed to infer device type",
		"singularity: File \"/opt/dist-packages/vllm-0.6.6-py3.10.egg/vllm/api.py\"\nRuntimeError: Failed to infer device type",
	},
	{
		"PY011", ">>> torch.__version__\n'2.6.0'\n  Successfully uninstalled torch-2.8.0",
		">>> torch.__version__\n'2.6.0'",
	},
	{
		"TK003", "FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime\nMissingCUDAException: CUDA_HOME does not exist",
		"FROM pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel\nCuda compilation tools, release 12.1, V12.1.105",
	},
	{
		"CTR013", "WSL2: torch.cuda.is_available() False\nlibcuda.so.1 -> libcuda.so.535.183.01",
		"WSL2: torch.cuda.is_available() True\nlibcuda.so.1 -> /usr/lib/wsl/drivers/x/libcuda.so.1.1",
	},
	{"ARC014", "Jetson Orin Nano\ntorch.cuda.is_available() False", "Jetson Orin Nano\ntorch.cuda.is_available() True"},
	{
		"PY017", "PyTorch version: 2.5.1+rocm6.2\nGPU 0: NVIDIA GeForce RTX 4090",
		"PyTorch version: 2.5.1+cu124\nGPU 0: NVIDIA GeForce RTX 4090",
	},
	{
		"HW001",
		"00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 620\nRuntimeError: Found no NVIDIA driver on your system.",
		"00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 620",
	},
	{
		"ROC001", "PyTorch version: 2.1.0+rocm5.6\nAMD Radeon RX 6700 XT gfx1031",
		"PyTorch version: 2.1.0+rocm5.6\nAMD Radeon RX 6900 XT gfx1030",
	},
	{
		"ARC002", "PyTorch version: 2.6.0+cu124\nGPU 0: NVIDIA GeForce RTX 5090",
		"PyTorch version: 2.7.0+cu128\nGPU 0: NVIDIA GeForce RTX 5090",
	},
	{
		"ARC005", "PyTorch version: 2.9.1+cu130\nGPU 0: Tesla V100-SXM2-32GB",
		"PyTorch version: 2.9.1+cu126\nGPU 0: Tesla V100-SXM2-32GB",
	},
	{
		"ARC013", "PyTorch version: 2.9.1+cu130\nGPU 0: Tesla V100-SXM2-32GB\nGPU 1: NVIDIA A100-SXM4-40GB",
		"PyTorch version: 2.9.1+cu126\nGPU 0: Tesla V100-SXM2-32GB\nGPU 1: NVIDIA A100-SXM4-40GB",
	},
	{
		"TK011",
		"CUDA error: no kernel image is available for execution on the device\ntorch==2.7.0+cu128\nGPU 0: NVIDIA GeForce RTX 5090\nflash_attn==2.7.0",
		"torch==2.7.0+cu128\nGPU 0: NVIDIA GeForce RTX 5090\nflash_attn==2.7.0",
	},
	{
		"ARC001",
		"CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling cublasSgemm\nRTX 4090, torch 1.12.1+cu113",
		"RTX 4090, torch 2.1.2+cu118: works",
	},
	{
		"HW013", "Quadro M2200, nvidia-driver-570-open: No devices were found",
		"Quadro RTX 4000, nvidia-driver-570-open: nvidia-smi works",
	},
	{
		"HW014", "GPU 0: NVIDIA GeForce GTX 1080\nDriver Version: 595.45.04",
		"GPU 0: NVIDIA GeForce GTX 1080\nDriver Version: 580.95.05",
	},
	{
		"DRV005", "PyTorch version: 2.9.1+cu130\nDriver Version: 550.54.15",
		"PyTorch version: 2.9.1+cu130\nDriver Version: 580.95.05",
	},
	{
		"DRV006", "PyTorch version: 2.9.1+cu128\nCUDA Version: 12.2\nIs CUDA available: True",
		"PyTorch version: 2.9.1+cu128\nCUDA Version: 12.8\nIs CUDA available: True",
	},
	{
		"DRV004",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.154.05\nii  libnvidia-compute-535:amd64  535.161.07-0ubuntu1",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.154.05\nii  libnvidia-compute-535:amd64  535.154.05-0ubuntu1",
	},
	{
		"DRV011", "after a reboot: Failed to initialize NVML: Driver/library version mismatch\n" +
			"NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06\nls: /usr/lib/libcuda.so.570.124.04",
		"after a reboot all is well\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06\nls: /usr/lib/libcuda.so.570.124.06",
	},
	{
		"KMD001",
		"01:00.0 VGA compatible controller: NVIDIA Corporation AD102\n\tKernel driver in use: nouveau",
		"01:00.0 VGA compatible controller: NVIDIA Corporation AD102\n\tKernel driver in use: nvidia",
	},
	{
		"HW012", "01:00.0 3D controller: NVIDIA Corporation GA100\n\tKernel driver in use: vfio-pci",
		"01:00.0 3D controller: NVIDIA Corporation GA100\n\tKernel driver in use: nvidia",
	},
	{"DRV025", "RuntimeError: Found no NVIDIA driver on your system.\nbash: nvidia-smi: command not found", "torch.cuda.is_available() True"},
	{"CTR010", "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get update && apt-get install -y nvidia-driver-550", "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get update && apt-get install -y python3"},
	{"ACC008", "Failed to initialize NVML: Insufficient Permissions", "torch.cuda.is_available() True"},
	{"DRV001", "RuntimeError: Found no NVIDIA driver on your system.", "torch.cuda.is_available() True"},
	{
		"DRV010", "Nvidia driver version: Could not collect\nIs CUDA available: True",
		"Nvidia driver version: 595.45.04\nIs CUDA available: True",
	},
	{
		"DRV015", "PyTorch version: 2.9.1+cu128\nIs CUDA available: False\nNvidia driver version: 580.95.05",
		"PyTorch version: 2.9.1+cu128\nIs CUDA available: True\nNvidia driver version: 580.95.05",
	},
	{"DRV008", "LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs", "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu"},
	{
		"CTR011", "LD_LIBRARY_PATH=/usr/local/cuda/compat\nRuntimeError: No CUDA GPUs are available",
		"LD_LIBRARY_PATH=/usr/local/cuda/compat\ntorch.cuda.is_available() True",
	},
	{
		"LD001", "libnvJitLink.so.12 => /usr/local/cuda-12.1/lib64/libnvJitLink.so.12",
		"libnvJitLink.so.12 => /opt/env/lib/python3.12/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12",
	},
	{"LD003", "nvidia-nccl-cu11==2.14.3\nnvidia-nccl-cu12==2.27.3", "nvidia-nccl-cu12==2.27.3"},
	{
		"REL001", "PyTorch version: 2.13.0.dev20260530+cu132\nCUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
		"PyTorch version: 2.13.0+cu130",
	},
	{"PY007", "torch==2.4.0\ntorchvision==0.18.1", "torch==2.4.0\ntorchvision==0.19.0"},
	{
		"PY005", "[conda] pytorch 1.12.1 py3.9_cuda11.3_cudnn8.3.2_0 pytorch\n[pip3] torch==2.0.1",
		"[conda] torch 2.0.1 pypi_0 pypi\n[pip3] torch==2.0.1",
	},
	{"PY011", "PyTorch version: 2.6.0\n[pip3] torch==2.8.0", "PyTorch version: 2.8.0\n[pip3] torch==2.8.0"},
	{
		"PY021",
		"jupyter: sys.executable\n'/opt/conda/bin/python3'\nsys.executable in the shell: /home/u/env/bin/python",
		"sys.executable: /home/u/env/bin/python\nsys.executable: /home/u/env/bin/python3.11",
	},
	{
		"PY011",
		">>> torch.__file__\n'/home/u/.local/lib/python3.10/site-packages/torch/__init__.py'\n$ pip show torch\nName: torch\nVersion: 2.6.0\nLocation: /home/u/env/lib/python3.10/site-packages",
		">>> torch.__file__\n'/home/u/env/lib/python3.10/site-packages/torch/__init__.py'\nName: torch\nVersion: 2.6.0\nLocation: /home/u/env/lib/python3.10/site-packages",
	},
	{
		"TK019", "pip install flash-attn\nModuleNotFoundError: No module named 'torch'\n[end of output]",
		"pip install flash-attn\nSuccessfully installed flash-attn-2.8.3",
	},
	{
		"ACC003", "import torch\nos.environ[\"CUDA_VISIBLE_DEVICES\"] = \"2\"",
		"os.environ[\"CUDA_VISIBLE_DEVICES\"] = \"2\"\nimport torch",
	},
	{"PY008", "torch==2.2.2\nnumpy==2.1.0", "torch==2.2.2\nnumpy==1.26.4"},
	{
		"PY019",
		"torch==2.4.0+cu121\nxformers==0.0.33\nImportError: x.so: undefined symbol: _ZN3c105ErrorC2E",
		"torch==2.4.0+cu121\nxformers==0.0.27.post2",
	},
	{
		"TK013", "FROM image pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime\nfatal error: cuda_runtime.h: No such file or directory",
		"in the image pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel the extension builds",
	},
	{
		"TK003", "FROM image pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime\nCUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
		"CUDA_HOME=/usr/local/cuda, and the extension builds",
	},
	{
		"CODE016", "ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8).",
		"attention heads 28, tensor parallel size 4",
	},
	{
		"ROC002", "torch.cuda.is_available() -> False\ntorch.version.hip -> 6.3.42131",
		"torch.cuda.is_available() -> True\ntorch.version.hip -> 6.3.42131",
	},
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
