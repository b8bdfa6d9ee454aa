package resolver

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// Of several GPUs only those are named for which a package has no code.
func TestUnbuildable(t *testing.T) {
	rows := []matrix.Elsewhere{{Package: "flash-attn", Archs: []string{"8.0", "9.0"}}}
	gpu := func(name, sm string) machine.GPU {
		return machine.GPU{Vendor: machine.NVIDIA, Name: name, SM: machine.MustSM(sm)}
	}
	if got := Unbuildable(rows, []machine.GPU{gpu("V100", "7.0"), gpu("A100", "8.0")}); !strings.HasPrefix(got, "flash-attn has no code for V100 (7.0), and") {
		t.Error(got)
	}
	if got := Unbuildable(rows, []machine.GPU{gpu("A100", "8.0"), gpu("RTX 4090", "8.9")}); got != "" {
		t.Error(got)
	}
}

// What is said of a package on an old GPU is what speaks against it there: that nothing can
// be built for it, not that it has to be built; of several libraries of one release the one
// for the build's CUDA; and the release whose bytes have code for the GPU is taken.
func TestWhatSpeaksAgainst(t *testing.T) {
	for _, c := range []struct{ gpu, sm, python, wish, want string }{
		{"T4", "7.5", "3.11", "flash-attn", "flash-attn 2.8.3.post2 has no code for T4 (7.5), and cannot be built"},
		{"Tesla M40", "5.2", "3.10", "bitsandbytes", "0.50.2 has no code for Tesla M40 (5.2)"},
		{"GTX 1080 Ti", "6.1", "3.10", "tensorrt", "tensorrt>=8.6.0,<=8.6.0"},
		{"GTX 980", "5.2", "3.10", "tensorrt", "tensorrt>=8.5.1.7,<=8.5.3.1"},
		{"RTX 5090", "12.0", "3.12", "tensorflow", "its builds are for GPUs from 6.0 on"},
	} {
		h := drawn{os: "linux", arch: "x86_64", glibc: "2.36", gpus: []string{c.sm}, driver: "570.133.07"}.machine()
		h.GPUs[0].Name = c.gpu
		res, err := Resolve(matrix.Embedded(), h, Request{Python: c.python, Requirements: parsed(t, c.wish)})
		if err != nil {
			t.Fatal(err)
		}
		if res.Choice == nil {
			res.Choice = &Choice{}
		}
		if got := fmt.Sprintf("%s %+v %+v", strings.Join(render(res), "\n"), res, *res.Choice); !strings.Contains(got, c.want) {
			t.Errorf("%s on %s: %q is not in\n%s", c.wish, c.gpu, c.want, got)
		}
	}
}

// A wheel without CUDA is not taken for a GPU where others of the package have it, on another
// system or in another place; it is where a CPU build was asked for, and where it is whole.
func TestBareWheelForGPU(t *testing.T) {
	for _, c := range []struct {
		os, arch, python, build, want string
		wish                          []string
	}{
		{"windows", "x86_64", "3.11", "cu118", "xformers 0.0.31 computes on the CPU alone", []string{"xformers==0.0.31"}},
		{"linux", "x86_64", "3.10", "cu118", "dgl 2.1.0 computes on the CPU alone", []string{"torch==2.2.1", "dgl"}},
		{"linux", "x86_64", "3.10", "", "dgl 2.1.0 computes on the CPU alone", []string{"dgl"}},
		{"linux", "x86_64", "3.10", "cpu", "", []string{"torch==2.2.1", "dgl"}},
		{"windows", "x86_64", "3.11", "", "", []string{"torch==2.8.0", "torchcodec==0.7.0"}},
	} {
		h := drawn{os: c.os, arch: c.arch, glibc: "2.36", gpus: []string{"8.6"}, driver: "570.133.07"}.machine()
		res, err := Resolve(matrix.Embedded(), h, Request{Python: c.python, Build: c.build, Requirements: parsed(t, c.wish...)})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, r := range res.Reasons {
			said = append(said, r.Text)
		}
		if (res.Choice != nil) != (c.want == "") || !strings.Contains(strings.Join(said, "; "), c.want) {
			t.Errorf("%v: %v %v", c.wish, res.Choice, said)
		}
	}
}
