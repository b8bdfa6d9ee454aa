package resolver

import (
	"fmt"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// apple answers for Apple GPUs, whose support is in the ordinary wheel.
func (s chooser) apple(gpus []machine.GPU) *outcome {
	if s.p.h.Platform.OS != "macos" || s.p.h.Platform.Arch != "arm64" {
		return nil
	}
	o := s.p.vendors().answerFor(mps, gpus)
	if _, old := s.metalTooOld(); old && o.Decision != Install {
		return nil
	}
	return o
}

// metalOnMac answers for the AMD GPU of an Intel Mac: the wheels for it have the Metal
// backend as well. It returns nil where none serves it.
func (s chooser) metalOnMac(gpus []machine.GPU) *outcome {
	if s.p.h.Platform.OS != "macos" || s.p.h.Platform.Arch != "x86_64" {
		return nil
	}
	q, b := s.try(mps, gpus, driver{})
	if b == nil {
		return nil
	}
	o := q.installs(Install, b)
	w := fmt.Sprintf("%s of an Intel Mac is used through Metal (`torch.device(\"mps\")`), which PyTorch no longer looks after there", gpuNames(gpus))
	if row, ok := s.backend(b); ok && row.Warning != "" {
		w += ": " + row.Warning
	}
	o.Warnings = append(o.Warnings, w)
	return o
}

// backend is what a build's Metal backend asks of the system.
func (s chooser) backend(b *matrix.Build) (matrix.Backend, bool) {
	return s.p.m.Backend(mps, b.Release.Torch, b.OS, b.Arch)
}

// mpsRefusal says why a build's Metal backend does not run here. A release of macOS
// that is unknown refuses nothing.
func (q *attempt) mpsRefusal(b *matrix.Build) *Reason {
	row, ok := q.p.chooser().backend(b)
	if !ok {
		return q.no(b.Source, "has no MPS backend for %s", b.Arch)
	}
	here, err := version.ParseDotted(q.p.h.Platform.DistroVersion)
	if err == nil && here.Less(row.MinOS) {
		return q.no(row.Source, "its MPS backend needs macOS %s; this system has %s, where it would compute on the CPU", row.MinOS, here)
	}
	return nil
}

// metalTooOld reports whether this macOS is older than every build's Metal backend
// asks for, and what the least of them asks for.
func (s chooser) metalTooOld() (first version.Dotted, old bool) {
	here, err := version.ParseDotted(s.p.h.Platform.DistroVersion)
	if err != nil {
		return first, false
	}
	for _, r := range s.p.m.Backends {
		if r.OS != "macos" || r.Arch != s.p.h.Platform.Arch {
			continue
		}
		if !here.Less(r.MinOS) {
			return first, false
		}
		if first.IsZero() || r.MinOS.Less(first) {
			first = r.MinOS
		}
	}
	return first, true
}
