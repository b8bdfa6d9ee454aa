package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/team"
	"envfix/internal/testindex"
	"envfix/matrix"

	"github.com/google/go-cmp/cmp"
)

// pytorchCU126 is the index of the cu126 builds, which tests mirror to loopback.
const pytorchCU126 = "https://download.pytorch.org/whl/cu126"

// teamIndex serves what a small team needs for Python 3.12.
func teamIndex(t *testing.T) *testindex.Index {
	torch := func(tag string) testindex.Wheel {
		w := testindex.Torch("2.15.0", "13.2", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
		w.Tag, w.Requires = tag, []string{"numpy"}
		return w
	}
	vision := func(tag string) testindex.Wheel {
		return testindex.Wheel{Name: "torchvision", Version: "0.29.2", Requires: []string{"torch>=2.14"}, Tag: tag}
	}
	return testindex.Serve(t,
		torch("cp312-cp312-manylinux_2_28_x86_64"), torch("cp312-cp312-macosx_14_0_arm64"), torch("cp312-cp312-win_amd64"),
		vision("py3-none-manylinux_2_28_x86_64"), vision("py3-none-macosx_14_0_arm64"), vision("py3-none-win_amd64"),
		testindex.Wheel{Name: "numpy", Version: "2.3.0"})
}

// lockIn runs envfix in dir with uv on PATH and returns its exit code.
func lockIn(t *testing.T, dir string, args ...string) int {
	t.Helper()
	t.Chdir(dir)
	t.Setenv("PATH", filepath.Dir(testindex.UV(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"} {
		t.Setenv(name, "")
	}
	return run(context.Background(), append([]string{"envfix"}, args...))
}

func wantExit(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("exit code %d, want %d", got, want)
	}
}

func teamArgs(x *testindex.Index) []string {
	return []string{"lock", "torch", "torchvision", "--mirror", "default=" + x.URL,
		"--target", "rtx=gpu=12.0 driver=580 os=linux python=3.12", "--target", "laptop=os=macos python=3.12",
		"--target", "win=os=windows gpu=none python=3.12 index=default"}
}

// The same input must give the same bytes, whatever the directory, the locale, the
// time zone and the umask.
func TestLockIsReproducible(t *testing.T) {
	x := teamIndex(t)
	one, two := t.TempDir(), t.TempDir()
	wantExit(t, lockIn(t, one, teamArgs(x)...), fail.OK)
	t.Setenv("LC_ALL", "tr_TR.UTF-8")
	t.Setenv("TZ", "Asia/Kathmandu")
	defer umask(0o077)()
	wantExit(t, lockIn(t, two, teamArgs(x)...), fail.OK)
	files, err := filepath.Glob(filepath.Join(one, "*"))
	if err != nil || len(files) != 5 { // with envfix.toml
		t.Fatalf("files %q, %v", files, err)
	}
	for _, f := range files {
		a, _ := os.ReadFile(f)
		b, err := os.ReadFile(filepath.Join(two, filepath.Base(f)))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s differs between two runs (%v)", filepath.Base(f), err)
		}
		if info, _ := os.Stat(filepath.Join(two, filepath.Base(f))); info.Mode().Perm() != 0o644 {
			t.Errorf("%s has mode %v", filepath.Base(f), info.Mode())
		}
	}
	wantExit(t, lockIn(t, one, "lock", "--check", "--offline"), fail.OK)
}

func TestLockGoesStale(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const team = "requirements = ['torch']\n[targets]\nrtx = 'gpu=12.0 driver=580 python=3.12'\n"
	write("envfix.toml", team)
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Usage) // there is none yet
	wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)

	write("envfix.toml", strings.Replace(team, "'torch'", "'torch', 'numpy'", 1))
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Pending)
	write("envfix.toml", team+"surprise = 1\n")
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Usage)
	write("envfix.toml", team)

	pylock := filepath.Join(dir, "pylock.rtx.toml")
	good, err := os.ReadFile(pylock)
	if err != nil {
		t.Fatal(err)
	}
	write("pylock.rtx.toml", string(good)+"\n")
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Pending)
	machine := []string{"--gpu", "12.0", "--driver", "580.95.05", "--arch", "x86_64"}
	wantExit(t, lockIn(t, dir, append([]string{"plan"}, machine...)...), fail.Integrity)
	write("pylock.rtx.toml", string(good))
	wantExit(t, lockIn(t, dir, append([]string{"plan"}, machine...)...), fail.OK)
	wantExit(t, lockIn(t, dir, "plan", "--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64"), fail.NoSolution)
	wantExit(t, lockIn(t, dir, append([]string{"plan", "--cuda", "12.6"}, machine...)...), fail.Usage)
	wantExit(t, lockIn(t, dir, append([]string{"plan", "--no-lock"}, machine...)...), fail.OK)
}

// Each of two indexes offers a higher version of a package that belongs to the
// other. Every package must come from its own; plain pip with an extra index is
// shown to take the wrong ones.
func TestLockDependencyConfusion(t *testing.T) {
	torch := testindex.Torch("2.14.1+cu126", "12.6", "sm_70")
	torch.Tag, torch.Requires = "cp312-cp312-manylinux_2_28_x86_64", []string{"numpy"}
	theirs := testindex.Serve(t, torch, testindex.Wheel{Name: "numpy", Version: "99.0"})
	evil := torch
	evil.Version = "99.0"
	def := testindex.Serve(t, evil, testindex.Wheel{Name: "torch", Version: "2.14.1+cu126", Tag: torch.Tag}, testindex.Wheel{Name: "numpy", Version: "2.3.0"})

	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+def.URL, "--mirror", pytorchCU126+"="+theirs.URL,
		"--target", "v100=gpu=7.0 driver=580 python=3.12"), fail.OK)
	b, err := os.ReadFile("pylock.v100.toml")
	if err != nil {
		t.Fatal(err)
	}
	k, err := lock.DecodePylock(b)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range k.Packages {
		got[p.Name] = p.Version + " " + p.Wheels[0].Hashes.SHA256
	}
	want := map[string]string{"torch": "2.14.1+cu126 " + torch.SHA256(), "numpy": "2.3.0 " + testindex.Wheel{Name: "numpy", Version: "2.3.0"}.SHA256()}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %s, want %s", name, got[name], w)
		}
	}

	pip := exec.Command(testindex.Python(t), "-I", "-m", "pip", "download", "--isolated", "--disable-pip-version-check", "--no-deps", "--python-version", "3.12",
		"--platform", "manylinux_2_28_x86_64", "--only-binary", ":all:", "--index-url", def.URL, "--extra-index-url", theirs.URL, "--dest", t.TempDir(), "numpy")
	pip.Env = append(os.Environ(), "PIP_CONFIG_FILE=/dev/null")
	out, err := pip.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "numpy-99.0") {
		t.Errorf("plain pip with an extra index was expected to take numpy 99.0 (%v):\n%s", err, out)
	}
}

// A lock names where packages are from, not the mirror that passed them on here:
// a team's other members may have another one. Who has one names it again.
func TestLockThroughAMirror(t *testing.T) {
	torch := testindex.Torch("2.14.1+cu126", "12.6", "sm_70")
	torch.Tag = "cp312-cp312-manylinux_2_28_x86_64"
	x := testindex.Serve(t, torch)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", pytorchCU126+"="+x.URL, "--target", "v100=gpu=7.0 driver=580 python=3.12"), fail.OK)
	l, err := (&team.Team{Dir: "."}).Read()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]lock.Index{{Package: "torch", URL: pytorchCU126}}, l.Profiles[0].Indexes); diff != "" {
		t.Errorf("indexes of the profile (-want +got):\n%s", diff)
	}
	machine := []string{"plan", "--gpu", "7.0", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.39"}
	wantExit(t, lockIn(t, dir, append(machine, "--mirror", pytorchCU126+"="+x.URL)...), fail.OK)
	wantExit(t, lockIn(t, dir, machine...), fail.Integrity) // its file lies on a host that nobody named
}

// An index that gives no hash, or one in capitals: the lock has the hash of the
// bytes all the same.
func TestLockHashesTheBytes(t *testing.T) {
	for _, fault := range []testindex.Fault{testindex.NoHash, testindex.UpperHash} {
		x := teamIndex(t)
		x.Break("/simple/numpy/", fault)
		dir := t.TempDir()
		wantExit(t, lockIn(t, dir, "lock", "numpy", "torch", "--mirror", "default="+x.URL, "--target", "rtx=gpu=12.0 driver=580 python=3.12"), fail.OK)
		b, err := os.ReadFile("pylock.rtx.toml")
		if err != nil {
			t.Fatal(err)
		}
		if want := (testindex.Wheel{Name: "numpy", Version: "2.3.0"}).SHA256(); !strings.Contains(string(b), want) {
			t.Errorf("%s: numpy's own hash %s is not in the pylock", fault, want)
		}
	}
}

// An index that is known to give a wrong hash for a file is not believed: the
// lock has the hash of the bytes.
func TestLockDistrustsKnownWrongHashes(t *testing.T) {
	torch := testindex.Torch("2.9.1+cu126", "12.6", "sm_70")
	torch.Tag = "cp312-cp312-manylinux_2_28_x86_64"
	vision := testindex.Wheel{Name: "torchvision", Version: "0.24.1+cu126", Tag: torch.Tag}
	x := testindex.Serve(t, torch, vision)
	x.Break("/simple/torchvision/", testindex.WrongHash)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch==2.9.1", "torchvision", "--mirror", "default="+x.URL, "--mirror", pytorchCU126+"="+x.URL,
		"--target", "v100=gpu=7.0 driver=580 python=3.12 build=cu126"), fail.OK)
	b, err := os.ReadFile("pylock.v100.toml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), vision.SHA256()) {
		t.Errorf("torchvision's own hash %s is not in the pylock:\n%s", vision.SHA256(), b)
	}
}

// What a person asks for wrongly gets one error, its code, and no file.
func TestLockRefuses(t *testing.T) {
	x := teamIndex(t)
	tests := []struct {
		args []string
		code int
	}{
		{[]string{"lock", "torch"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "v100"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "a.b=gpu=none"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "a=colour=red"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "a=gpu='RTX 5090"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "a=gpu=12.0 driver=999"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "a=gpu=12.0 gpu=7.0"}, fail.Usage},
		{[]string{"lock", "torch", "--target", "a=gpu=12.0 driver=580", "--target", "b=gpu=12.0 driver=595"}, fail.Usage},
		{[]string{"lock", "torch==2.15.0", "--target", "a=gpu=7.0 driver=580"}, fail.NoSolution},
		{[]string{"lock", "no-such-package", "--target", "a=gpu=12.0 driver=580 python=3.12"}, fail.Failed},
		{[]string{"lock", "--same-torch", "torch>=2.15", "--target", "a=gpu=12.0 driver=580", "--target", "b=gpu=7.0 driver=580"}, fail.NoSolution},
		{[]string{"lock", "show"}, fail.Usage},
		{[]string{"lock", "export"}, fail.Usage},
		{[]string{"lock", "diff", "one"}, fail.Usage},
		{[]string{"lock", "bundle"}, fail.Usage},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		args := tt.args
		if len(args) > 2 && args[1] != "diff" {
			args = append(args, "--mirror", "default="+x.URL)
		}
		if got := lockIn(t, dir, args...); got != tt.code {
			t.Errorf("%q: exit code %d, want %d", tt.args, got, tt.code)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("%q leaves %q", tt.args, left)
		}
	}
}

// emptyCache gives the installers a cache of their own: uv takes a file of the
// right hash from wherever it once came, also from an earlier test's index that
// had this one's port.
func emptyCache(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

// Applying a lock installs exactly its files, from the index and from a bundle
// without any network, and refuses a file that is not the pinned one.
func TestLockApply(t *testing.T) {
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := testindex.Torch("2.10.0", "12.8", archFlags(t, "2.10.0", "cu128")...)
	torch.Tag, torch.Requires = tag+"-"+tag+"-manylinux_2_28_x86_64", []string{"numpy"}
	numpy := testindex.Wheel{Name: "numpy", Version: "2.3.0"}
	x := testindex.Serve(t, torch, numpy)
	mirror := "default=" + x.URL

	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	emptyCache(t)
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", mirror, "--target", "v100=gpu=7.0 driver=580 index=default python="+minor), fail.OK)
	machine := []string{"apply", "--yes", "--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}

	other := numpy
	other.Padding = 64
	swapped := testindex.Serve(t, torch, other) // the same name and version, other bytes
	wantExit(t, lockIn(t, dir, append(machine, "--mirror", "default="+swapped.URL)...), fail.Integrity)
	if _, err := os.Lstat(".venv"); err == nil {
		t.Error("a file with a wrong hash left a .venv")
	}
	wantExit(t, lockIn(t, dir, append(machine, "--mirror", mirror)...), fail.OK)
	imports := func() {
		t.Helper()
		if out, err := exec.Command(".venv/bin/python", "-I", "-c", "import torch, numpy; print(torch.__version__)").CombinedOutput(); err != nil || string(out) != "2.10.0\n" {
			t.Errorf("the environment: %v\n%s", err, out)
		}
	}
	imports()

	bundle := filepath.Join(t.TempDir(), "stick")
	wantExit(t, lockIn(t, dir, "lock", "bundle", bundle, "--mirror", mirror), fail.OK)
	if out, err := exec.Command("sh", "-c", "cd '"+bundle+"' && sha256sum -c --quiet SHA256SUMS").CombinedOutput(); err != nil {
		t.Errorf("the bundle's sums: %v\n%s", err, out)
	}
	far := t.TempDir()
	before := len(x.Requests())
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	wantExit(t, lockIn(t, far, append(machine, "--bundle", bundle)...), fail.OK)
	imports()
	if asked := x.Requests()[before:]; len(asked) > 0 {
		t.Errorf("the bundle's apply asked the index: %q", asked)
	}
}

// pythonMinor is the version of the Python that tests install into, such as 3.12.
func pythonMinor(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(testindex.Python(t), "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// archFlags is what the data says of a build's cubins.
func archFlags(t *testing.T, torch, label string) []string {
	t.Helper()
	m := matrix.Embedded()
	r, ok := m.Release(torch)
	if !ok {
		t.Fatalf("no release %s", torch)
	}
	b, ok := r.Build(label, "linux", "x86_64")
	if !ok {
		t.Fatalf("no build %s of %s", label, torch)
	}
	var out []string
	for _, c := range b.Native {
		out = append(out, "sm_"+c.SM.Code()+c.Suffix)
	}
	return out
}
