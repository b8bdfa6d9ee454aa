package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

func explained(t *testing.T, text string) Explanation {
	t.Helper()
	a, err := Explain(knowledge(t), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A line that no message of the data knows is told by the kind of message that it is.
func TestKindsOfMessages(t *testing.T) {
	for text, want := range map[string]string{
		"CUDA_ERROR_CONTAINED":                                          "hardware-fault gpu_hw_fault",
		"it failed with CUSOLVER_STATUS_EXECUTION_FAILED":               "execution-failed none",
		"RuntimeError: CUDA failed with error out of memory":            "gpu-memory oom",
		"foo requires scipy>=1.10, which is not here":                   "package-old none",
		"Why isn't my GPU being used by PyTorch?":                       "question-gpu-unused none",
		"GPU utilization is only 30% while training":                    "question-gpu-idle none",
		"Ollama doesnt seem to use the GPU. It falls back to the CPU":   "question-other-program none",
		"ValueError: Unknown mixed_precision mode: x. Choose between y": "",
	} {
		a := explained(t, text)
		got := ""
		if len(a.Matches) > 0 {
			got = a.Matches[0].Message + " " + a.Matches[0].Cause
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Of a program's message that is not of the GPU or the installation it is said who
// prints it and where, and no cause.
func TestWhoPrintsIt(t *testing.T) {
	a := explained(t, "ValueError: Unknown mixed_precision mode: x. Choose between y")
	if len(a.Known) != 1 || a.Known[0].Program != "accelerate" || !strings.Contains(a.Known[0].Source, "accelerator.py") || a.Known[0].Cause != "none" {
		t.Errorf("%+v", a.Known)
	}
}

// A question is answered by hypotheses and one command.
func TestQuestionsNameNoCause(t *testing.T) {
	for _, c := range knowledge(t).Classes {
		if c.Question && (c.Cause != "none" || len(c.Fix) != 1 || strings.Count(c.Fix[0], "`") != 2 || !strings.Contains(c.Text, "Possible")) {
			t.Errorf("%s: %+v", c.ID, c)
		}
	}
	if m := explained(t, "Why isn't my GPU being used by PyTorch?").Matches[0]; m.Severity != know.Note {
		t.Errorf("%+v", m)
	}
}

// Of a text that nobody knows it is said what was read of it and what is similar, and no
// cause.
func TestUnknownText(t *testing.T) {
	a := explained(t, "Traceback (most recent call last):\n  File \"/v/lib/python3.12/site-packages/foo/bar.py\", line 7, in f\n"+
		"frob.FrobError: the frobnicator has not been wound")
	if u := a.Unknown; u == nil || u.Kind != "FrobError" || u.Package != "foo" || u.Place != "foo/bar.py, line 7" || len(a.Matches) > 0 {
		t.Errorf("%+v %+v", a.Matches, u)
	}
	u := explained(t, "Torch happily compiled with CUDA enabled here").Unknown
	if u == nil || len(u.Similar) == 0 || !strings.Contains(u.Similar[0], "not compiled with CUDA enabled") {
		t.Errorf("%+v", u)
	}
}
