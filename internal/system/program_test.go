package system

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A project that is only read brings no program, by whatever way of PATH.
func TestOnPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	project, tools := t.TempDir(), t.TempDir()
	for _, dir := range []string{project + "/bin", tools + "/bin"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/uv", []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(tools+"/bin/uv", project+"/uv"); err != nil { // .venv/bin/python is such a link
		t.Fatal(err)
	}
	if err := os.Symlink(project+"/bin", tools+"/back"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	for _, path := range []string{"bin", ".", project, project + "/bin", tools + "/back"} {
		t.Setenv("PATH", path)
		if found, err := OnPath("uv"); err == nil {
			t.Errorf("PATH=%s: %s", path, found)
		}
		t.Setenv("PATH", path+string(filepath.ListSeparator)+tools+"/bin")
		if found, err := OnPath("uv"); err != nil || found != tools+"/bin/uv" {
			t.Errorf("PATH=%s and the tools: %s, %v", path, found, err)
		}
	}
}
