//go:build linux && cgo

package gpu

// HasNVML says whether this build can load NVIDIA's library.
func HasNVML() bool { return true }

// childProgram is this program itself, which has a command for it.
func childProgram(self string) (child, error) { return child{self, func() {}}, nil }
