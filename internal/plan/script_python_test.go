package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFindPython runs the lines by which a script finds its Python: on PATH, at pyenv's,
// by uv, brought by uv, and nowhere, where it says what to do.
func TestFindPython(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a POSIX script")
	}
	for _, tt := range []struct {
		name          string
		onPath, pyenv string // what the Python there does; "" there is none
		find, install string // what uv does
		want          string // of $python, or of what is said
		code          int
	}{
		{"on PATH", "exit 0", "exit 0", "exit 2", "exit 2", "/bin/python3.13", 0},
		{"a shim that answers for none", "exit 127", "exit 0", "exit 2", "exit 2", "/pyenv/versions/3.13.0/bin/python3.13", 0},
		{"uv finds one", "", "", "exit 0", "exit 2", "3.13", 0},
		{"uv brings one", "", "", "exit 2", "exit 0", "3.13", 0},
		{"none", "", "exit 1", "exit 2", "echo 'dns error' >&2; exit 1", "Install Python 3.13, or name a mirror in UV_PYTHON_INSTALL_MIRROR", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			program := func(name, does string) {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte("#!/bin/sh\n"+does+"\n"), 0o755); does != "" && err != nil {
					t.Fatal(err)
				}
				if does == "" {
					_ = os.Remove(file)
				}
			}
			program("bin/python3.13", tt.onPath)
			program("pyenv/versions/3.13.0/bin/python3.13", tt.pyenv)
			program("bin/uv", `case "$1 $2" in "python find") `+tt.find+`;; "python install") `+tt.install+`;; esac; exit 9`)
			env, err := exec.LookPath("env")
			if err != nil {
				t.Fatal(err)
			}
			program("bin/env", "exec "+env+` "$@"`)
			script := "set -eu\nuser() { env \"$@\"; }\nuv=" + dir + "/bin/uv\n" + strings.ReplaceAll(findPython, "%[1]s", "3.13") + "echo \"$python\"\n"
			c := exec.Command("/bin/sh", "-c", script)
			c.Env = []string{"PATH=" + dir + "/bin", "PYENV_ROOT=" + dir + "/pyenv", "HOME=" + dir}
			out, _ := c.CombinedOutput()
			if got := c.ProcessState.ExitCode(); got != tt.code || !strings.Contains(string(out), tt.want) {
				t.Errorf("exit %d:\n%s", got, out)
			}
		})
	}
}
