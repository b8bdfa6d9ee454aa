package driver

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
)

// driverFloor: the build's CUDA needs a newer driver. The driver's version
// decides; the CUDA version that nvidia-smi prints only where nothing else is
// known, and then its major.
func driverFloor(e *evidence.Evidence, out *evidence.Findings) {
	t := e.Torch
	if t.CUDA.IsZero() {
		defaultFloor(e, out)
		askedFloor(e, out)
		return
	}
	minor := evidence.Dotted(t.CUDA.MajorMinor())
	lower := !e.SMI.CUDA.IsZero() && e.SMI.CUDA.Less(minor)
	if e.Torch.SeesGPU() {
		if lower {
			out.Find("DRV006", evidence.Trifle, t.CUDAAt, e.SMI.At).
				Says("torch was built with CUDA %s and nvidia-smi shows %s: minor-version compatibility, nothing is wrong", minor, e.SMI.CUDA).
				Do("nothing to do")
		}
		return
	}
	floor := e.Driver().Floor(t.CUDA)
	d := e.Machine.Driver
	switch {
	case d != nil && !d.Version.IsZero() && !floor.IsZero():
		if d.Version.Less(floor) {
			f := tooOld(e, out, fmt.Sprintf("driver %s is too old for torch's CUDA %s, which needs %s", d.Version, minor, floor), e.From.Driver, t.CUDAAt)
			if g, a := e.Driver().LeftBehind(floor); g != nil {
				f.Do(fmt.Sprintf("no newer driver: %d is the last branch that drives the %s", a.LastBranch, evidence.NameOf(*g)), "{torch}")
			}
		}
	case !e.SaidDriver().IsZero() && !floor.IsZero() && e.SaidDriver().Less(floor):
		h := e.Hit("torch-driver-too-old")
		if h == nil {
			return
		}
		tooOld(e, out, fmt.Sprintf("the driver is of branch %d, and torch's CUDA %s needs driver %s or newer",
			e.SaidDriver().Major(), t.CUDA.MajorMinor(), floor), h.At, t.CUDAAt)
	case lower && (e.SMI.CUDA.Major() < t.CUDA.Major() || t.CUDA.Major() < 11):
		tooOld(e, out, fmt.Sprintf("the driver supports CUDA %s, and torch was built with %s", e.SMI.CUDA,
			t.CUDA.MajorMinor()),
			e.SMI.At, t.CUDAAt)
	}
}

// defaultFloor: nobody says which build of torch it is. On Linux pip takes that
// of the default index where no other index is named, and its CUDA is known.
func defaultFloor(e *evidence.Evidence, out *evidence.Findings) {
	t, d := e.Torch, e.Machine.Driver
	if !e.Pasted || !t.SeesNone() || t.NoCUDA || t.HIP != "" || t.Label != "" || d == nil || d.Version.IsZero() {
		return
	}
	cuda := defaultCUDA(e)
	if floor := e.Driver().Floor(cuda); d.Version.Less(floor) {
		tooOld(e, out, fmt.Sprintf("driver %s is too old for the default build of torch %s: its CUDA %s needs %s",
			d.Version, t.Version, cuda.MajorMinor(), floor),
			e.From.Driver, t.VersionAt)
	}
}

// defaultCUDA is the CUDA of the build that one gets without asking; zero: not known, or
// somebody may have asked.
func defaultCUDA(e *evidence.Evidence) version.Dotted {
	p, index := e.Machine.Platform, e.Did.Index.Text
	if cuda := evidence.Dotted(oldDefault(e.Torch.Version)); !cuda.IsZero() {
		return cuda
	}
	if e.Matrix == nil || p.OS != "linux" || p.Arch != "x86_64" || !e.Place.Conda.IsZero() ||
		strings.Contains(index, "whl/") && !strings.Contains(index, "torch_stable") {
		return version.Dotted{}
	}
	if release, ok := e.Matrix.Release(e.Torch.Version); ok {
		for _, b := range release.Builds {
			if b.Default && b.OS == p.OS && b.Arch == p.Arch {
				return b.CUDA
			}
		}
	}
	return version.Dotted{}
}

// oldDefault is the CUDA of the build that one got without asking, of releases
// before the data begins. Source: pytorch.org, previous versions.
func oldDefault(torch string) string {
	v := strings.SplitN(torch, ".", 3)
	if len(v) < 2 || v[0] != "1" {
		return ""
	}
	switch v[1] {
	case "2":
		return "10.0"
	case "3", "4":
		return "10.1"
	case "5", "6", "7", "8", "9", "10", "11":
		return "10.2"
	}
	return ""
}

// askedFloor: conda was asked for a build with this CUDA, and nothing says that it
// gave another.
func askedFloor(e *evidence.Evidence, out *evidence.Findings) {
	t, d, s := e.Torch, e.Machine.Driver, e.Did.CondaCUDA
	if d == nil || d.Version.IsZero() || s.IsZero() || t.NoCUDA || t.HIP != "" || !e.Torch.SeesNone() {
		return
	}
	name, cuda := e.Did.CondaAsked()
	if floor := e.Driver().Floor(cuda); !floor.IsZero() && d.Version.Less(floor) {
		f := tooOld(e, out, fmt.Sprintf("driver %s is too old for CUDA %s, which conda was asked for and which needs %s",
			d.Version, cuda, floor),
			e.From.Driver, s)
		if has := e.SMI.CUDA; !has.IsZero() && has.Less(cuda) {
			f.Do(append(f.Fix, fmt.Sprintf("or a build for the CUDA that this driver has: `%s=%s` in place of what conda was asked for",
				name, has))...)
		}
	}
}

func tooOld(e *evidence.Evidence, out *evidence.Findings, text string, said ...evidence.Quote) *evidence.Finding {
	text += say.If(e.Machine.Platform.Environment == machine.WSL2, "; under WSL that is the driver of Windows")
	return out.Find("DRV005", evidence.Proven, said...).
		Say(text).
		Do(say.Either(e.Machine.Platform.Environment == machine.Jetson, "a Jetson's driver is a part of JetPack: a newer one comes with that alone", "update the NVIDIA driver"), "{torch}")
}
