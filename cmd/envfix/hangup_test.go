//go:build linux

package main

import (
	"context"
	"os"
	"syscall"
	"testing"
)

// A terminal that goes away ends an apply as Ctrl-C does, and not the program.
func TestHangup(t *testing.T) {
	ctx, stop := untilHangup(context.Background())
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
}
