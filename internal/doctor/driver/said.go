package driver

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/version"
)

// saidFloor: nobody says which build of torch it is, and the CUDA that is there needs a
// newer driver. Programs of that CUDA fail on it, whatever brought them.
func saidFloor(e *evidence.Evidence, out *evidence.Findings) {
	d, cuda := e.Machine.Driver, e.Says.CUDAVersion
	if !e.Pasted || d == nil || d.Version.IsZero() || !e.Torch.CUDA.IsZero() || e.Torch.NoCUDA || e.Torch.SeesGPU() || cuda.IsZero() {
		return
	}
	_, insufficient := e.Has("cudart-insufficient")
	floor := floorOfOld(e, cuda)
	if floor.IsZero() || !d.Version.Less(floor) || !insufficient && !e.Torch.SeesNone() &&
		e.Says.Unseen.IsZero() && !e.Says.Trouble && !e.Says.Asks {
		return
	}
	out.Find("DRV005", evidence.Strong.Exact(), e.From.Driver, e.Says.CUDA, e.Torch.AvailableAt).
		Says("driver %s is too old for CUDA %s, which needs %s or newer", d.Version, cuda, floor)
}

// newerPackage: the driver runs torch's CUDA, and a program finds it too old: it is
// another package that is of a newer CUDA. torch itself names the driver that it found.
func newerPackage(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	d, own := e.Machine.Driver, e.Torch.CUDA
	if e.Hit("cudart-insufficient") == nil || e.Hit("torch-driver-too-old") != nil || d == nil || own.IsZero() || d.Version.Less(e.Driver().Floor(own)) {
		return
	}
	says := fmt.Sprintf("driver %s runs torch's CUDA %s: another package that is used here is of a newer CUDA", d.Version, own)
	ways := []string{"`pip list` names the packages of another CUDA (…-cu13, cuda-python 13): take those of torch's CUDA",
		"or a newer driver: `envfix plan --change-driver`"}
	for _, p := range e.Packages {
		m := ofCUDA().FindStringSubmatch(p.Name + "==" + p.Version)
		if m == nil {
			continue
		}
		major := m[1] + m[2]
		if floor := e.Driver().Floor(evidence.Dotted(major + ".0")); d.Version.Less(floor) {
			says = fmt.Sprintf("driver %s runs torch's CUDA %s; %s %s is of CUDA %s, which needs driver %s", d.Version, own, p.Name, p.Version, major, floor)
			ways[0] = fmt.Sprintf("the build of %s for CUDA %d", p.Name, own.Major())
			if m[2] != "" {
				ways[0] = "`pip install \"" + p.Name + "<" + major + "\"`"
			}
			break
		}
	}
	for _, f := range found.Of("DRV005") {
		out.Anew(f).Say(says).Do(ways...)
	}
}

// ofCUDA is a package that is for one major version of CUDA, by its name or its version.
var ofCUDA = lazy.Regexp(`-cu(?:da)?(1\d)x?==|^cuda-(?:python|bindings)==(1\d)\.`)

// floorOfOld is [exam.floor], also for the CUDA of times before the data begins.
func floorOfOld(e *evidence.Evidence, cuda version.Dotted) version.Dotted {
	for _, row := range e.Limit("driver-of-old-cuda").Values {
		if f := strings.Fields(row); f[0] == cuda.MajorMinor() {
			if e.Driver().WindowsColumn() {
				return evidence.Dotted(f[2])
			}
			return evidence.Dotted(f[1])
		}
	}
	return e.Driver().Floor(cuda)
}
