package team

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"envfix/internal/system"
)

// A UVRun is one run of uv on files in a folder of its own, which goes with it.
type UVRun struct {
	system.Command                   // Dir is where in that folder
	Files          map[string][]byte // by their names below Dir
	Leaves         string            // the one that is the answer; "" what it prints is

	Out  bytes.Buffer  // what it printed
	Errs system.Tail   // what it said, the end of it
	Left []byte        // the answer
	Took time.Duration // of processor time
}

// Run runs it; environment is what it sees, given the folder.
func (r *UVRun) Run(ctx context.Context, environment func(dir string) []string) error {
	dir, err := os.MkdirTemp("", "envfix-uv-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r.Dir, r.Errs.Most = filepath.Join(dir, r.Dir), max(r.Errs.Most, mostTail)
	for name, content := range r.Files {
		path := filepath.Join(r.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			return err
		}
	}
	cmd := &exec.Cmd{}
	r.Made = func(c *exec.Cmd) { c.Env, c.Stdout, c.Stderr, cmd = environment(dir), &r.Out, &r.Errs, c }
	err = system.Run(ctx, r.Command)
	if did := cmd.ProcessState; did != nil {
		r.Took = did.UserTime() + did.SystemTime()
	}
	if err == nil && r.Leaves != "" {
		r.Left, err = ReadFile(filepath.Join(r.Dir, r.Leaves))
	}
	return err
}

// Stranger is what keeps the user's logins from addresses that a project names, where uv runs
// in a folder.
func Stranger(dir string) []string {
	return []string{"NETRC=" + os.DevNull, "UV_KEYRING_PROVIDER=disabled", "UV_CREDENTIALS_DIR=" + dir}
}

// Lines is a file of lines.
func Lines(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
