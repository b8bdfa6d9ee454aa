package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"envfix/internal/ci/must"
)

var trialTime = time.Unix(1800000000, 0).UTC()

// trial is a release of nothing, in the root of the tree, where the parts run.
func trial(t *testing.T) *Release {
	t.Helper()
	t.Chdir("../../..")
	return &Release{Version: version{"1.2.3", 0}, Commit: strings.Repeat("ab", 20), Time: trialTime, Out: t.TempDir(), Scratch: t.TempDir(), Targets: targets, squeeze: standard}
}

func unzipped(t *testing.T, b []byte) map[string]*zip.File {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*zip.File{}
	for _, f := range z.File {
		out[f.Name] = f
	}
	return out
}

func contents(t *testing.T, f *zip.File) []byte {
	t.Helper()
	if f == nil {
		t.Fatal("a file is missing")
	}
	in, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWheel reads a wheel of each target back: every file is in RECORD with its
// digest, the program may be run, the tags are those of the name.
func TestWheel(t *testing.T) {
	r := trial(t)
	for _, target := range r.Targets {
		program := []byte("the program for " + target.String())
		b := r.wheel(target, program)
		if again := r.wheel(target, program); !bytes.Equal(b, again) {
			t.Errorf("%s: two wheels of the same differ", target)
		}
		files := unzipped(t, b)
		record := string(contents(t, files["envfix_gpu-1.2.3.dist-info/RECORD"]))
		if got, want := strings.Count(record, "\n"), len(files); got != want {
			t.Errorf("%s: RECORD has %d lines for %d files", target, got, want)
		}
		for name, f := range files {
			sum := sha256.Sum256(contents(t, f))
			line := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), f.UncompressedSize64)
			if strings.HasSuffix(name, "/RECORD") {
				line = name + ",,\n"
			}
			if !strings.Contains(record, line) {
				t.Errorf("%s: RECORD lacks %q", target, line)
			}
		}
		f := files["envfix_gpu-1.2.3.data/scripts/"+target.program()]
		if !bytes.Equal(contents(t, f), program) || f.Mode().Perm() != 0o755 {
			t.Errorf("%s: the program is not as it was put in, or has mode %v", target, f.Mode())
		}
		text := string(contents(t, files["envfix_gpu-1.2.3.dist-info/WHEEL"]))
		for _, tag := range tagsOf(target) {
			if !strings.Contains(text, "\nTag: py3-none-"+tag+"\n") {
				t.Errorf("%s: WHEEL lacks %s:\n%s", target, tag, text)
			}
		}
	}
}

// TestWheelInstalled installs a wheel with pip and starts the program in its three
// ways; then another package's command takes its place.
func TestWheelInstalled(t *testing.T) {
	r := trial(t)
	here := target{os: runtime.GOOS, arch: runtime.GOARCH}
	source := filepath.Join(r.Scratch, "p.go")
	if err := os.WriteFile(source, []byte("package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(\"started\", os.Args[1:]); os.Exit(4) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	output("go", "build", "-o", r.binary(here), source)
	r.Targets = []target{here}
	wheels(r)
	venv := t.TempDir()
	if err := must.Try(func() { output("python3", "-m", "venv", venv) }); err != nil {
		t.Skipf("python3 makes no environments here: %v", err)
	}
	output(venv+"/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", filepath.Join(r.Out, r.files[0]))
	for _, argv := range [][]string{{venv + "/bin/envfix"}, {venv + "/bin/envfix-gpu"}, {venv + "/bin/python", "-m", "envfix_gpu"}} {
		out, code := ended(t, append(argv, "plan", "--gpu", "RTX 5090")...)
		if out != "started [plan --gpu RTX 5090]\n" || code != 4 {
			t.Errorf("%v ended with %d and printed %q", argv, code, out)
		}
	}
	if err := os.WriteFile(venv+"/bin/envfix", []byte("#!/bin/sh\necho another program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, code := ended(t, venv+"/bin/envfix-gpu", "plan")
	if code != 1 || !strings.Contains(out, "another package") || !strings.Contains(out, "pip uninstall envfix\n") {
		t.Errorf("beside another package's envfix: %d, %q", code, out)
	}
}

// ended runs a program and returns what it printed and its exit code.
func ended(t *testing.T, argv ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		v             version
		python, linux string
	}{
		{version{"0.2.0", 0}, "0.2.0", "0.2.0"},
		{version{"0.2.0", 318}, "0.2.0.dev318", "0.2.0~dev318"},
	} {
		if c.v.python() != c.python || c.v.linux() != c.linux {
			t.Errorf("%+v: %s and %s, want %s and %s", c.v, c.v.python(), c.v.linux(), c.python, c.linux)
		}
	}
}
