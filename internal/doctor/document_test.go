package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/read"
)

// What a document's sentences speak of did not happen where it is read; what its blocks show, and
// what a program printed below its headings, did. A report is no document, whatever its headings.
func TestDocument(t *testing.T) {
	const readme = "# A trainer\n\nTrains models on one GPU.\n\n## Changes\n\n" +
		"- `train` knows a Slurm job that asked for no GPU, and a full /dev/shm at which NCCL stops\n" +
		"- **When CUDA runs out of memory**, torch.cuda.OutOfMemoryError: CUDA out of memory, lower `--batch`\n" +
		"- `RuntimeError: CUDA error: no kernel image is available for execution on the device`: a newer torch\n"
	const printed = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
	for _, c := range []struct{ name, text, causes string }{
		{"sentences", readme, ""},
		{"a block", readme + "\n```\n" + printed + "```\n", "oom"},
		{"an indented block", readme + "\nIt says\n\n    " + printed, "oom"},
		{"what was printed", readme + "\n" + printed, "oom"},
		{"a report", "# Bug: it stops\n\n## Environment\n\nI get " + printed, "oom"},
		{"somebody's machine", "## My setup\n\nTwo cards.\n\n## What I see\n\nI get " + printed, "oom"},
		{"a tracker's form", "### Describe it\n\nIt says " + printed + "\n### Version\n\n2.4\n", "oom"},
		{"a prompt of root", "# nvidia-smi\n\nFailed to initialize NVML: Driver/library version mismatch\n", "driver_library_mismatch"},
	} {
		x, err := Explain(knowledge(t), strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var causes []string
		for _, m := range x.Matches {
			causes = append(causes, m.Cause)
		}
		if got := strings.Join(causes, " "); got != c.causes {
			t.Errorf("%s: %q, want %q", c.name, got, c.causes)
		}
	}
	r := read.NewReader(knowledge(t))
	if err := r.Read("", strings.NewReader(readme)); err != nil {
		t.Fatal(err)
	}
	if notes := r.Case().Notes; len(notes) != 1 || !strings.Contains(notes[0], "a document") {
		t.Errorf("it is not said what was left out: %q", notes)
	}
}

// Whose sentence it is, and which code it names, decides what is said.
func TestNamedRight(t *testing.T) {
	for _, c := range []struct{ name, text, says, never string }{
		{"a library of Linux that another package looks for", "Windows 11\nTraceback (most recent call last):\n  File \"C:\\env\\Lib\\site-packages\\decord\\base.py\", line 10, in load\n" +
			"    raise OSError(x)\nOSError: libcuda.so not found", "decord", "bitsandbytes"},
		{"nvJitLink of another major", "torch 2.12.0+cu130\nnvidia-nvjitlink-cu12==12.8.93\nImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_13_1, version libnvJitLink.so.13",
			"", "package nvidia-nvjitlink-cu13 is older"},
		{"a lost Intel GPU", "RuntimeError: Native API failed. Native API returns: 20 (UR_RESULT_ERROR_DEVICE_LOST)", "hung or was reset", "whl/xpu"},
		{"a call that Intel's GPU does not take", "RuntimeError: Native API failed. Native API returns: 45 (UR_RESULT_ERROR_INVALID_ARGUMENT)", "a fault in the program", "whl/xpu"},
		{"an Intel GPU that does not start", "RuntimeError: Native API failed. Native API returns: 45 (UR_RESULT_ERROR_UNINITIALIZED)", "driver", "a fault in the program"},
		{"a build that is not for ROCm", "I have torch, not for ROCm\nRuntimeError: Found no NVIDIA driver on your system.", "driver", "ROCm build was asked for"},
		{"a variable beside other trouble", "bitsandbytes 0.45.0, BNB_CUDA_VERSION=124\nRuntimeError: CUDA error: out of memory", "memory", "BNB_CUDA_VERSION=124 has"},
	} {
		x, err := Explain(knowledge(t), strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := examine(t, c.text)
		all := ""
		for _, m := range append(x.Matches, x.Known...) {
			all += m.Text + strings.Join(m.Fix, "\n") + "\n"
		}
		for _, f := range r.Findings {
			all += f.Text + strings.Join(f.Fix, "\n") + "\n"
		}
		if !strings.Contains(all, c.says) || strings.Contains(all, c.never) {
			t.Errorf("%s: %s", c.name, all)
		}
	}
}
