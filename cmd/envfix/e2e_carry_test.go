//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestE2ECarry installs a real old torch with pip, a second time without doing
// anything, replaces it with uv, and has the packages beside it carried over: pure
// ones, compiled ones, one that pins the old torch, an editable one and one from a
// repository.
func TestE2ECarry(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it installs gigabytes of real torch: `make e2e` runs it")
	}
	t.Parallel() // it waits for mirrors
	takeDisk(t, diskByPip)
	dir, state := t.TempDir(), t.TempDir()
	envfix := build(t)
	command := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
		}
		return strings.TrimSpace(string(out))
	}
	python := filepath.Join(dir, ".venv/bin/python")
	pip := func(args ...string) {
		t.Helper()
		command(python, append([]string{"-m", "pip", "install", "--quiet"}, args...)...)
	}
	old := append([]string{"--manager", "pip", "--python", thisPython(t), "torch==2.6.0", "torchvision==0.21.0"}, onH100...)
	env := []string{"XDG_STATE_HOME=" + state}
	out := applyIn(t, envfix, dir, env, old...)
	tellCost(t, out, dir)
	nothingLeft(t, applyIn(t, envfix, dir, env, old...))
	pip("--no-deps", "xformers==0.0.29.post3")
	pip("requests==2.32.3", "numpy==1.26.4", "einops==0.8.0", "tokenizers==0.20.3", "safetensors==0.4.5", "pandas==2.2.3", "transformers==4.46.3", "tqdm==4.66.5", "pyyaml==6.0.2", "pillow==11.0.0")
	pip("--no-deps", "--editable", writeProject(t, dir, "mine"))
	repository := writeProject(t, dir, "repository")
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "-m", "x"}} {
		command("git", append([]string{"-C", repository}, args...)...)
	}
	pip("--no-deps", "git+file://"+repository)
	const versions = `
from importlib.metadata import distributions
import json, sys
skip = {"torch", "torchvision", "torchaudio", "triton", "pip", "xformers", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "setuptools", "sympy", "typing-extensions"}
names = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in distributions()}
print("\n".join(sorted(f"{n} {v}" for n, v in names.items() if n not in skip and not n.startswith(("nvidia-", "cuda-")))))`
	before := command(python, "-I", "-c", versions)

	target := []string{"--gpu", "H100 80GB HBM3", "--driver", "580.95.05", "--only-index", "default"}
	shown := command(envfix, append([]string{"plan", "-v"}, target...)...)
	for _, want := range []string{"cannot stay  xformers 0.0.29.post3: needs torch==2.6.0", "stays        mine 0.1, editable, from"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the plan does not say %q:\n%s", want, shown)
		}
	}
	start := time.Now()
	command(envfix, append([]string{"apply", "--yes"}, target...)...)
	fmt.Printf("  %d packages carried over beside a new torch in %.0f s\n", strings.Count(before, "\n")+1, time.Since(start).Seconds())
	if diff := cmp.Diff(before, command(python, "-I", "-c", versions)); diff != "" {
		t.Error(diff)
	}
	command(python, "-I", "-c", "import torch, requests, numpy, einops, pandas, tokenizers, transformers, mine, repository; assert not torch.__version__.startswith('2.6.')")
	command(envfix, "rollback")
	if got := command(python, "-I", "-c", "from importlib.metadata import version; print(version('torch'), version('xformers'))"); got != "2.6.0 0.0.29.post3" {
		t.Errorf("after the rollback: %s", got)
	}
}

// writeProject makes a Python project of one module.
func writeProject(t *testing.T, dir, name string) string {
	t.Helper()
	dir = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"pyproject.toml": fmt.Sprintf("[project]\nname = %q\nversion = \"0.1\"\n[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n[tool.setuptools]\npy-modules = [%q]\n", name, name),
		name + ".py":     "",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
