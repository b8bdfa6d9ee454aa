package doctor

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A liveCase is one thing that is wrong with a machine which is well otherwise.
type liveCase struct {
	name  string
	ail   func(c *read.Case)
	first string // the check of the first finding; "" none above a note
	says  []string
	note  bool // it is no error
}

func uuidGPU(c *read.Case) {
	c.Machine.GPUs[0].UUID = "GPU-11111111-2222-3333-4444-555555555555"
}

func variable(name, value string, from ...machine.Origin) func(*read.Case) {
	return func(c *read.Case) {
		uuidGPU(c)
		c.Machine.Env[name] = value
		c.Files.Variables = append(c.Files.Variables, machine.Variable{Name: name, Value: value, Origins: from})
	}
}

func dist(c *read.Case, name, version string, requires ...string) {
	c.Files.Dists = append(c.Files.Dists, machine.DistFiles{Name: name, Version: version, Installer: "pip", Info: site + "/" + name + "-" + version + ".dist-info", Requires: requires})
	c.Packages = append(c.Packages, read.Package{Name: name, Version: version})
}

func libcuda(file, version, via string) func(*read.Case) {
	return func(c *read.Case) {
		c.Machine.Driver.Evidence = machine.FromNVML
		c.Files.Loaded = append(c.Files.Loaded, machine.LoadedLibrary{Name: "libcuda.so.1", By: "libcudart.so.12", Path: file, Version: version, Via: via, Size: 28 << 20})
	}
}

func start(is string) func(*read.Case) {
	return func(c *read.Case) {
		c.Files.Starts = []machine.StartFault{{At: machine.Origin{Kind: machine.OriginPython, File: site + "/a.pth", Line: 2}, Is: is}}
	}
}

var bashrc = machine.Origin{Kind: machine.OriginProfile, File: "~/.bashrc", Line: 7}

var liveCases = []liveCase{
	{"packages of two CUDA majors with files of their own", func(c *read.Case) {
		dist(c, "nvidia-cufft-cu11", "10.9.0.58")
		dist(c, "nvidia-cufft-cu12", "11.3.3.83")
		for i, so := range []string{"libcufft.so.10", "libcufft.so.11"} {
			c.Files.Dists[len(c.Files.Dists)-2+i].Libraries = []string{"nvidia/cufft/lib/" + so}
		}
	}, "", nil, false},
	{"packages of two CUDA majors over each other", func(c *read.Case) {
		dist(c, "nvidia-cufft-cu11", "10.9.0.58")
		dist(c, "nvidia-cufft-cu12", "11.3.3.83")
		for i := range 2 {
			c.Files.Dists[len(c.Files.Dists)-2+i].Libraries = []string{"nvidia/cufft/lib/libcufft.so.11"}
		}
	}, "LD003", []string{"both write"}, false},
	{"packages of two CUDA majors over each other, and torch's lie there whole", func(c *read.Case) {
		dist(c, "nvidia-cufft-cu11", "10.9.0.58")
		dist(c, "nvidia-cufft-cu12", "11.3.3.83")
		for i := range 2 {
			c.Files.Dists[len(c.Files.Dists)-2+i].Libraries = []string{"nvidia/cufft/lib/libcufft.so.11"}
		}
		c.Files.Dists[len(c.Files.Dists)-1].Files = 7
	}, "LD003", []string{"both write", "that is torch's here"}, true},
	{"packages of the user's that a variable leaves out", func(c *read.Case) {
		c.Torch, c.Files.Dists, c.Files.Imports = read.Torch{}, nil, nil
		c.Around, c.Machine.Env["PYTHONNOUSERSITE"] = &machine.Around{}, "1"
	}, "PY002", []string{"unset PYTHONNOUSERSITE"}, false},
	{"a cache of compiled code that nothing may be executed from", func(c *read.Case) {
		c.Files.Notes = append(c.Files.Notes, machine.CompiledAt+"/tmp")
	}, "LD005", []string{"/tmp is mounted noexec", "TRITON_CACHE_DIR"}, true},
	{"a cache of compiled code that this user may not write to", func(c *read.Case) {
		c.Files.Notes = append(c.Files.Notes, machine.WrittenAt+"/")
	}, "LD005", []string{"may not write to /,", "TORCHINDUCTOR_CACHE_DIR=/tmp"}, true},
	{"a variable that makes all work slow", variable("CUDA_LAUNCH_BLOCKING", "1", bashrc), "ACC025", []string{"all work is slow", "~/.bashrc:7"}, true},
	{"the same, not set", variable("CUDA_LAUNCH_BLOCKING", "0"), "", nil, false},
	{"packages that this user may not read", func(c *read.Case) {
		dist(c, "torch-lane", "1.0", "torch")
		d := &c.Files.Dists[len(c.Files.Dists)-1]
		d.Absent, d.Files, d.Barred = 3, 9, site+"/torch_lane"
	}, "PY010", []string{"may not read all of torch-lane 1.0 (3 files)", "chmod -R a+rX " + site + "/torch_lane"}, false},
	{"a source of torch that somebody changed", func(c *read.Case) {
		dist(c, "torch-lane", "1.0", "torch")
		c.Files.Dists[len(c.Files.Dists)-1].Rewritten = []string{site + "/torch_lane/__init__.py"}
	}, "PY011", []string{"torch_lane/__init__.py of torch-lane 1.0 was changed", "--import"}, true},
	{"a CPU build over another's files", func(c *read.Case) {
		c.Torch.NoCUDA, c.Torch.Label, c.Torch.CUDA = true, "cpu", version.Dotted{}
		c.Files.Dists[0].Rewritten = []string{site + "/torch/version.py"}
	}, "PY001", []string{"built without CUDA"}, false},
	{"a package without a library for this CUDA", func(c *read.Case) {
		c.Files.ForCUDA = []machine.ForCUDA{{Dist: "bitsandbytes", Versions: []string{"10.2", "11.8"}}}
	}, "PY019", []string{"bitsandbytes has no library for CUDA 12"}, false},
	{"a package with one for another minor version", func(c *read.Case) {
		c.Files.ForCUDA = []machine.ForCUDA{{Dist: "bitsandbytes", Versions: []string{"11.8", "12.1"}}}
	}, "PY019", []string{"bitsandbytes"}, true},
	{"a package with a library for this CUDA", func(c *read.Case) {
		c.Files.ForCUDA = []machine.ForCUDA{{Dist: "bitsandbytes", Versions: []string{"11.8", c.Torch.CUDA.MajorMinor()}}}
	}, "", nil, false},
	{"the one of two GPUs that torch has no code for is chosen", func(c *read.Case) {
		old := c.Machine.GPUs[0]
		old.Name, old.SM, old.Index = "NVIDIA GeForce GTX 670", machine.SM{Major: 3}, 1
		c.Machine.GPUs = append(c.Machine.GPUs, old)
		variable("CUDA_VISIBLE_DEVICES", "1")(c)
		c.From.Env = map[string]read.Evidence{"CUDA_VISIBLE_DEVICES": {Text: "CUDA_VISIBLE_DEVICES=1"}}
		c.Machine.Driver.Version = version.MustDotted("470.256.02")
	}, "ARC005", []string{"GTX 670", "or another GPU"}, false},
	{"a kernel of notebooks that names the GPU", func(c *read.Case) {
		c.Files.Elsewhere = []machine.Variable{{Name: "CUDA_VISIBLE_DEVICES", Value: "0", Origins: []machine.Origin{{Kind: machine.OriginKernel, Name: "ml", File: "/k/ml/kernel.json"}}}}
	}, "", nil, false},
	{"a script that works on the CPU", func(c *read.Case) {
		c.Files.Elsewhere = []machine.Variable{{Name: "CUDA_VISIBLE_DEVICES", Value: "-1", Origins: []machine.Origin{{Kind: machine.OriginPython, File: "/p/train.py", Line: 2}}}}
	}, "", nil, false},
	{"torch of a Mac", func(c *read.Case) { c.Files.Dists[0].ABI = "macosx_11_0_arm64" }, "PY027", []string{"macosx_11_0_arm64"}, false},
	{"links into a cache that was cleaned", func(c *read.Case) {
		c.Files.Dists[0].Absent, c.Files.Dists[0].Files, c.Files.Dists[0].Link = 9, 10, "/cache/archive-v0/x"
	}, "PY010", []string{"/cache/archive-v0/x"}, false},
	{"an old card that drives the screen, and the kernel's line about it", func(c *read.Case) {
		old := c.Machine.GPUs[0]
		old.Visible, old.Index, old.Name, old.SM = false, 1, "NVIDIA GeForce GT 710", machine.SM{Major: 3, Minor: 5}
		c.Machine.GPUs = append(c.Machine.GPUs, old)
		c.Machine.KernelLog = &machine.KernelLog{Source: "/dev/kmsg", Lines: []string{"NVRM: The NVIDIA GeForce GT 710 GPU installed in this system is supported through the NVIDIA 470.xx Legacy drivers."}}
	}, "", nil, false},
	{"a copy of torch that is not imported", func(c *read.Case) {
		other := c.Files.Dists[0]
		other.Module = "2.2.2"
		other.Info, other.Version, other.Files, other.Absent = "/shared/torch-2.2.2.dist-info", "2.2.2", 9000, 158
		c.Files.Sites = append(c.Files.Sites, "/shared")
		c.Files.Dists = append(c.Files.Dists, other)
	}, "", nil, false},
	{"no NVML and no driver", func(c *read.Case) {
		c.Machine.Driver, c.Machine.GPUs, c.Machine.Notes, c.WithoutGPU = nil, nil, []string{"nvml: library not found"}, true
	}, "", nil, false},
	{"the user's NumPy before conda's", func(c *read.Case) {
		c.Torch.Version, c.Files.Dists[0].Version, c.Files.Dists[0].Module = "2.2.2", "2.2.2", ""
		c.Files.Shadows = []machine.ImportPlace{{Path: "/home/u/.local/lib/python3.12/site-packages/numpy/__init__.py", Place: machine.InUserSite, Version: "2.4.6"}}
	}, "PY013", []string{"numpy 2.4.6", "PYTHONNOUSERSITE=1"}, false},
	{"no shared memory", func(c *read.Case) {
		c.Around = &machine.Around{SharedMem: &machine.SharedMem{Fault: "no such file or directory"}}
	}, "MG001", []string{"no such file", "mount -t tmpfs"}, true},
	{"a compatibility libcuda that is newer, in a data centre", func(c *read.Case) {
		libcuda("/usr/local/cuda/compat/libcuda.so.999.10.01", "999.10.01", "LD_LIBRARY_PATH")(c)
		c.Machine.GPUs[0].Name = "NVIDIA H100 80GB HBM3"
	}, "", nil, false},
	{"a driver of JetPack that is too old", func(c *read.Case) {
		c.Machine.Platform.Environment, c.Machine.Driver.Version = machine.Jetson, version.MustDotted("440.18")
	}, "DRV005", []string{"a part of JetPack"}, false},
	{"the libcuda of a Jetson", libcuda("/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1.1", "1.1", "ld.so.cache"), "", nil, false},
	{"an environment that was moved away", func(c *read.Case) {
		variable("VIRTUAL_ENV", "/old/venv")(c)
		c.Files.Base = "/usr/bin"
		c.Files.Notes = []string{"VIRTUAL_ENV is not there"}
	}, "PY021", []string{"/old/venv", "bin/activate"}, false},
	{"an environment that was moved, and knows its old place", func(c *read.Case) {
		variable("VIRTUAL_ENV", "/old/venv")(c)
		c.Files.Base = "/usr/bin"
		c.Files.Notes = []string{"VIRTUAL_ENV is not there", "activate leads to VIRTUAL_ENV"}
	}, "PY021", []string{"still names the old place", "/bin/python` itself works", "made anew"}, false},
	{"a library of conda's torch without a symbol of its MKL", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libtorch_cpu.so", Library: "libtorch_cpu.so", Path: site + "/torch/lib/libtorch_cpu.so",
			Why: "no library that it is loaded with has iJIT_NotifyEvent", Symbol: "iJIT_NotifyEvent", Dist: "torch", Module: true}}
	}, "PY022", []string{"iJIT_NotifyEvent, which conda", "mkl<2024.1"}, false},
	{"an AMD GPU that is told as one of another family", func(c *read.Case) {
		c.Machine.GPUs, c.Machine.Driver = []machine.GPU{{Vendor: machine.AMD, Name: "Radeon RX 7900 XTX", PCIAddress: "0000:03:00.0", GFX: "gfx1100", Visible: true}}, nil
		c.Torch.CUDA, c.Torch.Label, c.Torch.HIP = version.Dotted{}, "rocm6.4", "6.4"
		c.Files.Dists = nil
		variable("HSA_OVERRIDE_GFX_VERSION", "10.3.0", bashrc)(c)
	}, "ROC001", []string{"gfx1100", "unset HSA_OVERRIDE_GFX_VERSION"}, false},
	{"an AMD GPU that is told as one of its own family", func(c *read.Case) {
		variable("HSA_OVERRIDE_GFX_VERSION", "11.0.0", bashrc)(c)
		c.Machine.GPUs, c.Machine.Driver = []machine.GPU{{Vendor: machine.AMD, Name: "Radeon RX 7900 XTX", PCIAddress: "0000:03:00.0", GFX: "gfx1100", Visible: true}}, nil
		c.Torch.CUDA, c.Torch.Label, c.Torch.HIP = version.Dotted{}, "rocm6.4", "6.4"
		c.Files.Dists = nil
	}, "", nil, false},
	{"torch for ROCm in a WSL, with its own libhsa-runtime64", func(c *read.Case) {
		c.Machine.GPUs, c.Machine.Driver, c.Machine.Platform.Environment = nil, nil, machine.WSL2
		c.Torch.CUDA, c.Torch.Label, c.Torch.HIP = version.Dotted{}, "rocm6.1", "6.1"
		c.Files.Dists = c.Files.Dists[:1]
		c.Files.Dists[0].Requires, c.Files.Dists[0].Libraries = nil, []string{"torch/lib/libhsa-runtime64.so"}
	}, "ROC002", []string{"libhsa-runtime64.so", "/dev/dxg"}, false},
	{"a Mac's Python that takes itself for another one", func(c *read.Case) {
		c.Machine.Platform.OS, c.Machine.Platform.Arch = "macos", "arm64"
		variable("__PYVENV_LAUNCHER__", "/opt/homebrew/bin/python3.12")(c)
	}, "PY044", []string{"unset __PYVENV_LAUNCHER__"}, false},
	{"an environment that was deleted, and a system's Python without torch", func(c *read.Case) {
		variable("VIRTUAL_ENV", "/old/venv")(c)
		c.Machine.Env["PATH"], c.Files.Notes, c.Torch, c.Packages, c.Files.Dists, c.Files.Imports = c.Files.Dir+"/bin", []string{"VIRTUAL_ENV is not there"}, read.Torch{}, nil, nil, nil
	}, "PY021", []string{"/old/venv"}, false},
	{"PTX alone, which this build has not for the GPU", variable("CUDA_FORCE_PTX_JIT", "1", bashrc), "ARC005", []string{"no PTX", "unset CUDA_FORCE_PTX_JIT"}, false},
	{"no PTX, which the GPU does not need", variable("CUDA_DISABLE_PTX_JIT", "1"), "", nil, false},
	{"a limit that leaves room", func(c *read.Case) {
		c.Machine.GPUs[0].MemoryBytes, c.Around = 24<<30, &machine.Around{Addresses: 200 << 30}
	}, "", nil, false},
	{"a pip of another Python", func(c *read.Case) { c.Files.Pip = "/old/bin/python" }, "PY021", []string{"/old/bin/python", "-m pip"}, true},
	{"pip's torch over conda's", func(c *read.Case) { c.Files.Conda = []string{"pytorch 2.5.1 py3.12_cuda12.4"} }, "PY005", []string{"2.5.1", "remove --force"}, true},
	{"a library for another processor", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/lib/libtorch_cuda.so", Library: "libcublas.so.13", Path: site + "/nvidia/cu13/lib/libcublas.so.13",
			Dist: "nvidia-cublas", Module: true, Why: "it is for another processor, aarch64"}}
		dist(c, "nvidia-cublas", "13.4.1.3")
	}, "IDX003", []string{"nvidia-cublas==13.4.1.3", "aarch64"}, false},
	{"a torch of another Python", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/__init__.py", Library: "torch._C", Path: site + "/torch/_C.cpython-311-x86_64-linux-gnu.so",
			Dist: "torch", Module: true, Why: "it is for another Python, cpython-311, and this is cpython-312"}}
	}, "PY027", []string{"for another Python, cpython-311", "torch==2.9.1"}, false},
	{"a library that is closed", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: site + "/torch/_C.so", Library: "libtorch_python.so", Path: site + "/torch/lib/libtorch_python.so", Module: true, Why: "this user may not read it"}}
	}, "PY010", []string{"chmod a+r"}, false},
	{"an interface of another machine", func(c *read.Case) {
		variable("NCCL_SOCKET_IFNAME", "ib0,ens5")(c)
		c.Around = &machine.Around{Networks: []string{"lo", "eth0"}}
	}, "MG009", []string{"ib0", "eth0"}, true},
	{"an interface by its beginning", func(c *read.Case) {
		variable("NCCL_SOCKET_IFNAME", "eth")(c)
		c.Around = &machine.Around{Networks: []string{"lo", "eth0"}}
	}, "", nil, false},
	{"the Python was removed", func(c *read.Case) {
		c.Files.Python, c.Files.Base = machine.PythonGone, "/opt/homebrew/opt/python@3.12/bin"
	}, "PY044", []string{"python@3.12", "gone"}, false},
	{"a conda environment without a Python", func(c *read.Case) { c.Files.Python = machine.PythonNone }, "PY044", []string{"has no Python", "conda install -p "}, false},
	{"a library that is looked for elsewhere", func(c *read.Case) {
		variable("PYTHONPLATLIBDIR", "lib64", bashrc)(c)
		c.Files.Python = machine.PythonAstray
	}, "PY044", []string{"PYTHONPLATLIBDIR is lib64", "~/.bashrc:7", "unset PYTHONPLATLIBDIR"}, false},
	{"PYTHONHOME is the environment itself", func(c *read.Case) {
		variable("PYTHONHOME", c.Files.Dir)(c)
		c.Files.Base = "/usr/bin"
	}, "PY044", []string{"PYTHONHOME", "unset PYTHONHOME"}, false},
	{"an environment without its pyvenv.cfg", func(c *read.Case) { c.Files.Python = machine.PythonUnmade }, "PY044", []string{"pyvenv.cfg", "--python 3.12"}, false},
	{"an environment of another processor", func(c *read.Case) { c.Files.Python = machine.PythonCopied }, "PY044", []string{"another processor", "uv venv --clear"}, false},
	{"an environment of Windows", func(c *read.Case) { c.Files.Python, c.Files.Sites = machine.PythonAlien, nil }, "PY044", []string{"made by Windows", "uv venv --clear /"}, false},
	{"a Python in another's home", func(c *read.Case) { c.Files.Python, c.Files.Base = machine.PythonClosed, "/root/py/bin" }, "PY044", []string{"may not reach", "/root/py/bin"}, false},
	{"an environment whose programs were removed", func(c *read.Case) { c.Files.Python = machine.PythonAbsent }, "PY044", []string{"no bin/python", "uv venv --allow-existing --python 3.12 /env"}, false},
	{"a Python that may not be started", func(c *read.Case) { c.Files.Python = machine.PythonBarred }, "PY044", []string{"lost that right", "chmod a+rx"}, false},
	{"a Python without its library", func(c *read.Case) { c.Files.Python, c.Files.Base = machine.PythonBare, "/opt/py/bin" }, "PY044", []string{"encodings", "/opt/py/bin"}, false},
	{"a Python whose own library is gone", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: "/opt/py/bin/python3.11", Library: "libpython3.11.so.1.0"}}
	}, "PY044", []string{"libpython3.11.so.1.0", "does not start"}, false},
	{"a Python whose loader is gone", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: "/opt/py/bin/python3.11", Library: "/gone/ld.so"}, {By: "/opt/py/libcudart.so.12", Library: "libcuda.so.1", Opened: true}}
	}, "PY044", []string{"made for the loader /gone/ld.so", "does not start"}, false},
	{"a Python that was built without libffi", func(c *read.Case) { c.Files.Unbuilt = []string{"_ctypes"} }, "PY044", []string{"_ctypes", "libffi-dev"}, false},
	{"a .pth of another encoding", start(machine.StartUnread), "PY013", []string{"a.pth is not UTF-8"}, false},
	{"a start that imports what is not there", start(machine.StartUnfound), "", nil, false},
	{"a start that ends Python", start(machine.StartEnds), "PY013", []string{"a.pth:2 ends Python", "a.pth.off"}, false},
	{"a start that takes torch away", start(machine.StartHides), "PY013", []string{"a.pth:2", "take torch out"}, false},
	{"a start that narrows Python", start(machine.StartNarrows), "PY013", []string{"a.pth:2", "--import", "a.pth.off"}, true},
	{"a start that leaves no packages", func(c *read.Case) {
		c.Files.Starts = []machine.StartFault{{At: machine.Origin{File: "/env/a.py", Line: 2}, Is: machine.StartNarrows, How: `sys.path = [p for p in sys.path if "site-packages" not in p]`}}
	}, "PY013", []string{"/env/a.py:2", "take that line out"}, false},
	{"a script for a Python", func(c *read.Case) { c.Files.Python = machine.PythonScript }, "PY044", []string{"is a script", "uv venv --clear"}, false},
	{"a pyvenv.cfg that is closed", func(c *read.Case) { c.Files.Python = machine.PythonMute }, "PY044", []string{"may not read /env/pyvenv.cfg", "chmod a+r"}, false},
	{"a link that was not looked at", func(c *read.Case) { c.Files.Unseen = []string{"the C library", "b"} }, "GPU001", []string{"surely: the C library, and 1 links more", "--import"}, false},
	{"a package that hides a module of torch's", func(c *read.Case) { c.Files.Dists[0].Hides = []string{"/env/torch/nn/functional"} }, "PY013", []string{"/env/torch/nn/functional is not of", "mv /env/torch/nn/functional /env/torch/nn/functional.off"}, false},
	{"a module of Python's that is for another processor", func(c *read.Case) {
		c.Files.Links = []machine.LinkFault{{By: "/py/bin/python3", Module: true, Library: "_ctypes.so", Path: "/py/lib/python3.11/lib-dynload/_ctypes.so", Why: "it is for another processor, aarch64"}}
	}, "IDX003", []string{"_ctypes.so", "install that Python again"}, false},
}

// Each ailment is found first, with what says it and what to do; what is none is not.
func TestLive(t *testing.T) {
	for _, l := range slices.Concat(liveCases, moreCases, shellCases, driverCases) {
		c := patientWith(t, healthyFiles())
		c.Machine.Driver.Evidence = machine.FromNVML
		l.ail(c)
		r := Examine(know.Embedded(), c)
		var worst []Finding
		for _, f := range r.Findings {
			if f.Severity > know.Note {
				worst = append(worst, f)
			}
		}
		switch {
		case l.first == "" && len(worst) == 0:
			continue
		case l.first == "" || len(worst) == 0 || worst[0].Check != l.first:
			t.Errorf("%s: %v; want %q first", l.name, checksOf(r), l.first)
			continue
		case r.OK != l.note:
			t.Errorf("%s: OK is %v", l.name, r.OK)
		}
		f := worst[0]
		text := strings.Join(slices.Concat([]string{f.Text}, f.Evidence, f.Fix), "\n")
		for _, s := range l.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s: %q is not said:\n%s", l.name, s, text)
			}
		}
	}
}

// A system's package of torch, and a build from source, have no list of files, and are whole.
func TestNoRecord(t *testing.T) {
	c := patientWith(t, healthyFiles())
	c.Files.Dists[0].Files = 0
	r := Examine(know.Embedded(), c)
	if !r.OK || len(r.Findings) != 1 || r.Findings[0].Severity != know.Note || !strings.Contains(r.Findings[0].Text, "nothing lists the files of torch") {
		t.Errorf("OK is %v: %+v", r.OK, r.Findings)
	}
}
