package doctor

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// What could not be read of a machine is never "nothing is wrong".
func TestUnread(t *testing.T) {
	for _, n := range []struct{ Words, Check string }{
		{"started without GPU access", "CTR001"},
		{"WSL 1 has no GPU", "CTR012"},
		{"shadows the one of Windows", "CTR013"},
		{"WSL without /dev/dxg", "CTR017"},
		{"/dev/kfd is missing", "ROC002"},
		{"/dev/kfd: no permission", "ROC003"},
		{"exists but is not loaded", "DRV001"},
		{"no NVIDIA kernel module was found for the running kernel", "DRV001"},
		{"but no NVIDIA library was found", "DRV002"},
		{"(cgroup) refuse", "CTR006"},
		{"/dev/nvidiactl is missing", "DRV015"},
		{"library cannot reach it", "ACC008"},
		{"library cannot reach it; /dev/nvidiactl is missing", "DRV015"},
		{"the driver hangs", "GPU002"},
		{"ended its process", "GPU002"},
	} {
		c := read.FromMachine(machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Notes: []string{"nvml: x " + n.Words + " y"}})
		r := Examine(know.Embedded(), c)
		if len(r.Findings) == 0 || r.Findings[0].Check != n.Check || r.OK || r.Verdict == Healthy {
			t.Errorf("%q: %v, %s", n.Words, checksOf(r), r.Verdict)
		}
	}
	fine := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Notes: []string{"nvml: switched off"}}
	if r := Examine(know.Embedded(), read.FromMachine(fine)); r.Verdict != Healthy {
		t.Errorf("switched off: %v", checksOf(r))
	}
}

// A container with a torch for CUDA that sees no GPU: from inside it cannot be told why.
func TestEmptyContainer(t *testing.T) {
	cuda := "12.8"
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Container},
		Installed: []machine.Package{{Name: "torch", Version: "2.9.1+cu128", CUDA: &cuda}}}
	if r := Examine(know.Embedded(), read.FromMachine(h)); r.Verdict != Unknown || len(r.Findings) == 0 || r.Findings[0].Check != "GPU003" {
		t.Errorf("%v, %s", checksOf(r), r.Verdict)
	}
	h.Env = map[string]string{"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}
	if r := Examine(know.Embedded(), read.FromMachine(h)); len(r.Findings) == 0 || !strings.Contains(strings.Join(r.Findings[0].Fix, " "), "Accelerator") {
		t.Errorf("a notebook of Kaggle: %+v", r.Findings)
	}
	bare := read.FromMachine(machine.Machine{Platform: h.Platform, Env: h.Env}) // nor a torch
	bare.Around = &machine.Around{}
	if r := Examine(know.Embedded(), bare); len(r.Findings) == 0 || r.Findings[0].Check != "PY002" || !strings.Contains(strings.Join(r.Findings[0].Fix, " "), "Accelerator") {
		t.Errorf("a notebook of Kaggle without torch: %+v", r.Findings)
	}
	h.Installed[0].Version, h.Installed[0].CUDA = "2.9.1+cpu", new("")
	if r := Examine(know.Embedded(), read.FromMachine(h)); r.Verdict != Healthy {
		t.Errorf("a CPU build: %v", checksOf(r))
	}
}

// An environment that was made without a GPU, in a container: no card is to be reseated.
func TestNoGPUInContainer(t *testing.T) {
	cuda := "12.8"
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Container},
		Installed: []machine.Package{{Name: "torch", Version: "2.9.1+cu128", CUDA: &cuda}}}
	patient := read.FromMachine(h)
	patient.WithoutGPU = true
	for _, f := range Examine(know.Embedded(), patient).Findings {
		if said := strings.Join(f.Fix, "\n"); f.Check == "GPU004" && (strings.Contains(said, "reseat") || !strings.Contains(said, "--gpus all")) {
			t.Errorf("%s: %s", f.Check, said)
		}
	}
	if !slices.Contains(checksOf(Examine(know.Embedded(), patient)), "GPU004") {
		t.Error("nothing is said of the GPU")
	}
}

// A torch for CUDA on a machine without a GPU: no fault, and said first; with the way to
// the GPUs where they are.
func TestNoGPUHere(t *testing.T) {
	cuda, slurm := "12.8", []machine.Tool{{Name: "sbatch"}}
	for _, c := range []struct {
		os, place, label string
		gpus             []machine.GPU
		check, fix       string
	}{
		{"linux", machine.Bare, "cu128", nil, "GPU004", "reseat"},
		{"linux", machine.Bare, "cu128", []machine.GPU{{Vendor: machine.Intel, Name: "UHD Graphics 630"}}, "GPU004", "reseat"},
		{"windows", machine.Bare, "cu128", nil, "GPU004", "reseat"},
		{"linux", machine.WSL2, "cu128", nil, "GPU004", "nvidia-smi.exe"},
		{"linux", machine.ContainerBuild, "cu128", nil, "GPU004", "docker run --gpus all"},
		{"linux", machine.HPCLogin, "cu128", nil, "GPU004", "`srun --gres=gpu:1 envfix doctor`"},
		{"linux", machine.HPCLogin, "cpu", nil, "GPU004", "`srun --gres=gpu:1 envfix plan`"},
		{"linux", machine.Bare, "cpu", nil, "", ""}, // by choice
		{"linux", machine.Bare, "cu128", []machine.GPU{{Vendor: machine.NVIDIA, Name: "NVIDIA A10", Visible: true}}, "", ""},
	} {
		h := machine.Machine{Platform: machine.Platform{OS: c.os, Arch: "x86_64", Environment: c.place}, GPUs: c.gpus, Tools: slurm,
			Installed: []machine.Package{{Name: "torch", Version: "2.9.1+" + c.label, CUDA: &cuda}}}
		if c.label == "cpu" {
			h.Installed[0].CUDA = new("")
		}
		if len(c.gpus) > 0 && c.check == "" && c.gpus[0].Vendor == machine.NVIDIA {
			h.Driver = &machine.Driver{Version: version.MustDotted("580.95.05")}
		}
		r := Examine(know.Embedded(), read.FromMachine(h))
		if got := strings.Join(checksOf(r), " "); got != c.check || r.Verdict != Healthy {
			t.Errorf("%s %s %s: %q, %s", c.os, c.place, c.label, got, r.Verdict)
		} else if got != "" && !strings.Contains(strings.Join(r.Findings[0].Fix, "\n"), c.fix) {
			t.Errorf("%s %s %s: %q", c.os, c.place, c.label, r.Findings[0].Fix)
		}
	}
}

// "False, and no message" is answered by hypotheses, each with its test, in every
// language that is asked in.
func TestQuestion(t *testing.T) {
	for _, text := range []string{
		"torch.cuda.is_available() returns False", "GPU not detected", "CUDA is not available", "torch does not detect my GPU",
		"CUDA不可用", "检测不到GPU", "CUDA nicht verfügbar, RTX 3060", "PyTorch ne détecte pas le GPU", "торч не видит видеокарту",
		"GPUが認識されない", "no detecta la GPU",
	} {
		r, _ := examine(t, text)
		if len(r.Findings) == 0 || r.Findings[0].Check != "GPU001" || r.Verdict != Unknown {
			t.Errorf("%q: %v, %s", text, checksOf(r), r.Verdict)
			continue
		}
		for _, way := range r.Findings[0].Fix[:len(r.Findings[0].Fix)-1] {
			if strings.HasPrefix(way, evidence.IfSo+"`") {
				continue
			}
			if !strings.HasPrefix(way, "likely: ") && !strings.HasPrefix(way, "possible: ") || strings.Count(way, "`") < 2 {
				t.Errorf("%q: %q is no hypothesis with a test", text, way)
			}
		}
	}
}
