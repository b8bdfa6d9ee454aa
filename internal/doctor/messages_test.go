package doctor

import (
	"cmp"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
)

func knowledge(t testing.TB) *know.Knowledge {
	t.Helper()
	return know.Embedded()
}

func first(t testing.TB, text string) string {
	t.Helper()
	a, err := Explain(knowledge(t), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Matches) == 0 {
		return ""
	}
	return a.Matches[0].Message
}

// What is said of a message names no program that the message is not about, though
// its check may be shared with that program.
func TestMessagesSpeakOfTheirProgram(t *testing.T) {
	programs := []string{"bitsandbytes", "colab", "llama.cpp", "numba", "ollama", "onnxruntime", "rapids", "sbatch", "slurm", "tensorflow", "vllm"}
	k := knowledge(t)
	for _, m := range k.Messages {
		about := strings.ToLower(m.ID + m.Program + m.Pattern + m.Example)
		said := strings.ToLower(cmp.Or(m.Text, k.Checks[m.Checks[0]].Text) + m.Fix[0])
		for _, p := range programs {
			if strings.Contains(said, p) && !strings.Contains(about, p) {
				t.Errorf("%s speaks of %s: %s", m.ID, p, said)
			}
		}
	}
}

// Every message answers to its own example before any other does, and not to its
// counter-example; so every pattern is tried on every other's example.
func TestMessages(t *testing.T) {
	for _, m := range knowledge(t).Messages {
		if m.Example == "" || m.Counter == "" || m.Source == "" || m.Program == "" {
			t.Errorf("%s: example, counter, source or program is missing", m.ID)
		}
		if got := first(t, m.Example); got != m.ID {
			t.Errorf("%s: its example is taken for %q", m.ID, got)
		}
		if m.Matches(m.Counter) {
			t.Errorf("%s: its counter-example matches", m.ID)
		}
		if got := first(t, m.Counter); got != "" {
			t.Errorf("%s: its counter-example is taken for %q", m.ID, got)
		}
	}
}

// Where nothing is said of the system, a command still names a Python.
func TestPythonThatHasTorch(t *testing.T) {
	r, _ := examine(t, "ERROR: Could not find a version that satisfies the requirement xformers (from versions: none)\nERROR: No matching distribution found for xformers\n")
	if len(r.Findings) == 0 || !strings.Contains(strings.Join(r.Findings[0].Fix, "\n"), "`uv venv --python 3.") {
		t.Errorf("%+v", r.Findings)
	}
}
