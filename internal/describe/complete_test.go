package describe

import (
	"strings"
	"testing"

	"envfix/internal/machine"
)

func TestComplete(t *testing.T) {
	h := machine.Machine{GPUs: []machine.GPU{
		{Vendor: machine.NVIDIA, Name: "GeForce RTX 4090"},
		{Vendor: machine.NVIDIA, Name: "a card", PCIID: "10de:1db5"},
		{Vendor: machine.NVIDIA, Name: "GeForce RTX 4090", SM: machine.MustSM("7.5")}, // the file's word stays
		{Vendor: machine.NVIDIA, Name: "GeForce GT 730"},                              // Fermi and Kepler bear this name
		{Vendor: machine.NVIDIA, Name: "no such thing"},
		{Vendor: machine.AMD, Name: "GeForce RTX 4090"},
	}}
	Complete(&h)
	want := []string{"8.9", "7.0", "7.5", "", "", ""}
	for i, g := range h.GPUs {
		if g.SM.String() != want[i] {
			t.Errorf("%s %s: capability %q, want %q", g.Name, g.PCIID, g.SM, want[i])
		}
	}
}

func TestUsual(t *testing.T) {
	d := Machine{GPUs: []string{"GTX 750 Ti", "RTX 4090", "no such thing", "5.0"}}
	got := d.Usual()
	if len(got) != 1 || !strings.Contains(got[0], "750") || !strings.Contains(got[0], "--gpu 3.0") {
		t.Errorf("%q, want one sentence on the GTX 750 Ti and --gpu 3.0", got)
	}
}
