package packages

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
)

// TestClashes: packages that are one for several kinds of machines lie over each other where
// their files are the same; their names alone say nothing.
func TestClashes(t *testing.T) {
	const site = "/env/lib/python3.12/site-packages"
	root := t.TempDir()
	var dists []python.Dist
	for _, d := range [][2]string{
		{"onnxruntime-1.20.0", "onnxruntime/__init__.py,,\n"},
		{"onnxruntime_gpu-1.20.0", "onnxruntime/__init__.py,,\nonnxruntime/capi/libonnxruntime_providers_cuda.so,,\n"},
		{"faiss_cpu-1.8", "faiss/__init__.py,,\n"},
		{"pytorch_triton_rocm-3.0", "triton/__init__.py,,\n"},
		{"triton-3.0", "triton/__init__.py,,\n"},
		{"triton_nightly-3.1", "triton_nightly/__init__.py,,\n"},
		{"tflite-1.0", ""}, // nobody wrote down what they brought
		{"tflite_gpu-1.0", "tflite/__init__.py,,\n"},
		{"nvidia_nccl_cu12-2.27.5", "nvidia/__init__.py,,\n"},
		{"nvidia_nccl_cu13-2.27.5", "nvidia/__init__.py,,\n"},
	} {
		info := site + "/" + d[0] + ".dist-info"
		testenv.Write(t, root+info+"/RECORD", d[1])
		name, _, _ := strings.Cut(d[0], "-")
		dists = append(dists, python.Dist{Package: machine.Package{Name: machine.NormalName(name)}, Info: info})
	}
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	got := Clashes(h, dists)
	if want := [][2]string{{"onnxruntime", "onnxruntime-gpu"}, {"pytorch-triton-rocm", "triton"}, {"tflite", "tflite-gpu"}}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}
