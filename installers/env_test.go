package installers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// rows is a matrix with one build, so that the versions of its libraries are known.
func rows() *matrix.Matrix {
	rel := &matrix.Release{Torch: version.MustPython("2.14.1")}
	rel.Builds = []*matrix.Build{{Release: rel, Label: "cu126", OS: "linux", Arch: "x86_64", CUDA: version.MustDotted("12.6.3"), CuDNN: version.MustDotted("9.10.2.21"),
		Pins: map[string]string{"cufft": "11.3.0.4", "cusparse": "12.5.4.2"}}}
	return &matrix.Matrix{Releases: []*matrix.Release{rel}}
}

func TestEnvFixes(t *testing.T) {
	partial := install(choice())
	partial.Decision, partial.VisibleGPUs, partial.CUDAVisible = resolver.Partial, []int{1}, "1"
	byUUID := install(choice())
	byUUID.Decision, byUUID.VisibleGPUs, byUUID.CUDAVisible = resolver.Partial, []int{1}, "GPU-1"
	cpu := choice()
	cpu.Build, cpu.CUDA, cpu.CuDNN = "cpu", "", ""
	conda := choice()
	conda.Channel = managers.CondaForge
	const dir = "/usr/local/cuda-12.3/lib64"

	for _, test := range []struct {
		name string
		env  map[string]string
		dirs []machine.LibraryDir
		res  *resolver.Resolution
		want []string
	}{
		{name: "nothing set", want: nil},
		{name: "an entry nobody read", env: map[string]string{"LD_LIBRARY_PATH": "/opt/site/lib:" + dir},
			want: []string{"remove LD_LIBRARY_PATH " + dir + " suspected: CUDA libraries there would come before torch's own"}},
		{name: "an entry that shadows", env: map[string]string{"LD_LIBRARY_PATH": dir}, dirs: []machine.LibraryDir{{Path: dir, Files: []string{"libfoo.so.1", "libcudnn.so.9.1.0"}, From: "~/.bashrc:12"}},
			want: []string{"remove LD_LIBRARY_PATH " + dir + ": its libcudnn.so.9.1.0 comes before torch's own libcudnn.so.9 (~/.bashrc:12)"}},
		{name: "by the pin's major", env: map[string]string{"LD_LIBRARY_PATH": "/x"}, dirs: []machine.LibraryDir{{Path: "/x", Files: []string{"libcufft.so.11"}}},
			want: []string{"remove LD_LIBRARY_PATH /x: its libcufft.so.11 comes before torch's own libcufft.so.11"}},
		{name: "libraries of another CUDA have other names", env: map[string]string{"LD_LIBRARY_PATH": "/usr/local/cuda-11.8/lib64"},
			dirs: []machine.LibraryDir{{Path: "/usr/local/cuda-11.8/lib64", Files: []string{"libcublas.so.11", "libcufft.so.10", "libcudnn.so.8", "libcublas.so"}}}, want: nil},
		{name: "an entry without CUDA", env: map[string]string{"LD_LIBRARY_PATH": "/usr/local/cuda-12.3/lib64"}, dirs: []machine.LibraryDir{{Path: dir, Files: []string{}}}, want: nil},
		{name: "stubs", env: map[string]string{"LD_LIBRARY_PATH": "/usr/local/cuda/lib64/stubs/"},
			want: []string{"remove LD_LIBRARY_PATH /usr/local/cuda/lib64/stubs/: its libcuda is a stub for linking; nothing can run with it"}},
		{name: "compat", env: map[string]string{"LD_LIBRARY_PATH": "/usr/local/cuda/compat"},
			want: []string{"remove LD_LIBRARY_PATH /usr/local/cuda/compat suspected: a cuda-compat library there would replace the driver's own libcuda"}},
		{name: "WSL's own", env: map[string]string{"LD_LIBRARY_PATH": "/usr/lib/wsl/lib"}, want: nil},
		{name: "a CPU build has nothing to shadow", env: map[string]string{"LD_LIBRARY_PATH": dir}, res: install(cpu), want: nil},
		{name: "conda's Python has an RPATH", env: map[string]string{"LD_LIBRARY_PATH": dir}, res: install(conda), want: nil},
		{name: "preload", env: map[string]string{"LD_PRELOAD": "/usr/lib/libtcmalloc.so /opt/libnccl.so.2"},
			want: []string{"remove LD_PRELOAD /opt/libnccl.so.2: it replaces torch's own library in every process"}},
		{name: "PYTHONPATH", env: map[string]string{"PYTHONPATH": "/home/me/src:/usr/lib/python3/dist-packages", "PYTHONHOME": "/usr"},
			want: []string{"remove PYTHONHOME /usr: the environment's Python would take another standard library", "remove PYTHONPATH /usr/lib/python3/dist-packages: its packages would come before the environment's"}},
		{name: "all GPUs hidden", env: map[string]string{"CUDA_VISIBLE_DEVICES": ""}, want: []string{`remove CUDA_VISIBLE_DEVICES : "" is no GPU here, so it hides all 1`}},
		{name: "minus one", env: map[string]string{"CUDA_VISIBLE_DEVICES": "-1"}, want: []string{`remove CUDA_VISIBLE_DEVICES -1: "-1" is no GPU here, so it hides all 1`}},
		{name: "past the last", env: map[string]string{"CUDA_VISIBLE_DEVICES": "0,3"}, want: []string{`remove CUDA_VISIBLE_DEVICES 0,3: "3" is no GPU here, so it and what follows are hidden`}},
		{name: "a choice of one's own", env: map[string]string{"CUDA_VISIBLE_DEVICES": "0"}, want: nil},
		{name: "by UUID", env: map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-8c1f"}, want: nil},
		{name: "partial", res: partial, want: []string{"set CUDA_VISIBLE_DEVICES 1: the other GPUs have no code in this build", "set CUDA_DEVICE_ORDER PCI_BUS_ID: the indexes count GPUs in the order of the bus"}},
		{name: "partial by UUID", res: byUUID, want: []string{"set CUDA_VISIBLE_DEVICES GPU-1: the other GPUs have no code in this build"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := v100()
			h.Env, h.LibraryDirs = test.env, test.dirs
			if test.res == nil {
				test.res = install(choice())
			}
			var got []string
			for _, f := range EnvFixes(rows(), h, resolver.Request{}, test.res) {
				line := f.Action + " " + f.Variable + " " + f.Value
				if f.Suspected {
					line += " suspected"
				}
				line += ": " + f.Why
				if f.From != "" {
					line += " (" + f.From + ")"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The lines in the activate script, run by a real shell, take out the shadowing
// entries and nothing else.
func TestActivate(t *testing.T) {
	h := v100()
	h.Env["LD_LIBRARY_PATH"] = "/opt/site:/usr/local/cuda-12.3/lib64:/usr/local/cuda it's/lib:/usr/local/cuda $(touch pwned)/lib"
	p := must(t, h, resolver.Request{}, install(choice()), plan.Target{})
	var lines []string
	for _, s := range p.Steps {
		if s.Block != nil {
			if s.Block.Path != "{gen}/bin/activate" {
				t.Errorf("block in %s", s.Block.Path)
			}
			lines = s.Block.Lines
		}
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-euc", strings.Join(lines, "\n")+"\nprintf %s \"$LD_LIBRARY_PATH\"")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "LD_LIBRARY_PATH=" + h.Env["LD_LIBRARY_PATH"] + ":/last"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff("/opt/site:/usr/local/cuda it's/lib:/last", string(out)); diff != "" {
		t.Error(diff) // an entry with a quote is left to `envfix env`, which quotes for the shell at hand
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("an entry was run as a command")
	}
}

// Where nothing but a variable is wrong, the script that activates the environment
// is all that changes: conda's own reads a directory.
func TestActivateAlone(t *testing.T) {
	fix := plan.EnvFix{Variable: "PYTHONNOUSERSITE", Action: "set", Value: "1", Why: "the user's site-packages hold another torch"}
	for source, path := range map[string]string{"venv": "{gen}/bin/activate", "conda": "{gen}/etc/conda/activate.d/envfix.sh"} {
		h := v100()
		h.Pythons[0].Source = source
		h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126"}, {Name: "torchvision", Version: "0.29.1+cu126"}}
		p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Repair: &plan.Repair{Fixes: []plan.EnvFix{fix}}})
		want := []plan.Step{{ID: "activate", Title: "mend PYTHONNOUSERSITE where the environment is active", Why: "what they name would come before what belongs there",
			Block: &plan.Block{Path: path, Name: "envfix", Lines: []string{"export PYTHONNOUSERSITE='1'"}}}}
		if diff := cmp.Diff(want, p.Steps); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
		if p := must(t, h, resolver.Request{}, install(choice()), plan.Target{}); len(p.Steps) > 0 {
			t.Errorf("%s: nothing is asked for, and yet %v", source, p.Steps)
		}
	}
}

// An environment whose files are broken is built anew although its packages are
// right; what uv keeps of those that were written to goes first.
func TestBuiltAnew(t *testing.T) {
	h := v100()
	h.Pythons[0].Source = "venv"
	h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126"}, {Name: "torchvision", Version: "0.29.1+cu126"}}
	for _, test := range []struct {
		target plan.Target
		want   string
	}{
		{plan.Target{}, ""},
		{plan.Target{Repair: &plan.Repair{Rebuild: true}}, "venv torch check verify switch"},
		{plan.Target{Repair: &plan.Repair{Rebuild: true, Fetch: []string{"torch", "torch"}}}, "venv torch check verify switch"},
		{plan.Target{Manager: "pip", Repair: &plan.Repair{Rebuild: true, Fetch: []string{"torch"}}}, "venv torch check verify switch"},
		{plan.Target{Offline: true, Repair: &plan.Repair{Rebuild: true, Fetch: []string{"torch"}}}, "venv torch check verify switch"},
		{plan.Target{InPlace: true, Repair: &plan.Repair{Rebuild: true}}, "torch check verify"},
	} {
		var ids []string
		again := false
		p := must(t, h, resolver.Request{}, install(choice()), test.target)
		for _, s := range p.Steps {
			ids = append(ids, s.ID)
			again = again || s.Run != nil && strings.Contains(strings.Join(s.Run.Argv, " "), " --refresh-package torch ")
		}
		if got := strings.Join(ids, " "); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.target.Repair, got, test.want)
		}
		if want := test.target.Repair != nil && len(test.target.Repair.Fetch) > 0 && test.target.Manager == "" && !test.target.Offline; again != want {
			t.Errorf("%+v: torch is fetched again: %v", test.target.Repair, again)
		}
		if test.target.InPlace && !strings.Contains(strings.Join(p.Steps[0].Run.Argv, " "), "--reinstall ") {
			t.Errorf("in place: %v", p.Steps[0].Run.Argv)
		}
	}
}

func TestInstalledFixes(t *testing.T) {
	cuda := "12.6"
	h := v100()
	h.Env["LD_LIBRARY_PATH"] = "/x"
	h.LibraryDirs = []machine.LibraryDir{{Path: "/x", Files: []string{"libcudnn.so.9"}}}
	if got := InstalledFixes(rows(), h); len(got) != 0 {
		t.Errorf("without torch: %v", got)
	}
	h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126", CUDA: &cuda}}
	if got := InstalledFixes(rows(), h); len(got) != 1 || got[0].Value != "/x" {
		t.Errorf("with torch: %v", got)
	}
}

// A variable that has one value, and that no Python starts with, is unset by the activate script.
func TestActivateUnsets(t *testing.T) {
	fix := plan.EnvFix{Variable: "PYTHONPLATLIBDIR", Action: "remove", Value: "lib64"}
	out, err := exec.Command("sh", "-euc", "PYTHONPLATLIBDIR=lib64\n"+activateLine(fix)+"\nprintf %s \"${PYTHONPLATLIBDIR-none}\"").CombinedOutput()
	if err != nil || string(out) != "none" || Activated("PYTHONPLATLIBDIR", "lib64", []plan.EnvFix{fix}) != "" {
		t.Errorf("%v: %s", err, out)
	}
}
