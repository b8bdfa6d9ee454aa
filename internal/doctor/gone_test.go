package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
)

// A card that no driver of today's drives is left to itself where another one does the work:
// the branch that drives it is none for the other.
func TestSpareCardIsLeft(t *testing.T) {
	c := patientWith(t, healthyFiles())
	c.Machine.GPUs = append(c.Machine.GPUs, machine.GPU{Vendor: machine.NVIDIA, Name: "Tesla K80", SM: machine.SM{Major: 3, Minor: 7}, Index: 1})
	for _, f := range Examine(know.Embedded(), c).Findings {
		if all := strings.Join(f.Fix, " "); f.Check == "HW014" && (f.Severity != know.Note || strings.Contains(all, "470")) {
			t.Errorf("%v: %s", f.Severity, all)
		}
	}
}

// Where torch is gone and what is released with it stays, that names the torch that was
// there: it is brought again, and that it is missing is said once, as itself.
func TestTorchThatWasThere(t *testing.T) {
	f := healthyFiles()
	f.Dists, f.Imports = f.Dists[1:], nil
	c := patientWith(t, f)
	c.Torch.Version, c.Around, c.Machine.Installed = "", &machine.Around{}, c.Machine.Installed[1:]
	if v, build := InstalledTorch(c); v != "2.9.1" || build != "" {
		t.Errorf("torch %q, build %q", v, build)
	}
	if r := Examine(know.Embedded(), c); r.Findings[0].Check != "PY002" {
		t.Errorf("%s: %s", r.Findings[0].Check, r.Findings[0].Text)
	}
}

// A Python that is gone is put back into its environment, whose packages stay; where a file
// of theirs is broken too, it is built anew.
func TestPythonPutBack(t *testing.T) {
	f := healthyFiles()
	f.Python, f.Base = machine.PythonGone, "/opt/gone/bin"
	c := patientWith(t, f)
	r := Examine(know.Embedded(), c)
	if cure := CureOf(&r, c); cure.Repair.Frame != "3.12" || cure.First != 0 || cure.Anew || cure.Repair.Rebuild {
		t.Errorf("%+v %+v", cure, cure.Repair)
	}
	r.Findings = append(r.Findings, Finding{Check: "PY011", Cause: "torch_duplicate_install", Severity: know.Error, Mend: Mend{Rebuild: true}})
	if cure := CureOf(&r, c); cure.Repair.Frame != "" || !cure.Repair.Rebuild {
		t.Errorf("beside broken files: %+v", cure.Repair)
	}
}
