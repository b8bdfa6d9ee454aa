package resolver

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// Where a system has no builds of a kind, the refusal says so and lists none.
func TestNothingToList(t *testing.T) {
	for _, c := range []struct {
		platform machine.Platform
		request  Request
		want     string
	}{
		{machine.Platform{OS: "macos", Arch: "arm64"}, Request{CUDA: "12.6"}, "no build of torch is made with CUDA 12.6 for macos arm64, nor with any other"},
		{machine.Platform{OS: "linux", Arch: "x86_64"}, Request{CUDA: "12.7"}, "no build of torch is made with CUDA 12.7: there are 13"},
		{machine.Platform{OS: "macos", Arch: "arm64"}, Request{Build: "cu126"}, "torch has no build `cu126` for macos arm64: there are mps"},
		{machine.Platform{OS: "linux", Arch: "riscv64"}, Request{Build: "cu126"}, "torch has no build `cu126` for linux riscv64: there are none"},
	} {
		res, err := Resolve(matrix.Embedded(), machine.Machine{Platform: c.platform}, c.request)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, r := range res.Reasons {
			said += r.Text + "\n"
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%v %+v: %q is not in\n%s", c.platform, c.request, c.want, said)
		}
	}
}
