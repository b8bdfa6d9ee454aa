package sysroot

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestReadFileSkipsWhatIsNoFile: a directory or nothing in a file's place neither
// stalls nor fails.
func TestReadFileSkipsWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if data := ReadFile(dir, 100); data != nil {
		t.Errorf("a directory: %q", data)
	}
	if data := ReadFile(filepath.Join(dir, "none"), 100); data != nil {
		t.Errorf("no file: %q", data)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("abcdef"), 0o644); err != nil {
		t.Fatal(err)
	}
	if data := ReadFile(filepath.Join(dir, "file"), 3); string(data) != "abc" {
		t.Errorf("the first three bytes: %q", data)
	}
	if data := Search(filepath.Join(dir, "file"), []byte("cd")); string(data) != "cdef" {
		t.Errorf("search: %q", data)
	}
	if _, err := os.Stat("/proc/version"); err == nil && len(ReadFile("/proc/version", 100)) == 0 {
		t.Error("a file of /proc, which says that it is empty, was not read")
	}
}

// TestEach: the order is that of the names, whether all are read in a row, none, or some.
func TestEach(t *testing.T) {
	var names []string
	for n := range 40 {
		names = append(names, strconv.Itoa(n))
	}
	for _, patience := range []time.Duration{0, time.Microsecond, time.Hour} {
		got := eachWithin(patience, names, strings.Clone)
		if !slices.Equal(got, names) {
			t.Errorf("within %v: %q", patience, got)
		}
	}
}
