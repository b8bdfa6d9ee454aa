package doctor

import (
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
