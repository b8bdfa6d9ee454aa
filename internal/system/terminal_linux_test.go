package system

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// A program that draws has a terminal for its messages alone. What it draws reaches nobody but
// Out, and what it says is told as through a pipe, also as why it failed.
func TestDraws(t *testing.T) {
	var out bytes.Buffer
	script := `test -t 2 && ! test -t 1 && ! test -t 0 || exit 9
printf '\342\240\213 working\r' >&2; printf '\033[2K\342\240\231 working   torch -- 1 MiB/2 MiB\r' >&2
printf '\033[2K\033[31merror\033[0m: no \033]0;title\007such thing\n' >&2; echo plain; exit 3`
	err := Run(context.Background(), Command{Argv: []string{"/bin/sh", "-c", script}, Out: &out, Draws: 100})
	exit, ok := err.(*ExitError)
	if !ok || exit.Code != 3 {
		t.Fatalf("%v\n%s", err, out.String())
	}
	tail := strings.Join(exit.Tail, "\n")
	if !strings.Contains(tail, "error: no such thing") || strings.Contains(tail, "working") || !strings.Contains(tail, "plain") {
		t.Errorf("the last lines: %q", tail)
	}
	if got := out.String(); !strings.Contains(got, "torch -- 1 MiB/2 MiB\n") || strings.ContainsAny(got, "\x1b\x07\r") {
		t.Errorf("out: %q", got)
	}
}
