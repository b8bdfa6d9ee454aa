package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/project"
	"envfix/internal/team"
	"envfix/internal/testindex"

	"github.com/google/go-cmp/cmp"
)

// The patch for pyproject.toml must make uv itself take the locked builds: each
// extra its own torch from its own index, everything else from the default one.
func TestLockExportUV(t *testing.T) {
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	wheel := func(version string) testindex.Wheel {
		w := testindex.Torch(version, "12.6", "sm_70")
		w.Tag, w.Requires = tag+"-"+tag+"-manylinux_2_28_x86_64", []string{"numpy"}
		return w
	}
	theirs := testindex.Serve(t, wheel("2.14.1+cu126"), testindex.Wheel{Name: "numpy", Version: "99.0"})
	def := testindex.Serve(t, wheel("2.15.0"), testindex.Wheel{Name: "numpy", Version: "2.3.0"})
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+def.URL, "--mirror", pytorchCU126+"="+theirs.URL,
		"--target", "v100=gpu=7.0 driver=580 python="+minor, "--target", "rtx=gpu=12.0 driver=580 python="+minor), fail.OK)

	sync := func(project string, args ...string) string {
		t.Helper()
		// As a file of its own: uv reads the indexes from here, not from a mirror.
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, "pyproject.toml"), strings.ReplaceAll(project, pytorchCU126, theirs.URL))
		cmd := exec.Command(testindex.UV(t), append([]string{"sync", "--python", testindex.Python(t), "--default-index", def.URL}, args...)...)
		cmd.Dir, cmd.Env = dir, append(team.UVEnvironment(os.Environ(), ""), "PATH="+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("uv sync %q: %v\n%s\n%s", args, err, out, project)
		}
		files, err := filepath.Glob(filepath.Join(dir, ".venv/lib/python*/site-packages/*.dist-info"))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			files[i] = strings.TrimSuffix(filepath.Base(f), ".dist-info")
		}
		return strings.Join(sorted(files), " ")
	}
	export := func() string {
		t.Helper()
		text, err := (&team.Team{Dir: ".", Project: project.Read}).Export("uv", "")
		if err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	project := export()
	if got, want := sync(project), "numpy-2.3.0 torch-2.15.0"; got != want {
		t.Errorf("a bare uv sync installs %s, want %s\n%s", got, want, project)
	}
	if got, want := sync(project, "--no-default-groups", "--group", "v100"), "numpy-2.3.0 torch-2.14.1+cu126"; got != want {
		t.Errorf("uv sync --group v100 installs %s, want %s", got, want)
	}
	// A project that is there already keeps what it says.
	writeText(t, filepath.Join(dir, "pyproject.toml"), `[project]
name = "ours" # our own
version = "3"
dependencies = ["torch"]

[dependency-groups]
dev = ["numpy"]

[tool.uv]
default-groups = ["dev"]
`)
	merged := export()
	for _, want := range []string{"name = \"ours\" # our own", `default-groups = ["dev", "rtx"]`, `dev = ["numpy"]`} {
		if !strings.Contains(merged, want) {
			t.Errorf("the merged project lacks %s:\n%s", want, merged)
		}
	}
	if got, want := sync(merged), "numpy-2.3.0 torch-2.15.0"; got != want {
		t.Errorf("a bare uv sync of the merged project installs %s, want %s\n%s", got, want, merged)
	}
}

func TestLockExportTexts(t *testing.T) {
	p := lock.Profile{Name: "v100", Torch: "2.14.1+cu126", Build: "cu126", Python: "3.12", Match: lock.Match{OS: "linux", GPU: "nvidia", Driver: ">=525.60.13"}}
	want := `# From envfix.lock, profile v100. Beside it: requirements.v100.txt
name: v100
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python=3.12
  - pip>=23
  - pip:
      - --require-hashes
      - --no-deps
      - --only-binary=:all:
      - -r requirements.v100.txt
`
	conda, err := p.Export("conda", "/home", &lock.Packages{})
	if d := cmp.Diff(want, conda.String()); d != "" || err != nil {
		t.Errorf("conda (-want +got):\n%s", d)
	}
	docker, err := p.Export("dockerfile", "/home", &lock.Packages{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"ARG BASE=python:3.12-slim\n", "--require-hashes", `NVIDIA_REQUIRE_CUDA="driver>=525"`, "'2.14.1'", "USER 10001\n", "--mount=type=cache"} {
		if !strings.Contains(docker.String(), part) {
			t.Errorf("the Dockerfile lacks %s:\n%s", part, docker)
		}
	}
	p.Match = lock.Match{OS: "linux", GPU: "none", Arch: "aarch64"}
	docker, err = p.Export("dockerfile", "/home", &lock.Packages{})
	if err != nil || strings.Contains(docker.String(), "NVIDIA") || !strings.Contains(docker.String(), "FROM --platform=linux/arm64 ${BASE}") {
		t.Errorf("a CPU image for Arm (%v):\n%s", err, docker)
	}
	p.Match.OS = "windows"
	if _, err := p.Export("dockerfile", "/home", &lock.Packages{}); err == nil {
		t.Error("a Dockerfile for Windows")
	}
}

// Facts of machines become one target per class, with the oldest driver of it.
func TestLockFromFacts(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	facts := func(name, driver, sm string) string {
		path := filepath.Join(dir, name+".json")
		text := `{"format":1,"platform":{"os":"linux","arch":"x86_64","libc":{"kind":"glibc","version":"2.35"}},"driver":{"version":"` + driver + `"},
"gpus":[{"index":0,"vendor":"nvidia","name":"a GPU","compute_capability":"` + sm + `","visible":true}],"pythons":[{"version":"3.12.4","path":"/usr/bin/python3","active":true}]}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+x.URL,
		"--facts", facts("a", "595.45.04", "12.0"), "--facts", facts("b", "580.95.05", "12.0"), "--facts", facts("c", "580.95.05", "9.0")), fail.OK)
	l, err := (&team.Team{Dir: "."}).Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []lock.Target{
		{Name: "linux-x86_64-sm120", Facts: "arch=x86_64 driver=580.95.05 gpu=12.0 libc=glibc-2.35 os=linux python=3.12"},
		{Name: "linux-x86_64-sm90", Facts: "arch=x86_64 driver=580.95.05 gpu=9.0 libc=glibc-2.35 os=linux python=3.12"},
	}
	if d := cmp.Diff(want, l.Input.Targets); d != "" {
		t.Errorf("targets (-want +got):\n%s", d)
	}
	wantExit(t, lockIn(t, dir, "lock", "--facts", filepath.Join(dir, "none.json")), fail.Usage)
}

// `lock` alone keeps versions; --upgrade PACKAGE takes the newest of that one.
func TestLockUpgrade(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	mirror := []string{"--mirror", "default=" + x.URL}
	wantExit(t, lockIn(t, dir, append([]string{"lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12"}, mirror...)...), fail.OK)
	x.Add(testindex.Wheel{Name: "numpy", Version: "2.4.0"})
	numpy := func() string {
		b, err := os.ReadFile("pylock.rtx.toml")
		if err != nil {
			t.Fatal(err)
		}
		k, err := lock.DecodePylock(b)
		if err != nil {
			t.Fatal(err)
		}
		return k.Find("numpy").Version
	}
	steps := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"lock"}, fail.OK, "2.3.0"},
		{[]string{"lock", "--upgrade", "torchvision"}, fail.Usage, "2.3.0"}, // neither asked for nor locked
		{[]string{"lock", "--upgrade", "torch"}, fail.OK, "2.3.0"},
		{[]string{"lock", "--upgrade", "numpy"}, fail.OK, "2.4.0"},
	}
	for _, s := range steps {
		t.Setenv("UV_CACHE_DIR", t.TempDir())
		wantExit(t, lockIn(t, dir, append(s.args, mirror...)...), s.code)
		if got := numpy(); got != s.want {
			t.Errorf("after %q numpy is %s, want %s", s.args, got, s.want)
		}
	}
}

// --profile makes one profile anew and leaves the bytes of the others alone.
func TestLockOneProfile(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "--profile", "rtx"), fail.Usage) // there is no lock
	wantExit(t, lockIn(t, dir, teamArgs(x)...), fail.OK)
	before := map[string]string{}
	for _, name := range []string{"pylock.rtx.toml", "pylock.laptop.toml", "pylock.win.toml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(b)
	}
	x.Add(testindex.Wheel{Name: "numpy", Version: "2.4.0"})
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	wantExit(t, lockIn(t, dir, "lock", "--upgrade", "--profile", "rtx", "--mirror", "default="+x.URL), fail.OK)
	for name, was := range before {
		b, err := os.ReadFile(name)
		if err != nil || (string(b) != was) != (name == "pylock.rtx.toml") {
			t.Errorf("%s changed: %v (%v)", name, string(b) != was, err)
		}
	}
	if _, err := (&team.Team{Dir: "."}).Read(); err != nil {
		t.Error(err)
	}
	wantExit(t, lockIn(t, dir, "lock", "numpy", "--profile", "rtx", "--mirror", "default="+x.URL), fail.Usage) // another input
	wantExit(t, lockIn(t, dir, "lock", "--profile", "none", "--mirror", "default="+x.URL), fail.Usage)
}
