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
