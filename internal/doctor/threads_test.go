package doctor

import (
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/matrix"
)

func examine(t testing.TB, text string) (Report, *Case) {
	t.Helper()
	r := NewReader(Embedded())
	if err := r.Read("", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	c := r.Case()
	var err error
	if c.Matrix, err = matrix.Embedded(); err != nil {
		t.Fatal(err)
	}
	if c.Devices, err = matrix.Devices(); err != nil {
		t.Fatal(err)
	}
	return Embedded().Examine(c), c
}

// TestThreads reads testdata/threads.txt: the first finding names the cause.
func TestThreads(t *testing.T) {
	text, err := os.ReadFile("testdata/threads.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range strings.Split(string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(thread, "\n")
		causes, title, _ := strings.Cut(head, ": ")
		r, _ := examine(t, body)
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Cause+" "+f.Check)
		}
		if len(r.Findings) == 0 || !slices.Contains(strings.Split(causes, "|"), r.Findings[0].Cause) {
			t.Errorf("%s (%s): found %v", title, causes, got)
		}
	}
}
