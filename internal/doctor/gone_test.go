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
