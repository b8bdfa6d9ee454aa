package probe

import (
	"slices"
	"testing"

	"envfix/internal/probe/sysroot"
)

// TestClashes: packages that are one for several kinds of machines lie over each other where
// their files are the same; their names alone say nothing.
func TestClashes(t *testing.T) {
	root := t.TempDir()
	for info, record := range map[string]string{
		"onnxruntime-1.20.0":      "onnxruntime/__init__.py,,\n",
		"onnxruntime_gpu-1.20.0":  "onnxruntime/__init__.py,,\nonnxruntime/capi/libonnxruntime_providers_cuda.so,,\n",
		"faiss_cpu-1.8":           "faiss/__init__.py,,\n",
		"triton-3.0":              "triton/__init__.py,,\n",
		"triton_nightly-3.1":      "triton_nightly/__init__.py,,\n",
		"tflite-1.0":              "", // nobody wrote down what they brought
		"tflite_gpu-1.0":          "tflite/__init__.py,,\n",
		"nvidia_nccl_cu12-2.27.5": "nvidia/__init__.py,,\n",
		"nvidia_nccl_cu13-2.27.5": "nvidia/__init__.py,,\n",
	} {
		write(t, root+site+"/"+info+".dist-info/METADATA", []byte("Version: 1\n"), 0o644)
		write(t, root+site+"/"+info+".dist-info/RECORD", []byte(record), 0o644)
	}
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	got := clashes(h, dists(h, []string{site}))
	if want := [][2]string{{"onnxruntime", "onnxruntime-gpu"}, {"tflite", "tflite-gpu"}}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}
