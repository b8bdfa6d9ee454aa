package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// What could not be read of a machine is never "nothing is wrong".
func TestUnread(t *testing.T) {
	for _, n := range unreadNotes {
		c := read.FromMachine(machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Notes: []string{"nvml: x " + n.words + " y"}})
		r := Examine(know.Embedded(), c)
		if len(r.Findings) == 0 || r.Findings[0].Check != n.check || r.OK || r.Verdict == Healthy {
			t.Errorf("%q: %v, %s", n.words, checksOf(r), r.Verdict)
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
	h.Installed[0].Version, h.Installed[0].CUDA = "2.9.1+cpu", new("")
	if r := Examine(know.Embedded(), read.FromMachine(h)); r.Verdict != Healthy {
		t.Errorf("a CPU build: %v", checksOf(r))
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
			if strings.HasPrefix(way, ifSo+"`") {
				continue
			}
			if !strings.HasPrefix(way, "likely: ") && !strings.HasPrefix(way, "possible: ") || strings.Count(way, "`") < 2 {
				t.Errorf("%q: %q is no hypothesis with a test", text, way)
			}
		}
	}
}
