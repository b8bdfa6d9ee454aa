package resolver

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// That an installer would keep what is there by its version is said where that is so: of
// the version that is chosen, in another build, and of wheels.
func TestLabelKept(t *testing.T) {
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc"}}}
	for _, c := range []struct {
		installed, manager string
		said               bool
	}{{"2.14.1+cu126", "uv", true}, {"2.13.0+cu126", "uv", false}, {"2.13.0+cu126", "micromamba", false}, {"2.14.1+cpu", "uv", false}} {
		h.Installed = []machine.Package{{Name: "torch", Version: c.installed}}
		res, err := Resolve(matrix.Embedded(), h, Request{CPU: true, Python: "3.12", Manager: c.manager, Requirements: parsed(t, "torch<2.15")})
		if err != nil || res.Choice == nil {
			t.Fatalf("%v: %+v", err, res)
		}
		said := strings.Join(res.Warnings, "\n")
		if strings.Contains(said, "a local label never decides") != c.said {
			t.Errorf("%s beside torch %s of %s: %s", c.installed, res.Choice.Torch, c.manager, said)
		}
		for _, r := range res.Reasons {
			if c.manager == "micromamba" && strings.Contains(r.Text, "Python index") {
				t.Errorf("a channel of conda's is no Python index: %s", r.Text)
			}
		}
	}
}

// What is done by hand is done with the manager of the plan: uv's environment has no pip.
func TestByHand(t *testing.T) {
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc"}}}
	for manager, with := range map[string]string{"": "`uv pip install ", "uv": "`uv pip install ", "pip": "`pip install "} {
		res, err := Resolve(matrix.Embedded(), h, Request{Python: "3.12", Manager: manager, Requirements: parsed(t, "torch-scatter")})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(res.Alternatives, "\n"); !strings.Contains(said, "torch and setuptools, then "+with+"torch-scatter") {
			t.Errorf("by %q: %s", manager, said)
		}
	}
}

// A release of a framework that no row is of is not known, and never said not to be there.
func TestUnreadRelease(t *testing.T) {
	h := drawn{os: "linux", arch: "x86_64", glibc: "2.36", gpus: []string{"8.0"}, driver: "570.133.07"}.machine()
	for wish, want := range map[string]string{
		"cupy-cuda11x==13.0.0": "nobody here has read cupy-cuda11x==13.0.0|`uv pip install 'cupy-cuda11x==13.0.0'`",
		"jax[cuda12]==0.4.20":  "nobody here has read jax[cuda12]==0.4.20|`uv pip install 'jax[cuda12]==0.4.20'` takes it",
		"jax==0.4.20":          "nobody here has read jax==0.4.20|`uv pip install 'jax==0.4.20'` takes it",
		"cupy-cuda12x[ctk]<13": "you asked for cupy-cuda12x[ctk]<13",
	} {
		res, err := Resolve(matrix.Embedded(), h, Request{Python: "3.10", Requirements: parsed(t, wish)})
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(res.Reasons, res.Warnings, res.Alternatives)
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q is not in\n%s", wish, part, said)
			}
		}
		if strings.Contains(want, "read") && strings.Contains(said, "you asked for") {
			t.Errorf("%s: %s", wish, said)
		}
	}
}
