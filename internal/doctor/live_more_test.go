package doctor

import (
	"slices"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// moreCases are of what an environment holds, as [liveCases] are.
var moreCases = []liveCase{
	{"another python of this shell", func(c *read.Case) { c.Files.Notes = []string{machine.ShellPython + "/mc/bin/python"} }, "PY021", []string{"/mc/bin/python", "activate it again"}, true},
	{"a cache that leads nowhere", func(c *read.Case) { c.Files.Notes = []string{machine.NowhereAt + "/x/cache"} }, "LD005", []string{"/x/cache", "namei"}, true},
	{"a ptxas of another machine", func(c *read.Case) {
		variable("TRITON_PTXAS_PATH", "/x/ptxas")(c)
		c.Files.Notes = []string{"TRITON_PTXAS_PATH is no program here"}
	}, "LD005", []string{"another processor", "unset TRITON_PTXAS_PATH"}, true},
	{"a Python whose library lacks a module", func(c *read.Case) { c.Files.Lost = []string{"/lib/python3.11/uuid.py"} }, "PY044", []string{"/lib/python3.11/uuid.py is missing"}, false},
	{"byte code that was cut off", func(c *read.Case) { c.Files.Dists[0].Cut = []string{"/env/x.pyc"} }, "PY011", []string{"EOFError", "rm /env/x.pyc"}, false},
	{"a library that was written to", func(c *read.Case) {
		c.Files.Dists[0].Resized, c.Files.Dists[0].Damaged = []string{"/env/torch/lib/libc10.so"}, true
	}, "PY011", []string{"libc10.so", "not what its RECORD says"}, false},
	{"a module that a start file puts first", func(c *read.Case) {
		c.Files.Shadows = []machine.ImportPlace{{Path: "/old/queue.pyc", Place: machine.InStartFile, Origins: []machine.Origin{{File: "/env/a.pth", Line: 2}}}}
	}, "PY013", []string{"a.pth:2 puts /old first", "module queue "}, false},
	{"a start that works on imports", start(machine.StartHooks), "PY013", []string{"a.pth:2", "--import"}, true},
	{"sources that were moved", func(c *read.Case) {
		dist(c, "flash-attn", "2.8.3", "torch")
		c.Files.Dists[len(c.Files.Dists)-1].Gone = "/src/flash-attention"
	}, "PY010", []string{"/src/flash-attention", "pip install -e DIR"}, false},
	{"sources of a package without torch", func(c *read.Case) {
		dist(c, "mine", "0.1")
		c.Files.Dists[len(c.Files.Dists)-1].Gone = "/src/mine"
	}, "", nil, false},
	{"NumPy for another Python", func(c *read.Case) {
		dist(c, "numpy", "2.1.0")
		c.Files.Dists[len(c.Files.Dists)-1].ABI = "cp313"
	}, "PY027", []string{"cp313", "numpy==2.1.0"}, false},
	{"torch without its dist-info", func(c *read.Case) { c.Files.Bare = "2.9.1+cu128" }, "PY014", []string{"2.9.1", "dist-info"}, true},
	{"a module of the project", func(c *read.Case) {
		c.Files.Shadows = []machine.ImportPlace{{Path: "/home/u/proj/queue.py", Place: machine.InWorkingDir}}
	}, "PY013", []string{"queue.py", "mv "}, false},
	{"a module in PYTHONPATH that torch does not fit", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "typing-extensions>=4.13")
		dist(c, "typing-extensions", "4.16.0")
		c.Files.Shadows = []machine.ImportPlace{{Path: "/opt/libs/typing_extensions.py", Place: machine.InPythonPath, Version: "4.12.2"}}
	}, "PY013", []string{"typing_extensions", "remove /opt/libs from PYTHONPATH"}, false},
	{"a module in PYTHONPATH that serves", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "typing-extensions>=4.13")
		dist(c, "typing-extensions", "4.16.0")
		c.Files.Shadows = []machine.ImportPlace{{Path: "/opt/libs/typing_extensions.py", Place: machine.InPythonPath, Version: "4.14.0"}}
	}, "", nil, false},
	{"a NumPy in PYTHONPATH of another Python", func(c *read.Case) {
		c.Files.Shadows = []machine.ImportPlace{{Path: "/usr/lib/python3/dist-packages/numpy/__init__.py", Place: machine.InPythonPath, Version: "2.1.0", Tag: "cpython-310"}}
	}, "PY013", []string{"cpython-310", "import numpy", "remove /usr/lib/python3/dist-packages from PYTHONPATH"}, false},
	{"machine code of a package with modules of another name", func(c *read.Case) {
		at := site + "/PIL/_imaging.cpython-312.so"
		c.Files.Links = []machine.LinkFault{{By: at, Dist: "pillow", Library: "PIL._imaging", Path: at, Module: true, Why: "it is cut off: its end is missing"}}
	}, "PY010", []string{"`import PIL` fails", "pillow"}, false},
	{"a companion needs another version of what torch does not", func(c *read.Case) {
		dist(c, "pillow", "5.0.0")
		c.Files.Dists[1].Requires = append(slices.Clone(c.Files.Dists[1].Requires), "pillow!=8.3.*,>=5.3.0")
	}, "PY042", []string{"pillow is 5.0.0", "torchvision imports it", "`pip install \"pillow!=8.3.*,>=5.3.0\"`"}, false},
	{"a variable of AMD's beside a GPU of NVIDIA's", variable("HIP_VISIBLE_DEVICES", "-1"), "", nil, false},
	{"a package that torch and its libraries need", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "nvidia-nvshmem-cu12==3.3.24")
		c.Files.Dists[2].Requires = append(c.Files.Dists[2].Requires, "nvidia-nvshmem-cu12")
	}, "PY010", []string{"--no-deps nvidia-nvshmem-cu12==3.3.24`"}, false},
	{"a package for another torch", func(c *read.Case) { dist(c, "fastpkg", "1.0", "torch==2.8.0") }, "PY042", []string{"fastpkg 1.0 wants torch==2.8.0", "2.9.1"}, false},
	{"a package for another torch on Windows alone", func(c *read.Case) { dist(c, "fastpkg", "1.0", "torch==2.8.0; sys_platform == 'win32'") }, "", nil, false},
	{"a package of conda's for another torch", func(c *read.Case) {
		dist(c, "fastpkg", "1.0", "torch==2.8.0")
		c.Files.Dists[len(c.Files.Dists)-1].Installer = "conda"
	}, "", nil, false},
	{"packages that torch has nothing to do with", func(c *read.Case) {
		dist(c, "flask", "3.0", "werkzeug>=3")
		dist(c, "werkzeug", "2.0")
	}, "", nil, false},
	{"a triton that is not torch's", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "triton==3.5.0; platform_system == \"Linux\"")
		dist(c, "triton", "2.2.0")
	}, "PY009", []string{"triton is 2.2.0", "triton==3.5.0"}, false},
	{"all of CUDA is missing, as in an image where no dependencies were installed", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "nvidia-nccl-cu13==2.30.7")
		c.Files.Dists = slices.DeleteFunc(c.Files.Dists, func(d machine.DistFiles) bool { return d.Name == "cuda-toolkit" })
	}, "PY010", []string{`install --force-reinstall "cuda-toolkit[cublas]==12.8.1" nvidia-nccl-cu13==2.30.7`}, false},
	{"a companion that this torch has none of", func(c *read.Case) {
		c.Torch.Version, c.Torch.Label, c.Packages, c.Machine.Driver.Version = "2.15.0", "cu132", nil, version.MustDotted("595.45.04")
		c.Files.Dists[0].Version, c.Files.Dists[0].Module, c.Files.Dists[1].Requires = "2.15.0", "2.15.0+cu132", nil
		dist(c, "torchaudio", "2.2.2", "torch (==2.2.2)")
	}, "PY007", []string{"has no torchaudio: `pip uninstall -y torchaudio`", "envfix plan torchaudio"}, false},
	{"what torch imports is missing", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "sympy>=1.13", "jinja2")
		dist(c, "jinja2", "3.1", "MarkupSafe>=2.0")
	}, "PY043", []string{"`pip install \"sympy>=1.13\" \"markupsafe>=2.0\"`"}, false},
	{"what its compiler alone uses is missing, and what it imports", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "setuptools", "sympy>=1.13")
	}, "PY043", []string{"wants sympy", "`pip install \"setuptools\" \"sympy>=1.13\"`"}, false},
	{"what torch's compiler alone uses is missing", func(c *read.Case) {
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "setuptools>=77.0.3")
	}, "PY043", []string{"setuptools", "torch.compile"}, true},
	{"a source of torch's that is empty", func(c *read.Case) {
		dist(c, "typing-extensions", "4.16.0")
		c.Files.Dists[0].Requires = append(c.Files.Dists[0].Requires, "typing-extensions>=4.10")
		c.Files.Dists[len(c.Files.Dists)-1].Resized = []string{site + "/typing_extensions.py"}
	}, "PY011", []string{"typing_extensions.py of typing-extensions", "typing-extensions==4.16.0"}, false},
	{"an assembler that may not be started", func(c *read.Case) {
		dist(c, "triton", "3.5.0")
		c.Files.Dists[len(c.Files.Dists)-1].Closed = []string{site + "/triton/backends/nvidia/bin/ptxas"}
	}, "PY011", []string{"ptxas", "chmod +x"}, true},
	{"files of NumPy are missing", func(c *read.Case) {
		dist(c, "numpy", "2.1.0")
		d := &c.Files.Dists[len(c.Files.Dists)-1]
		d.Files, d.Absent, d.Missing = 900, 40, []string{site + "/numpy/linalg/_umath_linalg.so"}
	}, "PY010", []string{"numpy 2.1.0 is not whole", "numpy==2.1.0"}, false},
	{"two broken packages", func(c *read.Case) {
		for _, i := range []int{2, 3} {
			c.Files.Dists[i].Files, c.Files.Dists[i].Absent = 10, 1
		}
	}, "PY010", []string{"nvidia-cudnn-cu12==9.10.2.21 nvidia-nccl-cu12==2.27.5"}, false},
	{"a preloaded NCCL that lacks a symbol", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libtorch_cuda.so", Library: "libnccl.so.2", Path: "/opt/nccl/libnccl.so.2", Via: "LD_PRELOAD", Entry: "/opt/nccl/libnccl.so.2", Symbol: "ncclCommWindowRegister", Origins: []machine.Origin{bashrc}}}
	}, "LD001", []string{"/opt/nccl/libnccl.so.2", "LD_PRELOAD", "ncclCommWindowRegister", "~/.bashrc:7"}, false},
	{"an old NCCL in the loader's own file", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libtorch_cuda.so", Library: "libnccl.so.2", Path: "/opt/nccl/libnccl.so.2", Via: "/etc/ld.so.preload", Entry: "/opt/nccl/libnccl.so.2", Symbol: "ncclRecv",
			Origins: []machine.Origin{{Kind: machine.OriginProfile, File: "/etc/ld.so.preload"}}}}
	}, "LD001", []string{"take /opt/nccl/libnccl.so.2 out of /etc/ld.so.preload"}, false},
	{"an older libstdc++ for better processors", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libc10.so", Library: "libstdc++.so.6", Path: "/opt/lib/glibc-hwcaps/x86-64-v2/libstdc++.so.6", Via: "LD_LIBRARY_PATH", Entry: "/opt/lib", Version: "GLIBCXX_3.4.22"}}
	}, "LD008", []string{"remove /opt/lib from LD_LIBRARY_PATH"}, false},
	{"an extension that is for another processor", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torchvision/_C.so", Library: "_C.so", Path: site + "/torchvision/_C.so", Dist: "torchvision", Module: true, Why: "it is for another processor, aarch64"}}
		dist(c, "torchvision", "0.24.1")
	}, "IDX003", []string{"`import torchvision` fails", "torchvision==0.24.1"}, false},
	{"an extension of a newer system", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/x.so", Dist: "mamba-ssm", Module: true, Library: "libc.so.6", Path: "/lib/libc.so.6", Version: "GLIBC_2.39"}}
		dist(c, "mamba-ssm", "2.2.2")
	}, "LD008", []string{"GLIBC_2.39", "mamba-ssm==2.2.2"}, false},
	{"a library of conda's that is cut off", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libc10.so", Library: "libstdc++.so.6", Path: "/c/lib/libstdc++.so.6.0.29", Conda: "libstdcxx-ng=11.2.0", Why: "it is cut off: its end is missing", Module: true}}
	}, "PY010", []string{"conda install --force-reinstall", "libstdcxx-ng=11.2.0"}, false},
	{"packages over each other, and the sizes of one", func(c *read.Case) {
		dist(c, "triton", "3.5.0")
		c.Files.Dists[len(c.Files.Dists)-1].Resized = []string{site + "/triton/_C/libtriton.so"}
		c.Files.Clashes = [][2]string{{"pytorch-triton-rocm", "triton"}}
	}, "LD012", []string{"pip uninstall -y pytorch-triton-rocm triton", "triton==3.5.0"}, false},
	{"algorithms of NCCL", variable("NCCL_ALGO", "allreduce:tree,ring;broadcast:Ring"), "", nil, false},
	{"protocols of NCCL", variable("NCCL_PROTO", "^LL128"), "", nil, false},
	{"CUDA_HOME of another major version", func(c *read.Case) {
		variable("CUDA_HOME", "/usr/local/cuda-11.8/")(c)
		c.Machine.Toolkits = []machine.Toolkit{{Version: version.MustDotted("11.8"), Path: "/usr/local/cuda-11.8"}}
	}, "", nil, false},
	{"an extension of another torch", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/x.so", Dist: "mamba-ssm", Module: true, Symbol: "_ZN3c104cuda9SetDeviceEi"}}
	}, "PY019", []string{"mamba-ssm", "c10::cuda::SetDevice"}, false},
	{"no libstdc++", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libc10.so", Library: "libstdc++.so.6"}}
	}, "LD018", []string{"libstdc++"}, false},
	{"conda's older libstdc++", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libc10.so", Library: "libstdc++.so.6", Path: "/c/lib/libstdc++.so.6", Via: "RPATH", Version: "GLIBCXX_3.4.32"}}
	}, "LD008", []string{"GLIBCXX_3.4.32", "/c/lib/libstdc++.so.6"}, false},
	{"a GPU of the last branch that drives it, under a newer CUDA", func(c *read.Case) {
		g := &c.Machine.GPUs[0]
		g.Name, g.SM = "Tesla K80", machine.SM{Major: 3, Minor: 7}
		c.Machine.Driver.Version, c.Machine.Driver.LoadedVersion = version.MustDotted("470.256.02"), version.MustDotted("470.256.02")
	}, "ARC005", nil, false},
	{"a compiler that is not there", func(c *read.Case) {
		variable("CC", "/opt/gcc-13/bin/gcc", bashrc)(c)
		c.Files.Notes = []string{"CC is not there"}
	}, "LD005", []string{"/opt/gcc-13/bin/gcc", "~/.bashrc:7"}, true},
	{"an environment of conda's that was removed", func(c *read.Case) {
		variable("CONDA_PREFIX", "/mc/envs/ml")(c)
		c.Files.Notes, c.Torch, c.Packages, c.Files.Dists, c.Files.Imports = []string{"CONDA_PREFIX is not there"}, read.Torch{}, nil, nil, nil
	}, "PY021", []string{"/mc/envs/ml", "conda env list"}, false},
	{"a variable of conda's that leads nowhere, and a torch", func(c *read.Case) { c.Files.Notes = []string{"CONDA_PREFIX is not there"} }, "", nil, false},
	{"a Python that was built with an older libffi", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: "/py/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so", Library: "libffi.so.7"}}
	}, "PY044", []string{"_ctypes", "libffi.so.7"}, false},
	{"a backend of torch's whose module is gone", func(c *read.Case) {
		dist(c, "torch-npu", "2.9.1", "torch")
		c.Files.Dists[len(c.Files.Dists)-1].Backend = "torch_npu_backend"
	}, "PY010", []string{"torch_npu_backend", "TORCH_DEVICE_BACKEND_AUTOLOAD=0"}, false},
	{"a backend of torch's whose library lacks another", func(c *read.Case) {
		dist(c, "torch-npu", "2.9.1", "torch")
		c.Files.Links = []machine.LinkFault{{By: site + "/torch_npu/_C.so", Dist: "torch-npu", Module: true, Backend: true, Library: "libhccl.so"}}
	}, "LD018", []string{"torch-npu", "libhccl.so", "TORCH_DEVICE_BACKEND_AUTOLOAD=0"}, false},
	{"a CPU build that uv's lock asks for", func(c *read.Case) {
		c.Torch.NoCUDA, c.Torch.Label, c.Torch.CUDA = true, "cpu", version.Dotted{}
		c.Files.Notes = []string{machine.SyncedTo + "/p/uv.lock"}
	}, "PY001", []string{"[tool.uv.sources]", "uv sync --reinstall-package torch"}, false},
	{"what an upgrade left of torch", func(c *read.Case) {
		dist(c, "torchvision", "0.24.1", "torch>=2.9")
		c.Files.Leftovers = []string{site + "/~orch", site + "/~orch-2.9.1.dist-info"}
		c.Torch, c.Files.Imports, c.Files.Dists = read.Torch{}, nil, c.Files.Dists[len(c.Files.Dists)-1:]
	}, "PY011", []string{"torch==2.9.1", "~orch"}, false},
	{"a package that takes torch among others, and not this one", func(c *read.Case) {
		dist(c, "transformers", "5.8.0", `torch>=99; extra == "torch"`, `torch>=99; extra == "testing"`)
	}, "PY042", []string{"transformers 5.8.0 wants torch", "works without it"}, true},
	{"packages on a disk that is not mounted", func(c *read.Case) {
		c.Files.Notes = []string{machine.PackagesAt + "/mnt/fast/sp"}
		c.Torch, c.Packages, c.Files.Dists, c.Files.Imports, c.Around = read.Torch{}, nil, nil, nil, &machine.Around{}
	}, "PY002", []string{"/mnt/fast/sp", "mount -a"}, false},
	{"what torch imports, of the user's own", func(c *read.Case) {
		c.Files.Dists[0].Info = "/usr/local/lib/python3.11/dist-packages/torch-2.9.1.dist-info"
		c.Files.Sites = append(c.Files.Sites, "/usr/local/lib/python3.11/dist-packages")
		c.Files.Dists[0].Requires = append(slices.Clone(c.Files.Dists[0].Requires), "typing-extensions>=4.13.0")
		dist(c, "typing-extensions", "4.1.0")
	}, "PY043", []string{"typing-extensions is 4.1.0"}, false},
	{"an environment on a disk that is not mounted", func(c *read.Case) {
		variable("VIRTUAL_ENV", "/p/.venv")(c)
		c.Files.Notes = []string{"VIRTUAL_ENV is not there", "VIRTUAL_ENV leads to /mnt/data/venv"}
	}, "PY021", []string{"/mnt/data/venv", "mount"}, false},
	{"a GPU of AMD's that the kernel's compute driver does not list", func(c *read.Case) {
		c.Machine.GPUs, c.Machine.Driver = []machine.GPU{{Vendor: machine.AMD, Name: "Radeon RX 7900 XTX", PCIAddress: "0000:03:00.0"}}, nil
		c.Torch.CUDA, c.Torch.Label, c.Torch.HIP = version.Dotted{}, "rocm6.4", "6.4"
		c.Files.Dists = nil
	}, "ROC002", []string{"/dev/kfd", "7900 XTX"}, false},
	{"a GPU of AMD's that nothing serves, and a package that is not whole", func(c *read.Case) {
		c.Machine.GPUs, c.Machine.Driver = []machine.GPU{{Vendor: machine.AMD, Name: "Radeon RX 7900 XTX", PCIAddress: "0000:03:00.0"}}, nil
		c.Torch.CUDA, c.Torch.Label, c.Torch.HIP = version.Dotted{}, "rocm6.4", "6.4"
		c.Files.Dists = c.Files.Dists[:1]
		c.Files.Dists[0].Requires = nil
		c.Files.Dists[0].Absent, c.Files.Dists[0].Files, c.Files.Dists[0].Missing = 1, 10, []string{site + "/torch/x.py"}
	}, "ROC002", []string{"/dev/kfd"}, false},
}
