package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/matrix"
)

// loaded reads the data once for all tests.
func loaded() (*matrix.Matrix, *matrix.DeviceTable, error) {
	d, err := tables()
	return d.m, d.d, err
}

type dataTables struct {
	m *matrix.Matrix
	d *matrix.DeviceTable
}

var tables = sync.OnceValues(func() (dataTables, error) {
	return dataTables{matrix.Embedded().Until("2026-11-21"), matrix.Devices()}, nil
})

func examine(t testing.TB, text string) (Report, *read.Case) {
	t.Helper()
	r := read.NewReader(know.Embedded())
	if err := r.Read("", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	c := r.Case()
	var err error
	if c.Matrix, c.Devices, err = loaded(); err != nil {
		t.Fatal(err)
	}
	return Examine(know.Embedded(), c), c
}

// TestThreads reads testdata/threads*.txt: the first finding names the cause.
func TestThreads(t *testing.T) {
	names, err := filepath.Glob("testdata/threads*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var threads []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		threads = append(threads, strings.Split(string(text), "\n== ")[1:]...)
	}
	for _, thread := range threads {
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
