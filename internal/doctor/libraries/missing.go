package libraries

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
)

var cudaLibrary = lazy.Regexp(`\b(?:lib)?(cudnn|cublas|cublasLt|cudart|cufft|curand|cusolver|cusparse|cusparseLt|nvrtc|nccl|nvJitLink|cupti)(?:_[a-z]\w*)?(?:\.so\.|64_)(\d\d?)(?:\.(\d+)|0?\.dll)?\b`)

// missingCUDA: which library a program asks for tells the CUDA, or the cuDNN, that the
// program was built for; another one on the disk does not do.
func missingCUDA(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	h := e.Hit("cuda-lib-missing")
	if h == nil || e.Machine.Platform.OS == "windows" {
		return
	}
	m := cudaLibrary().FindStringSubmatch(h.At.Text)
	i := slices.IndexFunc(found, func(f *evidence.Finding) bool { return f.Check == "PY010" && slices.Contains(f.At, h.At) })
	if m == nil || i < 0 || e.Machine.Platform.Environment == machine.Jetson {
		return
	}
	f := out.Anew(found[i])
	name, major := "lib"+m[1]+".so."+m[2], m[2]
	built := builtFor(m[1], major)
	if m[1] == "cusparseLt" {
		f.Do(append([]string{"`pip install --force-reinstall --no-deps nvidia-cusparselt-cu12`, the package that brings it " +
			"(cu13 for a torch of CUDA 13)"}, f.Fix...)...)
	}
	text := name + " was not found" + say.With(": what asks for it was built for ", built, ", and no other version does")
	f.Say(text)
	if strings.HasPrefix(built, "CUDA") && otherMajor(e, out, h.At, name, major) {
		return
	}
	f.Fix = slices.Concat(broughtBy(e, m[1], major, strings.Contains(text, "cuDNN")), f.Fix)
	ofOtherTorch(e, f, h.At, m[1], major)
}

// ofOtherTorch: a library of another CUDA than torch's was asked for by a package that was
// built for another torch.
func ofOtherTorch(e *evidence.Evidence, f *evidence.Finding, at evidence.Quote, library, major string) {
	whose, here := asker(e, at), "the torch that is here"
	if len(e.Says.Extensions) == 1 { // a short text names it, and shows no file of it
		whose = cmp.Or(whose, e.Says.Extensions[0])
	}
	if t := e.Torch; !t.CUDA.IsZero() {
		here = "torch " + t.Named()
	}
	if whose != "" && fmt.Sprint(e.Torch.CUDA.Major()) != major && slices.Contains([]string{"cudart", "cublas", "cublasLt", "nvrtc"}, library) {
		f.Says("lib%s.so.%s is of CUDA %s, and %s brings none of it: %s was built for another torch", library, major, major, here, whose)
		f.Fix = []string{
			fmt.Sprintf("`pip install --force-reinstall %s` brings the torch that it was built for", whose),
			fmt.Sprintf("or the %s that is built for this torch: %s prints its CUDA, a newer %s may be for that", whose, evidence.AskTorch, whose),
		}
	}
}

// broughtBy is what brings a library where no torch is told of: one of its CUDA, or beside
// another program cuDNN's package.
func broughtBy(e *evidence.Evidence, library, major string, cuDNN bool) []string {
	switch {
	case e.Torch.Version != "":
	case library == "cudart" && evidence.Dotted(e.Limit("usual-machine").Values[0]).MajorMinor()[:2] == major:
		return []string{"a torch of CUDA " + major + " brings it: {torch}"}
	case cuDNN && slices.Contains([]string{"8", "9"}, major):
		return []string{fmt.Sprintf("`pip install \"nvidia-cudnn-cu12==%s.*\"` brings it, for a program of CUDA 12", major)}
	}
	return nil
}

// builtFor is what a library's own number tells of what asks for it; "" nothing.
func builtFor(library, major string) string {
	switch library {
	case "cudnn":
		return "cuDNN " + major
	case "nccl":
		return "NCCL " + major
	case "cusparseLt", "cufft", "curand", "cusolver": // their numbers are not CUDA's: cuFFT 11 is of CUDA 12
		return ""
	}
	return "CUDA " + major
}

// frameworkLibrary: onnxruntime and TensorFlow say which library they did not find: its
// number is that of the CUDA that they were built for.
// Source: onnxruntime.ai, CUDA execution provider, requirements.
func frameworkLibrary(e *evidence.Evidence, out *evidence.Findings) {
	for _, h := range e.Hits {
		name := cmp.Or(h.Captures["lib"], h.Captures["needs"])
		lib := cudaLibrary().FindStringSubmatch(name)
		if name == "" || h.Message.ID != "onnx-provider" && h.Message.ID != "tf-no-cuda" {
			continue
		}
		if h.Message.ID == "tf-no-cuda" {
			if lib != nil && lib[2] == "12" && e.Limit("cuda-12-wheels").Of(lib[1]) != "" {
				out.Find("PY031", evidence.Likely, h.At).
					Says("TensorFlow does not find %s, and leaves the GPU out", name).
					Do("`pip install " + e.Limit("cuda-12-wheels").Of(lib[1]) +
						"` brings it; all at once, in the versions that fit: `pip install \"tensorflow[and-cuda]\"`")
				return
			}
			continue
		}
		f := out.Find("LD012", evidence.Likely, h.At).
			Says("onnxruntime does not find %s, of the CUDA that it was built for, and falls back to the CPU", name)
		if lib == nil || !strings.HasPrefix(lib[1], "cu") || lib[1] == "cudnn" {
			return
		}
		if f.Says("onnxruntime was built for CUDA %s and does not find its %s: it falls back to the CPU", lib[2], name); lib[2] == "11" {
			f.Do("`pip install -U \"onnxruntime-gpu[cuda,cudnn]\"`: since 1.19 it is built for CUDA 12, and this brings that along",
				"or, for CUDA 12 that is here already: `pip install -U onnxruntime-gpu`, and `import torch` before it")
			return
		}
		f.Do(append(slices.Clone(e.Check("LD012").Fix), "another program than Python's: a toolkit of CUDA "+lib[2]+
			" beside the one that is here; newer ones do not stand in for it")...)
		return
	}
}

// otherMajor: torch is here with its own CUDA, and something beside it was built for
// another: that has to be built anew, and torch is as it should be.
func otherMajor(e *evidence.Evidence, out *evidence.Findings, at evidence.Quote, name, major string) bool {
	t := e.Torch
	if t.CUDA.IsZero() || fmt.Sprint(t.CUDA.Major()) == major {
		return false
	}
	whose := asker(e, at)
	if whose == "" {
		return false // another program, such as onnxruntime, has its own reasons
	}
	out.Deny("PY010")
	out.Find("PY019", evidence.Proven, at, e.Jobs.Module, t.VersionAt).
		Says("%s is of CUDA %s, and torch %s brings CUDA %d: %s was built for another torch",
			name, major, t.Named(), t.CUDA.Major(), whose).
		Do("install the wheel of "+whose+" for this torch, or compile it here: `pip install --no-build-isolation --force-reinstall --no-deps "+whose+"`",
			"or the torch that it was built for")
	return true
}

// asker is the package whose library asks for another; "" it is not told.
func asker(e *evidence.Evidence, at evidence.Quote) string {
	return cmp.Or(e.Extension().Named([]string{at.Text, e.Jobs.Module.Text}), packageOf(e, e.Jobs.Module.Text))
}

// packageOf is the package of a path in site-packages; "" where it is none that is known.
func packageOf(e *evidence.Evidence, text string) string {
	return e.Limit("compiled-modules").Of(strings.ToLower(inSitePackages.Group(text)))
}

var inSitePackages = lazy.Regexp(`(?:site|dist)-packages[/\\]+(\w+)[/\\]`)
