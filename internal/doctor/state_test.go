package doctor

import (
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
)

// Every fact has one of three states: what a paste does not say is unknown, what a
// machine was looked at for and does not have is absent.
func TestStates(t *testing.T) {
	states := func(r Report) map[string]State {
		out := map[string]State{}
		for _, k := range r.Facts {
			out[k.Fact] = k.State
			plain := k.Fact == "container or host" || k.Fact == "operating system" || k.Fact == "Python"
			if k.State == Seen && (k.Value == "" || k.Source == "" && !plain) {
				t.Errorf("seen without a value or a source: %+v", k)
			}
		}
		return out
	}
	r, _ := examine(t, "PyTorch version: 2.7.1+cu128\nIs CUDA available: False\nNvidia driver version: 570.133.20")
	for fact, want := range map[string]State{
		"torch": Seen, "driver": Seen, "torch.cuda.is_available()": Seen,
		"GPU": Unasked, "CUDA_VISIBLE_DEVICES": Unasked, "kernel module": Unasked,
	} {
		if got := states(r)[fact]; got != want {
			t.Errorf("pasted, %s: %q, want %q", fact, got, want)
		}
	}
	if _, said := states(r)["kernel log"]; said {
		t.Error("a paste has no kernel log of a machine")
	}
	c := patientWith(t, nil)
	c.Machine.GPUs, c.Machine.Driver = nil, nil
	c.Around = &machine.Around{}
	for fact, want := range map[string]State{
		"GPU": Absent, "driver": Absent, "CUDA_VISIBLE_DEVICES": Absent, "fabric manager": Absent,
		"CDI descriptions": Absent, "/dev/shm": Unasked, "peer access": Unasked, "torch.cuda.is_available()": Unasked,
	} {
		if got := states(Examine(know.Embedded(), c))[fact]; got != want {
			t.Errorf("this machine, %s: %q, want %q", fact, got, want)
		}
	}
}
