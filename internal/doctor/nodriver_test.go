package doctor

import (
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// TestNoDriver: a GPU on the bus that no driver serves is a fault, whatever is right with the
// environment.
func TestNoDriver(t *testing.T) {
	for name, driver := range map[string]*machine.Driver{
		"none is installed":    nil,
		"its module is absent": {Version: version.MustDotted("580.95.05"), NotLoaded: true, Evidence: machine.FromNVML},
	} {
		p := patientWith(t, healthyFiles())
		p.Machine.Driver = driver
		for i := range p.Machine.GPUs {
			p.Machine.GPUs[i].Visible, p.Machine.GPUs[i].Evidence = false, "pci"
		}
		r := Examine(know.Embedded(), p)
		if len(r.Findings) == 0 || r.OK || r.Findings[0].Check != "DRV001" || r.Findings[0].Severity != know.Error {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// TestUnusable: a GPU that cannot be used is never called healthy, also where no rule knows why.
func TestUnusable(t *testing.T) {
	p := patientWith(t, healthyFiles())
	p.Machine.GPUs[0].Visible, p.Machine.Platform.Environment = false, machine.Container
	r := Examine(know.Embedded(), p)
	if r.OK || r.Verdict == Healthy || len(r.Findings) == 0 || r.Findings[0].Check != "GPU001" {
		t.Errorf("%s %+v", r.Verdict, r.Findings)
	}
}
