package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestCarriedChild builds the static program that carries the child, with this
// machine's C compiler, and lets it ask the stand-in for NVIDIA's library.
func TestCarriedChild(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux and a C compiler")
	}
	r := trial(t)
	here := target{runtime.GOOS, runtime.GOARCH}
	child, library, program := filepath.Join(r.Scratch, "envfix-nvml"), filepath.Join(r.Scratch, "libnvidia-ml.so.1"), filepath.Join(r.Scratch, "envfix")
	buildChild(here, "", child)
	output("cc", "-DNEW", "-shared", "-fPIC", "-o", library, "cmd/envfix/testdata/nvml.c")
	over := overlay(child, filepath.Join(r.Scratch, "overlay.json"))
	build := command{argv: []string{"go", "build", "-overlay", over, "-tags", tags + ",nvmlchild", "-o", program, "./cmd/envfix"}, env: []string{"CGO_ENABLED=0", "GOFLAGS="}}
	if _, err := build.output(); err != nil {
		t.Fatal(err)
	}
	facts := func(extra ...string) string {
		env := append([]string{"ENVFIX_NVML=" + library, "FAKE_NVML_DRIVER=550.54.14", "FAKE_NVML_GPUS=NVIDIA H100 80GB HBM3,9,0,00000000:3B:00.0,233010de,81559"}, extra...)
		b, err := (&command{argv: []string{program, "facts", "--json"}, env: env}).output()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if out := facts(); !strings.Contains(out, `"name": "NVIDIA H100 80GB HBM3"`) || !strings.Contains(out, `"evidence": "nvml"`) {
		t.Errorf("the static build did not ask the library:\n%s", out)
	}
	if out := facts("FAKE_NVML_CRASH=1"); !strings.Contains(out, "NVIDIA's library ended its process") || strings.Contains(out, "H100") {
		t.Errorf("the library crashed, and nothing says so:\n%s", out)
	}
	if out := facts("ENVFIX_NVML=/nowhere/libnvidia-ml.so.1"); !strings.Contains(out, "nvml: library not found") {
		t.Errorf("there is no library, and nothing says so:\n%s", out)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "envfix-nvml*")); err != nil || len(left) > 0 {
		t.Errorf("the child was left on disk: %v %v", left, err)
	}
}

// TestNVMLSymbols: the functions that a C compiler without go-nvml's flag must find.
func TestNVMLSymbols(t *testing.T) {
	t.Chdir("../../..")
	symbols := nvmlSymbols()
	text := " " + strings.Join(symbols, " ") + " "
	for _, s := range []string{"nvmlInit_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlGpmMetricsGet"} {
		if !strings.Contains(text, " "+s+" ") {
			t.Errorf("%s is not among the symbols", s)
		}
	}
}
