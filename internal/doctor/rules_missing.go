package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// missingRules name the library of CUDA that was not found, by its own name.
var missingRules = []rule{
	{[]string{"PY010"}, "the name and major version of a library of CUDA that was not found", (*exam).missingCUDA},
}

var cudaLibrary = lazy.Regexp(`\blib(cudnn|cublas|cublasLt|cudart|cufft|curand|cusolver|cusparse|nvrtc|nccl|nvJitLink|cupti)\w*\.so\.(\d+)(?:\.(\d+))?\b`)

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
	case "cufft", "curand", "cusolver": // their numbers are not CUDA's: cuFFT 11 is of CUDA 12
		built = ""
	}
	text := name + " was not found"
	if built != "" {
		text += ": what asks for it was built for " + built + ", and no other version does"
	}
	f.text(text)
	if !strings.Contains(text, "cuDNN") || e.Torch.Version != "" {
		return
	}
	// Of another program than torch: the package that brings it beside that program.
	if slices.Contains([]string{"8", "9"}, major) {
		f.Fix = append([]string{fmt.Sprintf("`pip install \"nvidia-cudnn-cu12==%s.*\"` brings it, for a program of CUDA 12", major)}, f.Fix...)
	}
}
