package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// stackRule: torch's own kernels being there is not enough. cuDNN, cuBLAS,
// cuFFT, cuRAND, cuSOLVER and cuSPARSE of the build must have code for every GPU
// in use, and NCCL where there are several. A library that nobody scanned refuses
// nothing.
func stackRule(q *attempt, b *matrix.Build) *Reason {
	if q.accel != cuda {
		return nil
	}
	for _, g := range q.gpus {
		lacks := remembered(q.p.cache.stack, codeKey{b, g.SM}, func() gap { return q.p.findGap(b, g.SM) })
		if l := lacks.core; l != nil {
			return q.no(l.Library.Source, "its %s %s has no code for %s", libraryName(l.Package), l.Version, gpuName(g))
		}
		if l := lacks.several; l != nil && len(q.gpus) > 1 {
			return q.no(l.Library.Source, "its %s %s, which several GPUs need, has no code for %s", libraryName(l.Package), l.Version, gpuName(g))
		}
	}
	return nil
}

func stackWord(q *attempt, b *matrix.Build) string {
	if q.accel != cuda {
		return "brings no CUDA libraries"
	}
	var proven, unread []string
	for _, l := range q.p.m.Stack(b) {
		switch {
		case l.Library == nil && l.Core:
			unread = append(unread, libraryName(l.Package))
		case l.Core || l.Package == "nccl" && len(q.gpus) > 1:
			proven = append(proven, libraryName(l.Package)+" "+l.Version)
		}
	}
	if len(proven) == 0 {
		return "nobody has read its libraries: not proven"
	}
	return "code for every GPU in " + strings.Join(proven, ", ") + say.If(len(unread) > 0, "; not read: "+strings.Join(unread, ", "))
}

// stackWarnings are what the libraries of a build cannot do well here: code that
// the driver has to compile first, and libraries that nobody read. A library that a
// fault already names is not named again.
func (q *attempt) stackWarnings(b *matrix.Build, faults []string) []string {
	var out, ptxLibs []string
	read := 0
	for _, l := range q.p.m.Stack(b) {
		if !l.Core || l.Library == nil {
			continue
		}
		read++
		for _, g := range q.gpus {
			name := libraryName(l.Package) + " "
			named := slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, name) })
			if native, ptx := q.p.m.Covers(l.Library.Native, l.Library.PTX, g.SM); !native && ptx && !named {
				ptxLibs = append(ptxLibs, name+l.Version)
				break
			}
		}
	}
	if len(ptxLibs) > 0 {
		out = append(out, fmt.Sprintf(
			"%s has no native code for %s: the driver compiles it at the first use (slow start)",
			strings.Join(ptxLibs, ", "), gpuNames(q.gpus)))
	}
	if read == 0 {
		out = append(out, fmt.Sprintf("nobody has read which GPUs the CUDA libraries of %s serve: not proven", torchName(b)))
	}
	return out
}

var libraryNames = map[string]string{
	"cudnn": "cuDNN", "cublas": "cuBLAS", "cufft": "cuFFT", "curand": "cuRAND", "cusolver": "cuSOLVER",
	"cusparse": "cuSPARSE", "cusparselt": "cuSPARSELt", "nccl": "NCCL", "nvshmem": "NVSHMEM",
}

func libraryName(pkg string) string { return cmp.Or(libraryNames[pkg], pkg) }

// defectsRule: a known fault that breaks what was asked refuses the build; one
// that breaks a part is a warning.
func defectsRule(q *attempt, b *matrix.Build) *Reason {
	for i := range q.p.m.Defects {
		d := &q.p.m.Defects[i]
		if q.fatal(d) && q.hits(d, b) {
			return q.no(d.Source, "%s; what helps: %s", d.Effect, d.Remedy)
		}
	}
	return nil
}

func defectsWord(q *attempt, b *matrix.Build) string {
	return "no known fault breaks what was asked"
}

// fatal reports whether a defect breaks the whole, or a part that was asked for.
func (q *attempt) fatal(d *matrix.Defect) bool {
	switch d.Breaks {
	case "all", "import", "install":
		return d.Package == "torch" || q.requires(d.Package)
	case "compile":
		return q.p.req.JIT
	}
	return false
}

// requires reports whether the request itself names a package.
func (q *attempt) requires(name string) bool {
	if _, ok := q.p.req.asked[name]; ok {
		return true
	}
	return slices.ContainsFunc(q.p.req.packages, func(r pep508.Requirement) bool { return r.Name == name })
}

// hits reports whether a defect is one of this build, on these GPUs, with this
// Python.
func (q *attempt) hits(d *matrix.Defect, b *matrix.Build) bool {
	if q.accel != cuda || d.When != "" || d.Breaks == "hash" || d.Breaks == "nccl" && len(q.gpus) < 2 ||
		!matrix.IsFor(d.OS, d.Arch, b.OS, b.Arch) || !xslices.Admits(d.Labels, b.Label) || b.CuDNN.Less(d.MinCuDNN) ||
		!xslices.Admits(d.Pythons, q.py.String()) || !q.concerns(d, b) {
		return false
	}
	ofGPU := func(g machine.GPU) bool { return slices.Contains(d.SMs, g.SM) || g.SM.Less(d.Below) }
	return len(d.SMs) == 0 && d.Below.IsZero() || slices.ContainsFunc(q.gpus, ofGPU)
}

// concerns reports whether a defect is of a build's torch, or of what goes with it.
func (q *attempt) concerns(d *matrix.Defect, b *matrix.Build) bool {
	if f := b.Framework; f != nil {
		return d.Package == f.Package && q.p.cache.overlap(f.Versions, d.Versions) && q.p.cache.overlap(q.p.asks(b).Spec, d.Versions)
	}
	if d.Package == "torch" {
		return q.p.cache.admits(d.Versions, b.Release.Torch)
	}
	v, ok := q.p.companion(b, d.Package)
	return ok && q.p.cache.admits(d.Versions, v) && q.p.cache.admits(d.Torch, b.Release.Torch)
}

// defectWarnings are the faults of a build that break only a part.
func (q *attempt) defectWarnings(b *matrix.Build) []string {
	var out []string
	for i := range q.p.m.Defects {
		d := &q.p.m.Defects[i]
		if !q.fatal(d) && (d.Package == "torch" || q.requires(d.Package)) && q.hits(d, b) {
			w := d.Effect + say.With("; what helps: ", d.Remedy, "")
			out = append(out, w)
		}
	}
	return out
}
