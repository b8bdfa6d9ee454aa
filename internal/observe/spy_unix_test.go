//go:build unix

package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpy: a job that envfix did not start is looked at by py-spy, where it is there
// and may; else what is missing is said.
func TestSpy(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	program := filepath.Join(dir, "py-spy")
	for script, want := range map[string]string{
		"": "pip install py-spy",
		`[ -e "$0.ended" ] && exit 1; echo > "$0.ended"; echo '[{"thread_name":"MainThread","frames":[{"name":"get","filename":"/h/t.py","line":4}]}]'`: "by 1 looks of py-spy the main thread was 100 % of the time in get (/h/t.py:4)",
		"echo Permission Denied >&2; exit 1": "py-spy could not look: Permission Denied",
		`echo '[{"thread_name":"MainThread","frames":[{"name":"load","filename":"/v/lib/python3.12/site-packages/PIL/ImageFile.py","line":9},` +
			`{"name":"get","filename":"/h/train.py","line":41}]}]'`: "by 2 looks of py-spy the main thread was 100 % of the time in get (/h/train.py:41), which calls load",
	} {
		os.Remove(program)
		if script != "" {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := newSpy(1)
		s.look()
		s.look()
		if got := strings.Join(s.notes(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}
