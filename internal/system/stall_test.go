//go:build linux

package system

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A program that waits for ever is ended, with all that it started, and says what
// it said last.
func TestStall(t *testing.T) {
	var err error
	for name, script := range map[string]string{
		"it waits":                "echo asking; exec sleep 600",
		"it ignores an interrupt": "trap '' INT; echo asking; sleep 600; sleep 600",
		"it exits well after one": "trap 'exit 0' INT; echo asking; sleep 600 & wait",
	} {
		err = Run(context.Background(), Command{Argv: []string{"sh", "-c", script}, Stall: 20 * time.Millisecond, Grace: 10 * time.Millisecond})
		var stalled *StallError
		if !errors.As(err, &stalled) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if diff := cmp.Diff("sh made no progress for 20ms and was ended", stalled.Error()); diff != "" {
			t.Error(diff)
		}
	}
}

// Whatever a program does that can be seen from outside is progress; waking its
// own threads is none.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	files, bytes := Sizes(dir)
	before := activity{output: 10, written: 5000, files: files, bytes: bytes}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	linked, _ := Sizes(dir) // as uv links a file from its cache: nothing is written
	grown := before
	for name, tt := range map[string]struct {
		now  activity
		want bool
	}{
		"nothing":       {before, false},
		"output":        {activity{output: 11, written: 5000, files: files, bytes: bytes}, true},
		"wake-ups":      {activity{output: 10, written: 5000 + noise - 1, files: files, bytes: bytes}, false},
		"a write":       {activity{output: 10, written: 5000 + noise, files: files, bytes: bytes}, true},
		"a link":        {activity{output: 10, written: 5000, files: linked, bytes: bytes}, true},
		"reading":       {activity{output: 10, written: 5000, files: files, bytes: bytes, read: noise}, true},
		"computing":     {activity{output: 10, written: 5000, files: files, bytes: bytes, worked: 2, idle: 1}, true},
		"waking up":     {activity{output: 10, written: 5000, files: files, bytes: bytes, worked: 1, idle: 1}, false},
		"a file shrank": {activity{output: 10, written: 5000, files: files, bytes: bytes - 1}, true},
	} {
		if got := tt.now.progress(before); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
	p := patience{last: before}
	for i := range 5 * looks { // now and then a byte: never over
		if i%(looks-1) == 0 {
			grown.output++
		}
		if p.over(grown) {
			t.Fatalf("over at look %d", i)
		}
	}
	p, n := patience{last: grown}, 0
	for !p.over(grown) {
		n++
	}
	if n != looks-1 {
		t.Errorf("over after %d looks, want %d", n+1, looks)
	}
}

// What a process and its children write is seen, also while they run.
func TestWritten(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pid := make(chan int, 1)
	out := writer(func(b []byte) {
		self, err := os.ReadFile(string(b[:len(b)-1]))
		if err != nil {
			t.Error(err)
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(self)))
		pid <- n
		if got, _, _ := did(n); got < 100_000 {
			t.Errorf("%d bytes were written, want 100000 and more", got)
		}
		cancel()
	})
	name := filepath.Join(t.TempDir(), "pid")
	script := "echo $$ > " + name + "; printf '%0100000d' 1 > " + name + ".more; echo " + name + "; exec sleep 600"
	if err := Run(ctx, Command{Argv: []string{"sh", "-c", script}, Out: out, Grace: 10 * time.Millisecond}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(pid) != 1 {
		t.Error("the program did not run")
	}
}

// TestWork: a program that computes outlives the time in which it would have to print, until
// it had as much processor time as it may have.
func TestWork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no other system says what a process did")
	}
	spin := []string{"sh", "-c", "while :; do :; done"}
	var stalled *StallError
	begin := time.Now()
	err := Run(context.Background(), Command{Argv: spin, Stall: 400 * time.Millisecond, Work: 900 * time.Millisecond, Grace: 10 * time.Millisecond})
	if !errors.As(err, &stalled) || time.Since(begin) < 900*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}
