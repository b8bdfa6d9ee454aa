//go:build linux

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// A terminal that goes away ends an apply as Ctrl-C does, and not the program.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP was ignored when the tests began, as under nohup, and stays so: run them without for this one")
	}
	ctx, stop := untilHangup(context.Background())
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
}
