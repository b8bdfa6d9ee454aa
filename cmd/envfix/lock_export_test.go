package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"envfix/internal/lock"
	"envfix/internal/team"
	"envfix/internal/testindex"
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
		"--target", "v100=gpu=7.0 driver=580 python="+minor, "--target", "rtx=gpu=12.0 driver=580 python="+minor), exitOK)

	l, err := (&team.Team{Dir: "."}).Read()
	if err != nil {
		t.Fatal(err)
	}
	patch, err := l.ExportUV()
	if err != nil {
		t.Fatal(err)
	}
	project := "[project]\nname = 'team'\nversion = '0'\nrequires-python = '==" + minor + ".*'\n" + strings.Replace(patch, "[project]\n", "", 1)
	project = strings.ReplaceAll(project, pytorchCU126, theirs.URL)
	if err := os.WriteFile("pyproject.toml", []byte(project), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testindex.UV(t), "lock", "--python", testindex.Python(t), "--default-index", def.URL)
	cmd.Env = append(team.UVEnvironment(os.Environ(), ""), "PATH="+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("uv lock: %v\n%s\n%s", err, out, project)
	}
	b, err := os.ReadFile("uv.lock")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`version = "2.14.1+cu126"`, `version = "2.15.0"`, `version = "2.3.0"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("uv.lock has no %s:\n%s", want, project)
		}
	}
	if strings.Contains(string(b), `"99.0"`) {
		t.Error("uv took numpy from torch's index")
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
	if d := cmp.Diff(want, p.ExportConda("requirements.v100.txt")); d != "" {
		t.Errorf("conda (-want +got):\n%s", d)
	}
	docker := p.ExportDockerfile("requirements.v100.txt")
	for _, part := range []string{"FROM python:3.12-slim\n", "--require-hashes", `NVIDIA_REQUIRE_CUDA="driver>=525"`, "'2.14.1+cu126'"} {
		if !strings.Contains(docker, part) {
			t.Errorf("the Dockerfile lacks %s:\n%s", part, docker)
		}
	}
	p.Match = lock.Match{OS: "linux", GPU: "none"}
	if docker := p.ExportDockerfile("r.txt"); strings.Contains(docker, "NVIDIA") {
		t.Errorf("a CPU image speaks of NVIDIA:\n%s", docker)
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
		"--facts", facts("a", "595.45.04", "12.0"), "--facts", facts("b", "580.95.05", "12.0"), "--facts", facts("c", "580.95.05", "9.0")), exitOK)
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
	wantExit(t, lockIn(t, dir, "lock", "--facts", filepath.Join(dir, "none.json")), exitUsage)
}

// `lock` alone keeps versions; --upgrade PACKAGE takes the newest of that one.
func TestLockUpgrade(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	mirror := []string{"--mirror", "default=" + x.URL}
	wantExit(t, lockIn(t, dir, append([]string{"lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12"}, mirror...)...), exitOK)
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
		{[]string{"lock"}, exitOK, "2.3.0"},
		{[]string{"lock", "--upgrade", "torchvision"}, exitUsage, "2.3.0"}, // neither asked for nor locked
		{[]string{"lock", "--upgrade", "torch"}, exitOK, "2.3.0"},
		{[]string{"lock", "--upgrade", "numpy"}, exitOK, "2.4.0"},
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
	wantExit(t, lockIn(t, dir, "lock", "--profile", "rtx"), exitUsage) // there is no lock
	wantExit(t, lockIn(t, dir, teamArgs(x)...), exitOK)
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
	wantExit(t, lockIn(t, dir, "lock", "--upgrade", "--profile", "rtx", "--mirror", "default="+x.URL), exitOK)
	for name, was := range before {
		b, err := os.ReadFile(name)
		if err != nil || (string(b) != was) != (name == "pylock.rtx.toml") {
			t.Errorf("%s changed: %v (%v)", name, string(b) != was, err)
		}
	}
	if _, err := (&team.Team{Dir: "."}).Read(); err != nil {
		t.Error(err)
	}
	wantExit(t, lockIn(t, dir, "lock", "numpy", "--profile", "rtx", "--mirror", "default="+x.URL), exitUsage) // another input
	wantExit(t, lockIn(t, dir, "lock", "--profile", "none", "--mirror", "default="+x.URL), exitUsage)
}
