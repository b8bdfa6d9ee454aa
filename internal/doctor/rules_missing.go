package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// missingRules name the library of CUDA that was not found, by its own name.
var missingRules = []rule{
	{[]string{"PY010"}, "the name and major version of a library of CUDA that was not found", (*exam).missingCUDA},
	{[]string{"LD011"}, "a cuDNN 8 that a program beside torch asks for", (*exam).olderCuDNN},
}

var cudaLibrary = lazy.Regexp(`\blib(cudnn|cublas|cublasLt|cudart|cufft|curand|cusolver|cusparse|cusparseLt|nvrtc|nccl|nvJitLink|cupti)(?:_\w+)?\.so\.(\d+)(?:\.(\d+))?\b`)

// missingCUDA: which library a program asks for tells the CUDA, or the cuDNN, that the
// program was built for; another one on the disk does not do.
func (e *exam) missingCUDA() {
	h := e.hit("cuda-lib-missing")
	if h == nil || e.Machine.Platform.OS == "windows" {
		return
	}
	m := cudaLibrary().FindStringSubmatch(h.At.Text)
	i := slices.IndexFunc(e.out, func(f *finding) bool { return f.Check == "PY010" && slices.Contains(f.Evidence, h.At.String()) })
	if m == nil || i < 0 || e.Machine.Platform.Environment == machine.Jetson {
		return
	}
	f := e.out[i]
	name, major := "lib"+m[1]+".so."+m[2], m[2]
	built := "CUDA " + major
	switch m[1] {
	case "cudnn":
		built = "cuDNN " + major
	case "nccl":
		built = "NCCL " + major
	case "cusparseLt":
		built = ""
		brings := "`pip install --force-reinstall --no-deps nvidia-cusparselt-cu12`, the package that brings it " +
			"(cu13 for a torch of CUDA 13)"
		f.Fix = append([]string{brings}, f.Fix...)
	case "cufft", "curand", "cusolver": // their numbers are not CUDA's: cuFFT 11 is of CUDA 12
		built = ""
	}
	text := name + " was not found"
	if built != "" {
		text += ": what asks for it was built for " + built + ", and no other version does"
	}
	f.text(text)
	if m[1] != "cudnn" && m[1] != "nccl" && built != "" && e.otherMajor(h.At, name, major) {
		return
	}
	if !strings.Contains(text, "cuDNN") || e.Torch.Version != "" {
		return
	}
	// Of another program than torch: the package that brings it beside that program.
	if slices.Contains([]string{"8", "9"}, major) {
		f.Fix = append([]string{fmt.Sprintf("`pip install \"nvidia-cudnn-cu12==%s.*\"` brings it, for a program of CUDA 12", major)}, f.Fix...)
	}
}

// otherMajor: torch is here with its own CUDA, and something beside it was built for
// another: that has to be built anew, and torch is as it should be.
func (e *exam) otherMajor(at read.Evidence, name, major string) bool {
	t := e.Torch
	if t.CUDA.IsZero() || fmt.Sprint(t.CUDA.Major()) == major {
		return false
	}
	whose := cmp.Or(e.extensionNamed([]string{at.Text, e.Jobs.Module.Text}), packageOf(e.Jobs.Module.Text))
	if whose == "" {
		return false // another program, such as onnxruntime, has its own reasons
	}
	e.drop("PY010")
	e.find("PY019", proven, at, e.Jobs.Module, t.VersionAt).explains("PY010", "LD011", "LD009").
		says("%s is of CUDA %s, and torch %s brings CUDA %d: %s was built for another torch",
			name, major, withLabel(t), t.CUDA.Major(), whose).
		fix("install the wheel of "+whose+" for this torch, or compile it here: `pip install --no-build-isolation --force-reinstall --no-deps "+whose+"`",
			"or the torch that it was built for")
	return true
}

// packageOf is the package of a path in site-packages; "" where it is none that is known.
func packageOf(text string) string {
	if m := inSitePackages().FindStringSubmatch(text); m != nil {
		return extensionsByModule[strings.ToLower(m[1])]
	}
	return ""
}

var inSitePackages = lazy.Regexp(`site-packages[/\\]+(\w+)[/\\]`)

// olderCuDNN: torch 2.4 and newer bring cuDNN 9, and ctranslate2 up to 4.4 asks for 8.
// Source: OpenNMT/CTranslate2, release notes of 4.5.0; SYSTRAN/faster-whisper, README.
func (e *exam) olderCuDNN() {
	for _, f := range e.out {
		if f.Check == "LD011" && slices.ContainsFunc(f.Evidence, func(s string) bool { return cuDNN8().MatchString(s) }) {
			f.fix(append([]string{"`pip install -U \"ctranslate2>=4.5\"`: it is built for cuDNN 9, which torch 2.4 and newer bring"}, f.Fix...)...)
		}
	}
}

var cuDNN8 = lazy.Regexp(`libcudnn\w*\.so\.8\b|cudnn\w*64_8\.dll`)
