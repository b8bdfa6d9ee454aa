package resolver

import (
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"

	"github.com/google/go-cmp/cmp"
)

// What wheels of the matrix say of one version beside a choice that was made.
func TestBeside(t *testing.T) {
	m := matrix.Embedded()
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}
	type answer struct {
		Why   string
		Known bool
	}
	beside := Conflicts(m, h, &Choice{Torch: "2.14.1", Build: "cu126", CUDA: "12.6", Python: "3.12"})
	got := map[string]answer{}
	for name, v := range map[string]string{"xformers": "0.0.31.post1", "flash-attn": "2.8.3", "requests": "2.32.3", "bitsandbytes": "0.49.1"} {
		why, known := beside(name, v)
		got[name] = answer{why, known}
	}
	want := map[string]answer{
		"xformers":     {"needs torch==2.7.1", true},
		"flash-attn":   {"is only a source distribution: it has to be built", true},
		"requests":     {"", false},
		"bitsandbytes": {"", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if why, known := Conflicts(m, h, &Choice{Torch: "0.1", Build: "cu1", Python: "3.12"})("xformers", "0.0.31.post1"); why != "" || known {
		t.Errorf("a choice that no row has: %q %v", why, known)
	}
}

// A companion that an environment has is taken where one exists, and its lack is no
// refusal.
func TestHeldCompanions(t *testing.T) {
	m := matrix.Embedded()
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc"}}}
	r := Request{Requirements: parsed(t, "torch==2.14.1"), Companions: []string{"torchvision", "torchtext"}, CPU: true, Python: "3.12"}
	res, err := Resolve(m, h, r)
	if err != nil || res.Choice == nil {
		t.Fatalf("%v: %+v", err, res)
	}
	want := map[string]string{"torch": "2.14.1+cpu", "torchvision": "0.29.1+cpu"}
	if diff := cmp.Diff(want, res.Choice.Packages); diff != "" {
		t.Error(diff)
	}
}
