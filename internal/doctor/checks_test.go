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
}
