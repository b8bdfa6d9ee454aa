package doctor

import "testing"

// What a program is not made of is no reason of it, and no package is advised by a name
// alone that nobody read: whoever brings it may be another.
func TestWhoSaysItDecides(t *testing.T) {
	for text, want := range map[string]string{
		"RuntimeError: Computed size (120) does not match expected value 121":                                    "file-damaged",
		"Error! You must be root to use this command with the --force option.":                                   "rights",
		"Error! Tarball does not appear to be a correctly formed DKMS archive. No dkms.conf found within it.":    "file-missing",
		"ValueError: data_parallel_rank 4 is out of range [0, 4).":                                               "argument",
		"RuntimeError: TorchAudio is not built with sox extension. Please build TorchAudio with libsox support.": "part-not-built",
		"IsADirectoryError: The checkpoint path exists and is a directory: /data/last.ckpt":                      "file-of-another-kind",
		"EnvironmentLocationNotFound: Not a conda environment: /home/u/x":                                        "argument",
		"Error! Could not find module source directory.":                                                         "file-missing",
		"critical libmamba Specified pkgs_dir does not exist":                                                    "file-missing",
		"AssertionError: Cannot enable both torch autocast and zero quantized weights":                           "own-check",
	} {
		if a := explained(t, text); len(a.Known) != 1 || a.Known[0].Message != want || len(a.Matches) > 0 {
			t.Errorf("%q: %+v", text, a)
		}
	}
	a := explained(t, "ImportError: fused_dense is not installed")
	if len(a.Matches) != 1 || a.Matches[0].Captures["unread"] != "fused_dense" || a.Matches[0].Captures["sure"] != "" {
		t.Errorf("%+v", a.Matches)
	}
}

// A build for ROCm never looks for NVIDIA's driver: what runs is another than was asked for.
func TestCUDAThatCameForROCm(t *testing.T) {
	const said = "RuntimeError: Found no NVIDIA driver on your system.\n"
	for text, check := range map[string]string{
		"pip install torch --index-url https://download.pytorch.org/whl/rocm6.0\n" + said: "PY017",
		"pip install torch --index-url https://download.pytorch.org/whl/cu128\n" + said:   "DRV001",
	} {
		if r, _ := examine(t, text); r.Findings[0].Check != check || len(r.Findings[0].Fix) == 0 {
			t.Errorf("%q: %+v", text, r.Findings)
		}
	}
}

// A message is its program's: where another one is known to have printed the line, by a
// sentence of its own or by the frame that raised it, the line is told as that one's.
func TestAnotherProgramSaysIt(t *testing.T) {
	const raised = "Traceback (most recent call last):\n" +
		"  File \"/v/lib/python3.12/site-packages/sglang/srt/layers/quant.py\", line 61, in check\n" +
		"    raise ValueError(\n"
	for text, want := range map[string]string{
		raised + "ValueError: the W4A4 path is not yet implemented for MPS":  "sglang",
		"Failed to build cuDNN graph for Flash Attention: bad shape":         "onnxruntime",
		"ValueError: nvfp4_gemm_swiglu_nvfp4_quant requires SM100, got SM90": "sglang",
	} {
		a := explained(t, text)
		for _, m := range append(a.Matches, a.Known...) {
			if m.Program != want || m.Message == "mps-op" || m.Message == "build-failed-ext" {
				t.Errorf("%q: %+v", text, m)
			}
		}
		if len(a.Matches)+len(a.Known) != 1 {
			t.Errorf("%q: %+v", text, a)
		}
	}
	// What comes through from below is nobody's own.
	if a := explained(t, raised+"RuntimeError: CUDA error: no kernel image is available for execution on the device"); len(a.Matches) != 1 || a.Matches[0].Cause == "none" {
		t.Errorf("%+v", a)
	}
}

// Two lines are read together where one may go on in the next, and told once.
func TestPairsAreToldOnce(t *testing.T) {
	a := explained(t, "  handles = pynvml.nvmlDeviceGetComputeRunningProcesses(h)\npynvml.NVMLError_InsufficientSize: Insufficient Size")
	if len(a.Matches) != 1 || a.Matches[0].Line != 2 {
		t.Errorf("%+v", a)
	}
}
