//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
)

// What cannot be printed is an error of every command: `envfix lock export >file` on
// a full disk must not look like an empty file that was asked for.
func TestFullOutput(t *testing.T) {
	team := teamIndex(t)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, teamArgs(team)...), fail.OK)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full: %v", err)
	}
	defer full.Close()
	for _, args := range []string{
		"--version", "--help", "plan --help", "facts", "facts --json", "plan --no-lock", "plan --no-lock --json", "why torch==2.15.0", "explain driver", "doctor --from envfix.lock",
		"history", "history --json", "completion bash", "completion zsh", "completion fish", "matrix show", "matrix command", "matrix check", "matrix check --json",
		"lock show", "lock show --json", "lock diff . .", "lock export --format uv", "lock export --profile rtx", "lock --check", "lock --check --json",
	} {
		old := os.Stdout
		os.Stdout = full
		code := run(context.Background(), append([]string{"envfix"}, strings.Fields(args)...))
		os.Stdout = old
		if code != fail.Failed {
			t.Errorf("envfix %s: exit code %d where nothing can be printed, want %d", args, code, fail.Failed)
		}
	}
}

// The script for an administrator stands within the JSON of an error, not before it.
func TestScriptInJSON(t *testing.T) {
	var out strings.Builder
	var f *fail.Error
	if !errors.As(&fail.Error{Code: fail.Privilege, Text: "no rights", Script: text.Const("#!/bin/sh\n")}, &f) {
		t.Fatal("not a failure")
	}
	writeErrorJSON(&out, f)
	want := `{"format": 1, "error": {"code": 6, "text": "no rights", "hints": [], "script": "#!/bin/sh\n"}}`
	if got := strings.Join(strings.Fields(out.String()), ""); got != strings.Join(strings.Fields(want), "") {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What --out names is replaced where it is a file, and written to where it is a
// device or a pipe: root's `--out /dev/null` must not put a file in its place.
func TestOutToAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte, 1)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- b
	}()
	wantExit(t, run(context.Background(), []string{"envfix", "plan", "--gpu", "8.6", "--no-lock", "--out", pipe}), fail.OK)
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe became %v, %v", info.Mode(), err)
	}
	if _, err := plan.Decode(<-read); err != nil {
		t.Errorf("what came out of the pipe is no plan: %v", err)
	}
}

// Programs of envfix's own are looked for in the user's home, never in a directory
// that everybody can write to: who finds HOME empty (cron, `env -i`) must not run what
// another user put below /tmp.
func TestToolsAreTheUsersOwn(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Skipf("this user is not in the user database: %v", err)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if got, want := system.ToolsDir(), filepath.Join(me.HomeDir, ".local/state/envfix/tools"); got != want {
		t.Errorf("without HOME: tools in %s, want %s", got, want)
	}
}
