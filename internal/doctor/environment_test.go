package doctor

import (
	"slices"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

const site = "/env/lib/python3.12/site-packages"

// healthyFiles is a whole environment with torch 2.9.1.
func healthyFiles() *machine.EnvFiles {
	return &machine.EnvFiles{
		Dir: "/env", Sites: []string{site},
		Imports: []machine.ImportPlace{{Path: site + "/torch/__init__.py", Place: machine.InEnvironment}},
		Dists: []machine.DistFiles{
			{Name: "torch", Version: "2.9.1", Module: "2.9.1+cu128", Info: site + "/torch-2.9.1.dist-info", Installer: "uv", Files: 100, Requires: []string{
				`nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux"`, `nvidia-nccl-cu12==2.27.5; platform_system == "Linux" and platform_machine == "x86_64"`,
				`nvidia-nothing-cu12==1.0; platform_machine == "aarch64"`, `cuda-toolkit[cublas]==12.8.1; platform_system == "Linux"`}},
			{
				Name: "torchvision", Version: "0.24.1", Info: site + "/torchvision-0.24.1.dist-info",
				Requires: []string{"torch==2.9.1"},
			},
			{Name: "nvidia-cudnn-cu12", Version: "9.10.2.21", Info: site + "/nvidia_cudnn_cu12-9.10.2.21.dist-info"},
			{Name: "nvidia-nccl-cu12", Version: "2.27.5", Info: site + "/nvidia_nccl_cu12-2.27.5.dist-info"},
			{Name: "cuda-toolkit", Version: "12.8.1", Info: site + "/cuda_toolkit-12.8.1.dist-info", Requires: []string{
				`nvidia-cublas-cu12==12.8.4.1.*; ` +
					`(sys_platform == 'linux' ` +
					`and platform_machine == 'x86_64' or sys_platform == 'win32') and extra == 'cublas'`, `nvidia-cufft-cu12==11.*; extra == 'cufft'`}},
			{Name: "nvidia-cublas-cu12", Version: "12.8.4.1", Info: site + "/nvidia_cublas_cu12-12.8.4.1.dist-info"},
		},
		Loaded: []machine.LoadedLibrary{{
			Name: "libcudnn.so.9", By: "libtorch_cuda.so", Path: site + "/nvidia/cudnn/lib/libcudnn.so.9",
			Via: "RPATH",
		}},
	}
}

// patientWith is a machine that is well but for its environment's files.
func patientWith(t *testing.T, f *machine.EnvFiles) *read.Case {
	t.Helper()
	cuda := "12.8"
	c := read.FromMachine(machine.Machine{
		Platform: machine.Platform{
			OS: "linux", Arch: "x86_64",
			Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.35")},
		},
		GPUs: []machine.GPU{{
			Vendor: machine.NVIDIA, Name: "NVIDIA H100 80GB HBM3", SM: machine.SM{Major: 9}, Visible: true,
		}},
		Driver: &machine.Driver{Version: version.MustDotted("580.95.05")},
		Installed: []machine.Package{
			{Name: "torch", Version: "2.9.1+cu128", CUDA: &cuda}, {Name: "torchvision", Version: "0.24.1"},
		},
		Env: map[string]string{},
	})
	c.Files = f
	var err error
	if c.Matrix, c.Devices, err = loaded(); err != nil {
		t.Fatal(err)
	}
	return c
}

// broken are ways in which an environment breaks: what is found first, and how bad
// it is.
var broken = []struct {
	name, check, cause string
	severity           know.Severity
	damage             func(*machine.EnvFiles)
}{
	{"parts of another cuDNN", "LD010", "ld_path_shadowing", know.Error, func(f *machine.EnvFiles) {
		f.Loaded = append(f.Loaded,
			machine.LoadedLibrary{
				Name: "libcudnn_heuristic.so.9", By: "libcudnn_graph.so.9",
				Path: "/opt/cudnn/lib/libcudnn_heuristic.so.9.1.0", Via: "LD_LIBRARY_PATH", Version: "9.1.0",
				Wheel: site + "/nvidia/cudnn/lib/libcudnn_heuristic.so.9",
			})
	}},
	{"an older cuDNN", "LD002", "ld_path_shadowing", know.Error, func(f *machine.EnvFiles) {
		f.Loaded[0].Path, f.Loaded[0].Via, f.Loaded[0].Version, f.Loaded[0].Wheel = "/opt/cudnn/lib/libcudnn.so.9.1.0", "LD_LIBRARY_PATH", "9.1.0", site+"/nvidia/cudnn/lib/libcudnn.so.9"
	}},
	{"a newer cuDNN", "LD002", "ld_path_shadowing", know.Warning, func(f *machine.EnvFiles) {
		f.Loaded[0].Path, f.Loaded[0].Via, f.Loaded[0].Version, f.Loaded[0].Wheel = "/opt/cudnn/lib/libcudnn.so.9.20.0", "LD_LIBRARY_PATH", "9.20.0", site+"/nvidia/cudnn/lib/libcudnn.so.9"
	}},
	{"another nvJitLink", "LD001", "ld_path_shadowing", know.Error, func(f *machine.EnvFiles) {
		f.Loaded = append(f.Loaded,
			machine.LoadedLibrary{
				Name: "libnvJitLink.so.12", By: "libcusparse.so.12",
				Path: "/opt/cuda/lib64/libnvJitLink.so.12.1.105", Via: "LD_LIBRARY_PATH",
				Wheel: site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12",
			})
	}},
	{
		"metadata of a CPU build", "PY011", "torch_duplicate_install", know.Error,
		func(f *machine.EnvFiles) { f.Dists[0].Version = "2.9.1+cpu" },
	},
	{
		"no cuDNN", "PY010", "missing_runtime_lib", know.Error,
		func(f *machine.EnvFiles) { f.Dists, f.Loaded = slices.Delete(f.Dists, 2, 3), nil },
	},
	{
		"no dist-info of cuDNN, whose library is loaded", "PY010", "missing_runtime_lib", know.Warning,
		func(f *machine.EnvFiles) { f.Dists = slices.Delete(f.Dists, 2, 3) },
	},
	{
		"an older cuDNN package", "LD003", "nvidia_pip_lib_mismatch", know.Error,
		func(f *machine.EnvFiles) { f.Dists[2].Version = "9.1.0.70" },
	},
	{
		"a newer cuDNN package", "LD003", "nvidia_pip_lib_mismatch", know.Warning,
		func(f *machine.EnvFiles) { f.Dists[2].Version = "9.20.0.1" },
	},
	{
		"a library that cuda-toolkit pins is gone", "PY010", "missing_runtime_lib", know.Error,
		func(f *machine.EnvFiles) { f.Dists = f.Dists[:5] },
	},
	{"two copies of torch", "PY011", "torch_duplicate_install", know.Error, func(f *machine.EnvFiles) {
		f.Dists = append(f.Dists,
			machine.DistFiles{Name: "torch", Version: "2.8.0", Info: site + "/torch-2.8.0.dist-info"})
	}},
	{"a leftover", "PY014", "none", know.Note, func(f *machine.EnvFiles) { f.Leftovers = []string{site + "/~orch"} }},
	{"torchvision of another release", "PY007", "torchvision_mismatch", know.Error, func(f *machine.EnvFiles) {
		f.Dists[1].Version, f.Dists[1].Requires = "0.23.0", []string{"torch==2.8.0"}
	}},
	{"the user's site", "PY004", "torch_duplicate_install", know.Error, func(f *machine.EnvFiles) {
		f.Imports = append([]machine.ImportPlace{{
			Path: "/home/u/.local/lib/python3.12/site-packages/torch/__init__.py", Place: machine.InUserSite,
		}},
			f.Imports...)
	}},
	{"another processor", "IDX003", "no_wheel_for_platform", know.Error, func(f *machine.EnvFiles) {
		f.Links = []machine.LinkFault{{By: site + "/torch/_C.so", Library: "libtorch.so", Path: site + "/torch/lib/libtorch.so", Module: true,
			Why: "it is for another processor, aarch64"}}
	}},
	{"another Python", "PY027", "no_wheel_for_python", know.Error, func(f *machine.EnvFiles) {
		f.Links = []machine.LinkFault{{By: site + "/torch/__init__.py", Library: "torch._C", Path: site + "/torch/_C.cpython-311.so", Module: true,
			Why: "it is for another Python, cpython-311, and this is cpython-312"}}
	}},
	{"a stub of libcuda", "DRV008", "cuda_compat_lib_shadow", know.Error, func(f *machine.EnvFiles) {
		f.Loaded = append(f.Loaded,
			machine.LoadedLibrary{
				Name: "libcuda.so.1", By: "libcudart.so.12", Path: "/opt/old/libcuda.so.1",
				Via: "LD_LIBRARY_PATH", Size: 60000,
			})
	}},
	{"a stub of libcuda that the loader's configuration names", "DRV008", "cuda_compat_lib_shadow", know.Error, func(f *machine.EnvFiles) {
		f.Loaded = append(f.Loaded, machine.LoadedLibrary{Name: "libcuda.so.1", By: "libcudart.so.12", Path: "/opt/cuda/lib64/stubs/libcuda.so", Via: "ld.so.cache", Size: 60000})
	}},
	{"libcuda of another driver", "DRV008", "cuda_compat_lib_shadow", know.Error, func(f *machine.EnvFiles) {
		f.Loaded = append(f.Loaded,
			machine.LoadedLibrary{
				Name: "libcuda.so.1", By: "libcudart.so.12", Path: "/opt/old/libcuda.so.535.54.03",
				Via: "LD_LIBRARY_PATH", Version: "535.54.03", Size: 30 << 20,
			})
	}},
	{
		"a RECORD that is cut off", "PY011", "torch_duplicate_install", know.Error,
		func(f *machine.EnvFiles) { f.Dists[0].Record = "cut off" },
	},
	{"files that are gone", "PY010", "missing_runtime_lib", know.Error, func(f *machine.EnvFiles) {
		f.Dists[0].Absent, f.Dists[0].Missing = 1, []string{site + "/torch/lib/libtorch_cuda.so"}
	}},
	{
		"a library of another size", "PY011", "torch_duplicate_install", know.Error,
		func(f *machine.EnvFiles) { f.Dists[0].Resized = []string{site + "/torch/lib/libtorch_cuda.so"} },
	},
	{"PYTHONPATH", "PY004", "torch_duplicate_install", know.Error, func(f *machine.EnvFiles) {
		f.Imports = append([]machine.ImportPlace{{Path: "/opt/lib/torch/__init__.py", Place: machine.InPythonPath}},
			f.Imports...)
	}},
	{"a file named torch.py", "PY013", "torch_duplicate_install", know.Error, func(f *machine.EnvFiles) {
		f.Imports = append([]machine.ImportPlace{{Path: "/proj/torch.py", Place: machine.InWorkingDir}}, f.Imports...)
	}},
}

// TestEnvironments: every broken environment is named first, and the whole one
// has no finding of severity warning or error.
func TestEnvironments(t *testing.T) {
	for _, f := range Examine(know.Embedded(), patientWith(t, healthyFiles())).Findings {
		if f.Severity > know.Note {
			t.Errorf("healthy: %s %s %q", f.Check, f.Text, f.Evidence)
		}
	}
	named := map[string]bool{}
	for _, b := range broken {
		files := healthyFiles()
		b.damage(files)
		got := Examine(know.Embedded(), patientWith(t, files)).Findings
		if len(got) == 0 {
			t.Errorf("%s: nothing found", b.name)
			continue
		}
		if f := got[0]; f.Check != b.check || f.Cause != b.cause || f.Severity != b.severity || len(f.Fix) == 0 ||
			len(f.Evidence) == 0 {
			t.Errorf("%s: first is %s %s %s %q %q %q", b.name, f.Check, f.Cause, f.Severity, f.Text, f.Evidence, f.Fix)
		}
		named[b.check] = true
	}
	for _, check := range []string{
		"LD001", "LD002", "LD003", "LD010", "PY004", "PY007", "PY010", "PY011", "PY013", "PY014", "PY027",
		"IDX003", "DRV008",
	} {
		if !named[check] {
			t.Errorf("no broken environment for %s", check)
		}
	}
}

// What LD_LIBRARY_PATH holds and torch does not take is no fault.
func TestHarmlessLibraryPath(t *testing.T) {
	c := patientWith(t, healthyFiles())
	c.Machine.Env["LD_LIBRARY_PATH"] = "/opt/cudnn/lib"
	c.Machine.LibraryDirs = []machine.LibraryDir{{Path: "/opt/cudnn/lib", Files: []string{"libcudnn.so.9"}}}
	got := Examine(know.Embedded(), c)
	if len(got.Findings) != 0 || !got.OK {
		t.Errorf("got %+v", got)
	}
}

// An environment that uv made has no pip of its own: what is called so would install
// into another one.
func TestRemedyForAnEnvironmentWithoutPip(t *testing.T) {
	for want, with := range map[string][]machine.Package{
		"`uv pip install --python /env/bin/python --reinstall --no-deps torchvision==0.24.1`": nil,
		"`pip install --force-reinstall --no-deps torchvision==0.24.1`":                       {{Name: "pip", Version: "25.0"}},
	} {
		f := healthyFiles()
		f.Dists[1].Files, f.Dists[1].Absent, f.Dists[1].Missing = 100, 1, []string{site + "/torchvision/_C.so"}
		c := patientWith(t, f)
		c.Machine.Pythons = []machine.Python{{Version: "3.12.3", Path: "/env/bin/python", Active: true}}
		c.Machine.Installed = append(c.Machine.Installed, with...)
		r := Examine(know.Embedded(), c)
		if len(r.Findings) == 0 || !slices.Contains(r.Findings[0].Fix, want) {
			t.Errorf("want %s in\n%+v", want, r.Findings)
		}
	}
}
