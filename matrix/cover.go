package matrix

import "envfix/internal/machine"

// Covers reports whether the code of a build, a library or a wheel is for a GPU: native, a
// cubin that runs on it; ptx, PTX that its driver can compile for it. Code that was not read
// covers nothing. The rule is PyTorch's own (torch/cuda/__init__.py): a cubin for X.y runs on
// X.z with z >= y, with the exceptions of CubinRules; an `a` cubin on that one capability
// only, an `f` cubin on its family.
func (m *Matrix) Covers(cubins, ptxs []Code, sm machine.SM) (native, ptx bool) {
	for _, c := range cubins {
		native = native || m.cubinRuns(c, sm)
	}
	for _, c := range ptxs {
		ptx = ptx || ptxRuns(c, sm)
	}
	return native, ptx
}

func (m *Matrix) cubinRuns(c Code, sm machine.SM) bool {
	if c.Suffix == "a" {
		return c.SM == sm
	}
	for _, r := range m.CubinRules {
		if r.Cubin == c.SM && r.Device == sm {
			return r.Runs
		}
	}
	return c.SM.Major == sm.Major && c.SM.Minor <= sm.Minor
}

// ptxRuns: PTX for compute_XX compiles for every GPU from XX on; with a suffix
// only for that capability (a) or its family (f).
func ptxRuns(c Code, sm machine.SM) bool {
	switch c.Suffix {
	case "a":
		return c.SM == sm
	case "f":
		return c.SM.Major == sm.Major && c.SM.Minor <= sm.Minor
	}
	return c.SM.Compare(sm) <= 0
}
