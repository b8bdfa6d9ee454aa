// Package libraries is the room of which shared library of CUDA is taken, and which is missing.
package libraries

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"LD018"}, Needs: "a shared library that is not NVIDIA's", Find: systemLibrary},
	{Checks: []string{"DRV008", "CTR011", "LD001", "LD006"}, Needs: "LD_LIBRARY_PATH", Find: loaderPath},
	{Checks: []string{"DRV008", "LD014"}, Needs: "LD_PRELOAD", Find: preloaded},
	{
		Checks: []string{"DRV008", "CTR011", "LD001", "LD002"},
		Needs:  "the file that a library resolves to", Find: resolved,
	},
	{Checks: []string{"LD003", "LD009"}, Needs: "the nvidia-* packages of the environment", Find: pipLibraries},
	{
		Checks: []string{"LD003"},
		Needs:  "an undefined symbol of a library and the packages that bring it", Find: symbolOwner,
	},
	{
		Checks: []string{"ARC001"},
		Needs:  "an error of cuBLAS or cuDNN, and a CUDA older than the GPU", Find: olderLibraries,
	},
	{Checks: []string{"ARC001", "CODE010"}, Needs: "an error of cuFFT and the GPU's capability", Find: fourier},
	{Checks: []string{"REL001"}, Needs: "torch's version and the known defects", Find: defects},
	{
		Checks: []string{"PY010"},
		Needs:  "the name and major version of a library of CUDA that was not found", After: missingCUDA,
	},
	{
		Checks: []string{"LD012", "PY031"},
		Needs:  "the library of CUDA that another framework did not find", Find: frameworkLibrary,
	},
	{
		Checks: []string{"PY020"},
		Needs:  "BNB_CUDA_VERSION, and a library of bitsandbytes that was not found", Find: bitsandbytesOverride,
	},
	{Checks: []string{"LD011"}, Needs: "a cuDNN 8 that a program beside torch asks for", After: olderCuDNN},
	{
		Checks: []string{"LD003"},
		Needs:  "the version of nvJitLink that a library asks for, and the package", Find: nvJitLink,
	},
	{
		Checks: []string{"LD003"},
		Needs:  "the version of cuDNN that a message says is loaded, and the package", Find: loadedCuDNN,
	},
	{
		Checks: []string{"LD001"},
		Needs:  "an architecture that NVRTC does not know, and the path's CUDA", Find: olderNVRTC,
	},
	{Checks: []string{"ROC001"}, Needs: "torch's list of AMD architectures and the GPU", Find: listedGFX},
	{
		Checks: []string{"LD001", "LD002", "LD010", "LD006"},
		Needs:  "the files that the dynamic loader takes", Find: loaded,
	},
	{Checks: []string{"DRV008"}, Needs: "the libcuda that the dynamic loader takes", Find: driverStub},
	{
		Checks: []string{"DRV002", "LD001", "LD008", "LD018", "PY010", "PY019"},
		Needs:  "the libraries and symbols that the dynamic loader would not find", After: unlinked,
	},
}
