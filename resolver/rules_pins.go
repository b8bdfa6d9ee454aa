package resolver

import (
	"fmt"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// What torch's own wheels pin is no free choice: triton, and on Linux NVIDIA's
// libraries (nvidia-cudnn-cu12 and its kin). A frozen list of packages names them
// all, and such a list decides which torch it belongs to.

const triton = "triton"

// pytorchHost serves the wheels of PyTorch's own indexes.
const pytorchHost = "https://download.pytorch.org/"

// pinRefusal says why a package that torch's wheel pins, or that lies where
// torch's own libraries lie, does not go with a build; nil where it does.
func (q *attempt) pinRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	if r.Name == triton {
		return q.tritonRefusal(r, b)
	}
	if b.OS != "linux" || b.CUDA.IsZero() {
		return nil // elsewhere torch's libraries lie in its own directory
	}
	if lib, cu := nvidiaLibrary(r.Name); lib != "" {
		return q.libraryRefusal(r, b, lib, cu)
	}
	// nvidia-cudnn-cu12 and nvidia-cudnn-cu13 hold the same paths, and so do their
	// NCCL: the one installed last wins (RECORD of both wheels).
	if cu := q.extraCUDA(r); cu != "" && cu != major(b.CUDA.String()) {
		return q.no("", "%s brings the libraries of CUDA %s, which overwrite torch's own of CUDA %d", text.Cut(r.Text, 80), cu, b.CUDA.Major())
	}
	return nil
}

func (q *attempt) tritonRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	switch {
	case b.OS == "windows":
		return q.no("", "triton has no wheel for Windows; triton-windows is its build for it")
	case b.OS != "linux":
		return q.no("", "triton has no wheel for %s", b.OS)
	case !b.Triton.IsZero() && !q.p.cache.admits(r.Spec, b.Triton):
		return q.no(b.Source, "pins triton %s, and you asked for %s", b.Triton, text.Cut(r.Text, 80))
	}
	return nil
}

func (q *attempt) libraryRefusal(r pep508.Requirement, b *matrix.Build, lib, cu string) *Reason {
	if cu != major(b.CUDA.String()) {
		return q.no(b.Source, "is built with CUDA %s, and %s is of CUDA %s", b.CUDA, r.Name, cu)
	}
	for _, l := range q.p.m.Stack(b) {
		v, err := version.ParsePython(l.Version)
		if l.Package == lib && err == nil && !q.p.cache.admits(r.Spec, v) {
			return q.no(b.Source, "brings %s %s, and you asked for %s", libraryName(lib), l.Version, text.Cut(r.Text, 80))
		}
	}
	return nil
}

// nvidiaLibrary reads the name of a package of NVIDIA's: nvidia-cudnn-cu12 is
// cudnn for CUDA 12. Others give "".
func nvidiaLibrary(name string) (lib, cu string) {
	if m := ofNVIDIA().FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

var (
	ofNVIDIA  = lazy.Regexp(`^nvidia-(.+)-cu(\d\d)$`)
	cudaExtra = lazy.Regexp(`^cu(?:da)?(\d\d)$`)
)

// extraCUDA is the CUDA whose libraries an extra brings: jax[cuda12],
// numba-cuda[cu13], tensorflow[and-cuda]; "" where none does, as jax[cuda12-local],
// which takes the system's.
func (q *attempt) extraCUDA(r pep508.Requirement) string {
	for _, x := range r.Extras {
		if x == "and-cuda" {
			for _, e := range q.p.wheels(r.Name) {
				if e.CUDA != "" {
					return major(e.CUDA)
				}
			}
		}
		if cuda := cudaExtra.Group(x); cuda != "" {
			return cuda
		}
	}
	return ""
}

// fileAsked is the first requirement on torch or a companion that names a file or
// a URL instead of a version.
func (w *request) fileAsked() (pep508.Requirement, bool) {
	return xslices.Find(w.ofTorch(), func(r pep508.Requirement) bool { return r.URL != "" })
}

// byName turns a requirement that names a wheel's URL into one on that wheel's
// version and build: …/torch-2.9.1%2Bcu126-cp312-….whl is torch==2.9.1+cu126. It
// reports whether the URL tells them.
func byName(r pep508.Requirement) (pep508.Requirement, bool) {
	file := strings.ReplaceAll(strings.ReplaceAll(lastPart(strings.Split(r.URL, "#")[0]), "%2B", "+"), "%2b", "+")
	parts := strings.Split(file, "-")
	if !strings.HasSuffix(file, ".whl") || len(parts) < 5 || machine.NormalName(parts[0]) != r.Name {
		return r, false
	}
	named, err := pep508.Parse(fmt.Sprintf("%s==%s", r.Name, parts[1]), r.From)
	named.Extras, named.Marker = r.Extras, r.Marker
	return named, err == nil
}
