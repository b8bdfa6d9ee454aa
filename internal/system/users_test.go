//go:build linux

package system

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Every way in which a process uses an environment is seen, and none that does not.
func TestUsers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-I", "-c", "import sys; print(sys.executable, end='')").Output(); err == nil {
		python = string(out) // not a shim
	}
	top := t.TempDir()
	dir, other := filepath.Join(top, "gens", "a"), filepath.Join(top, "gens", "ab") // whose name begins alike
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, other} {
		if err := errors.Join(os.MkdirAll(d+"/bin", 0o755), os.WriteFile(d+"/bin/sleep", binary, 0o755), os.Symlink(python, d+"/bin/python"),
			os.WriteFile(d+"/lib.so", make([]byte, 4096), 0o755), os.WriteFile(d+"/bin/tool", []byte("print('ready', flush=True)\nimport time; time.sleep(600)\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("gens/a", top+"/.venv"); err != nil {
		t.Fatal(err)
	}
	const wait = "; print('ready', flush=True); import time; time.sleep(600)"
	for name, tt := range map[string]struct {
		argv []string
		cwd  string
		env  string
		uses bool
	}{
		"a program of it":                   {[]string{dir + "/bin/sleep", "600"}, "/", "", true},
		"its python, a link to another":     {[]string{dir + "/bin/python", "-I", "-c", "0" + wait}, "/", "", true},
		"its python through the link":       {[]string{top + "/.venv/bin/python", "-I", "-c", "0" + wait}, "/", "", true},
		"its python from the project":       {[]string{".venv/bin/python", "-I", "-c", "0" + wait}, top, "", true},
		"a script of it, by another python": {[]string{python, dir + "/bin/tool"}, "/", "", true},
		"a library that is mapped":          {[]string{python, "-I", "-c", "import mmap; f = open('" + dir + "/lib.so', 'rb'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ); f.close()" + wait}, "/", "", true},
		"a file that is open":               {[]string{python, "-I", "-c", "f = open('" + dir + "/lib.so', 'rb')" + wait}, "/", "", true},
		"a working directory":               {[]string{python, "-I", "-c", "0" + wait}, dir + "/bin", "", true},
		"an activated shell":                {[]string{python, "-I", "-c", "0" + wait}, "/", "VIRTUAL_ENV=" + top + "/.venv", true},
		"its neighbour":                     {[]string{other + "/bin/python", "-I", "-c", "0" + wait}, other, "VIRTUAL_ENV=" + other, false},
		"a path that is only data":          {[]string{python, "-I", "-c", "0" + wait, dir + "/lib.so"}, "/", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(tt.argv[0], tt.argv[1:]...)
			c.Dir, c.Env = tt.cwd, []string{"PATH=/usr/bin:/bin", tt.env}
			if filepath.Base(tt.argv[0]) == "python" && tt.argv[0][0] == '.' {
				c.Path = filepath.Join(tt.cwd, tt.argv[0])
			}
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Process.Kill(); err != nil {
					t.Error(err)
				}
				_ = c.Wait() // it was killed
			}()
			if filepath.Base(tt.argv[0]) != "sleep" {
				if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
					t.Fatalf("the process said %q, %v", line, err)
				}
			}
			if got := slices.Contains(Users(dir), c.Process.Pid); got != tt.uses {
				t.Errorf("uses it: got %v, want %v", got, tt.uses)
			}
		})
	}
}
