package examine

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/testenv"
	"envfix/internal/version"
	"envfix/matrix"
)

// TestCodeOfItsOwn: a build that the data has no row of is judged by the list in its library, and without one it is not said that it works.
func TestCodeOfItsOwn(t *testing.T) {
	const many, cuda = "\x00sm_80 sm_90 compute_90\x00", "12.6"
	for _, c := range []struct{ version, library, sm, want string }{
		{"2.6.0a0+ecf3bae40a.nv25.01", many, "7.5", "no code for the"}, {"2.6.0a0+ecf3bae40a.nv25.01", many, "8.9", ""},
		{"2.9.1+gitd38164a", "\x00sm_89\x00", "8.0", "no code for the"}, {"2.9.1+gitd38164a", "\x00sm_89\x00", "8.9", ""},
		{"2.9.1+gitd38164a", "none", "8.9", "for which GPUs"}, {"2.9.1+cu126", "\x00sm_89\x00", "8.0", ""}, // of which there is a row
	} {
		torch := testenv.Tree(t, map[string]string{"torch/lib/libtorch_python.so": c.library}) + "/torch"
		v := cuda
		m := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Driver: &machine.Driver{Version: version.MustDotted("580.82.07")},
			GPUs:      []machine.GPU{{Vendor: machine.NVIDIA, Name: "a GPU", SM: machine.MustSM(c.sm), Visible: true, Evidence: machine.FromNVML}},
			Pythons:   []machine.Python{{Path: torch + "/../bin/python", Version: "3.12.4", Active: true}},
			Installed: []machine.Package{{Name: "torch", Version: c.version, CUDA: &v}}}
		patient := read.FromMachine(m)
		patient.Matrix = matrix.Embedded()
		patient.Files = &machine.EnvFiles{Dir: "/env", Imports: []machine.ImportPlace{{Path: torch + "/__init__.py", Place: machine.InEnvironment}}}
		Code(patient)
		r := doctor.Examine(know.Embedded(), patient)
		said := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool { return strings.Contains(f.Text, cmp.Or(c.want, "has no code")) })
		if (said >= 0) != (c.want != "") {
			t.Errorf("%s, %q, %s: %+v", c.version, c.library, c.sm, r.Findings)
		}
	}
}
