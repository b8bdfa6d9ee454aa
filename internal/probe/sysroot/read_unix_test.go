//go:build unix

package sysroot

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadFileFIFO: opening a FIFO that nobody writes to would wait for ever.
func TestReadFileFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "METADATA")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	if data := ReadFile(fifo, 100); data != nil {
		t.Errorf("a FIFO: %q", data)
	}
}
