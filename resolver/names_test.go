package resolver

import (
	"errors"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// A name that nobody knows, near one that everybody does, is stopped; real neighbours
// and names that were said to be meant pass.
func TestNamesNearKnownOnes(t *testing.T) {
	m := matrix.Embedded()
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc"}}}
	for name, meant := range map[string]string{
		"tourch": "torch", "pytorch": "torch", "tensor-flow": "tensorflow", "torhc": "torch", "torchvison": "torchvision", "vlm": "", "vllmm": "vllm", "xformer": "xformers", "nvmpy": "numpy", "diffuserss": "diffusers", "datasets": "", "evaluate": "",
		"torch": "", "torchx": "", "torchao": "", "pandas": "", "a-package-of-mine": "", "flash-attn": "", "cupy": "", "polars": "",
		"scikit-lern": "scikit-learn", "pandsa": "pandas", "matplotlb": "matplotlib", "request": "requests", "python": "--python 3.12",
		"yaml": "pyyaml", "skimage": "scikit-image", "bs4": "", "fitz": "pymupdf", "whisper": "openai-whisper", "clip": "open-clip-torch", "open-clip": "open-clip-torch",
		"opencv": "opencv-python", "faiss": "faiss-cpu, or faiss-gpu-cu12 for a GPU", "faiss-gpu": "", "faiss-cpu": "", "faiss-gpu-cu12": "",
		"cuda": "--cuda 12.6", "cudatoolkit": "--cuda 12.6", "cudnn": "torch", "cuda-toolkit": "", "cuda-python": "", "jax-gpu": "jax", "jax-cuda": "jax", "cupy-cuda12": "cupy-cuda12x",
		"nvidia-apex": "apex", "mmcv-full": "", "pyg": "torch-geometric", "llama-cpp": "llama-cpp-python", "minkowski-engine": "minkowskiengine", "groundingdino": "groundingdino-py",
		"cudf": "", "cudf-cu12": "", "spconv": "", "nvidia-dali": "", "nvidia-tensorrt": "tensorrt", "auto-awq": "autoawq",
		"dataset": "", "fairseq2": "", "cupy-cuda11x": "", "spconv-cu118": "", "tokenizer": "", "pillow": "", "sympy": "", "dask": "", "jaxtyping": "",
	} {
		r := Request{Requirements: parsed(t, name), Python: "3.12"}
		_, err := Resolve(m, h, r)
		var named *NameError
		switch {
		case meant == "" && err != nil, meant != "" && (!errors.As(err, &named) || named.Meant != meant):
			t.Errorf("%s: %v, want %q", name, err, meant)
		}
		r.AsNamed = []string{name}
		if _, err = Resolve(m, h, r); err != nil {
			t.Errorf("%s as named: %v", name, err)
		}
	}
}
