package doctor

import (
	"strings"
	"testing"
)

// What is advised first is open to the person: it is neither done already, nor refuted by
// what the paste shows, nor for a torch that somebody else put into an image.
func TestAdviceIsOpenToThePerson(t *testing.T) {
	const old = "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.\n"
	for _, c := range []struct{ name, text, says, never string }{
		{"an image of somebody else", "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n" + old +
			"docker run --rm -d -v /data:/data --gpus all example/server:latest serve --model org/name", "another tag of example/server,", "pip install --"},
		{"an image, and a GPU that nobody names", "docker run --gpus all example/server:v1 serve\nCUDA error: no kernel image is available for execution on the device",
			"decide which tag of example/server", "pip install --"},
		{"an image that is there to install into", "docker run --gpus all nvidia/cuda:12.4.1-runtime-ubuntu22.04 bash\nCUDA error: no kernel image is available for execution on the device",
			"pip install --force-reinstall torch", "another tag"},
		{"an image of one's own", "FROM example/server:v1\nRUN pip install x\ndocker run --gpus all example/server:v1\nCUDA error: no kernel image is available for execution on the device",
			"pip install --force-reinstall torch", "another tag"},
		{"a package of a newer CUDA", "cudaErrorInsufficientDriver\nmy CUDA driver is 570.133.20\npip list\nPackage Version\n------- -------\ncuda-python 13.0.3\ntorch 2.9.1+cu128\n",
			`pip install "cuda-python<13"`, "pip install --force-reinstall torch"},
		{"a library that lies there", "RuntimeError: Failed to dlopen libcuda.so\nin WSL2\n$ ls /usr/lib/wsl/lib\nlibcuda.so  libcuda.so.1  libcuda.so.1.1\n",
			"LD_LIBRARY_PATH=/usr/lib/wsl/lib", "driver on Windows"},
		{"a variable that is set", "I already did export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 and still\nmacOS 14.5 (arm64)\n" +
			"RuntimeError: MPS backend out of memory (MPS allocated: 5.50 GB, other allocations: 14.76 GB, max allowed: 20.40 GB). Tried to allocate 147.24 MB on private pool.",
			"a smaller batch", "WATERMARK_RATIO=0.0"},
		{"a label that no index was asked for", "uv sync\nrequires-python = \">=3.11\"\n× No solution found when resolving dependencies:\n" +
			"╰─▶ Because there is no version of torch==2.4.0+cu124 and your project depends on torch==2.4.0+cu124", "tool.uv.sources", "uv venv"},
		{"a torch that is named beside the one that is here", "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n" +
			"    PyTorch 2.3.0+cu121 with CUDA None (you have 2.0.0+cu117)\n", "the release for torch 2.0.0", "2.3.0"},
		{"what uv took away", "Installed 2 packages in 8.96s\n - torch==2.5.1+cu124\n + torch==2.6.0+cpu\n", "torch==2.5.1", "builds the environment anew"},
		{"a host without a driver", "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory\n" +
			"Rocky Linux release 9.3\n$ nvidia-smi\nbash: nvidia-smi: command not found", "install the driver on the host", "--gpus all"},
		{"a torch that sees the GPU", "Ubuntu 20.04 on WSL2\nError: DriverError(CUDA_ERROR_NO_DEVICE, \"no CUDA-capable device is detected\")\n>>> torch.cuda.is_available()\nTrue\n",
			"LD_LIBRARY_PATH=/usr/lib/wsl/lib", "driver on Windows"},
		{"xformers beside the CPU build", ">WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n" +
			">   PyTorch 2.1.0+cu121 with CUDA 1201 (you have 2.1.0+cpu)\n", "torch==2.1.0 --index-url https://download.pytorch.org/whl/cu121", "2.11"},
		{"the torch that xformers found", "xFormers was built for:\n    PyTorch 2.0.1 (you have 2.1.0+cu121)\n- PyTorch Version (e.g., 1.0): PyTorch 2.0.1+cu121\n",
			"the release for torch 2.1.0", "torch 2.0.1"},
		{"a driver that is in the container", "I deployed ollama with docker, but it can't use the GPU\n" +
			"level=INFO source=gpu.go:560 msg=\"no nvidia devices detected\" library=/usr/lib/x86_64-linux-gnu/libcuda.so.550.107.02\n" +
			"level=INFO source=gpu.go:347 msg=\"no compatible GPUs were discovered\"\n", "nvidia_uvm", "--gpus all"},
		{"a rank that answers nobody", "training on two nodes gives: NCCL error in: ProcessGroupNCCL.cpp:1269, internal error, NCCL version 2.14.3\n" +
			"node2: Net : Call to recv from NODE2_IP<56843> failed : Connection refused\n", "first error in the output of every rank", "unset"},
		{"a GPU that no build is for", "* RX580\n* ROCm 5.2.0\nUserWarning: HIP initialization: Unexpected error from hipGetDeviceCount(). Error 101: hipErrorInvalidDevice\n",
			"no build of PyTorch's own has kernels for gfx803", "amdgpu driver"},
		{"the torch after the one that worked", ">>> torch.__version__\n1.0.0\n>>> torch.cuda.is_available()\nTrue\nafter the update\n>>> torch.__version__\n1.2.0\n" +
			">>> torch.cuda.is_available()\nFalse\nthe message is that my Nvidia version is too old\n", "update the NVIDIA driver", "nvidia-smi` fails"},
		{"an answer to a question", "pip install torch==1.3.0\n>>> torch.cuda.is_available()\nFalse\nWould you please update the driver? What's the output of nvidia-smi?\n@you\n410.48,,\n",
			"update the NVIDIA driver", "CPU build"},
		{"the CUDA that torch was compiled with", "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.2 does not match " +
			"the version torch was compiled with 11.7, unable to compile cuda/cpp extensions without a matching cuda version.", "cuda-toolkit-11-7", "12-8"},
		{"ROCm that stands in prose", "I installed PyTorch with ROCm 6.2 as the selector says, for my RX 7800 XT\nRuntimeError: Found no NVIDIA driver on your system.",
			"the ROCm build anew", "dkms"},
		{"the ROCm version of torch", "I have the rocm version of pytorch installed but get\nRuntimeError: Found no NVIDIA driver on your system.\nArch Linux",
			"the ROCm build anew", "pacman"},
		{"CUDA's compiler for ROCm", "pip install flash-attn\nRuntimeError: flash_attn was requested, but nvcc was not found.  Are you sure your environment has nvcc available?\n" +
			"torch.__version__  = 2.3.0+rocm6.0\n", "is for ROCm", "cuda-toolkit"},
		{"a Mac in Chinese", "Torch not compiled with CUDA enabled\n我用的是苹果M1芯片", "mps", "whl/cu"},
		{"a machine without a GPU", "inference on a CPU-only machine with onnxruntime-gpu fails\nCUDA failure 100: no CUDA-capable device is detected ; GPU=0",
			"CPUExecutionProvider", "nvidia-smi"},
		{"a DLL of cupy", "File \"D:\\envs\\ll\\lib\\site-packages\\cupy\\cuda\\compiler.py\", line 13, in <module>\nImportError: DLL load failed while importing runtime: not found",
			"pip show cupy", "2.4.1"},
		{"a library of Linux on Windows", "C:\\Users\\me\\Python310\\lib\\site-packages\\x.py\nCUDA SETUP: WARNING! libcuda.so not found! Do you have a CUDA driver installed?",
			"--upgrade bitsandbytes", "--gpus all"},
		{"a version that was taken back", "vllm works, sglang does not\nERROR: Could not find a version that satisfies the requirement sgl-kernel==0.3.9.post2; extra == \"srt\" " +
			"(from sglang[srt]) (from versions: 0.3.12, 0.3.16.post5)", "another release of that", "uv venv"},
		{"a version that comes later elsewhere", "Windows 11, sglang\nERROR: Could not find a version that satisfies the requirement sgl-kernel==0.0.9.post2 (from sglang) (from versions: 0.0.1)",
			"WSL 2 or Linux", "uv venv"},
		{"an image beyond the card's last driver", "GeForce GTX 580, driver 390.157\nnvidia-container-cli: requirement error: unsatisfied condition: cuda>=10.2, please update your driver",
			"use the CPU build", "update the driver"},
		{"an image beyond the card", "GeForce GTX 580\nnvidia-container-cli: requirement error: unsatisfied condition: cuda>=10.2, please update your driver",
			"an older CUDA, which branch 390 runs", "update the host"},
		{"what an installer was asked for", "my RTX 3090 is not used\n$ pip install tensorflow[and-cuda]\nW tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure",
			"conda install", "and-cuda"},
		{"NVML of an older driver", "$ sudo nvidia-docker volume setup\nnvidia-docker: symbol lookup error: nvidia-docker: undefined symbol: nvmlInit_v2",
			"a newer one", "type -a"},
		{"libcuda alone", "stuck: libcuda.so not found error on Debian", "driver is missing", "CPU build"},
		{"a directory that is a list", "numba cannot find libnvvm.so\nlibNVVM cannot be found\nexport CUDA_HOME=$CUDA_HOME:/usr/local/cuda-11.8", "CUDA_HOME=/usr/local/cuda-11.8`", "reinstall torch"},
		{"bitsandbytes that was told", "$ export BNB_CUDA_VERSION=117\nbitsandbytes is unable to find my CUDA installation", "unset BNB_CUDA_VERSION", "cuda-toolkit"},
		{"torchvision's operator in a notebook", "\"message\": \"Could not find the operator torchvision::nms. Please make sure you have already registered the operator\"",
			"torchvision", "another name"},
		{"ranks that nobody started", "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but not set", "torchrun", "NCCL_SOCKET"},
	} {
		r, _ := examine(t, c.text)
		if len(r.Findings) == 0 {
			t.Errorf("%s: nothing", c.name)
			continue
		}
		if all := strings.Join(r.Findings[0].Fix, "\n"); !strings.Contains(all, c.says) || strings.Contains(all, c.never) {
			t.Errorf("%s: %s\n%s", c.name, r.Findings[0].Text, all)
		}
	}
}
