package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// dayIndex serves six kinds of machine; torch stands in for itself.
func dayIndex(t *testing.T, minor string) *testindex.Index {
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := func(version, cuda, platform string, arches ...string) testindex.Wheel {
		w := testindex.Torch(version, cuda, arches...)
		w.Tag, w.Requires = tag+"-"+tag+"-"+platform, []string{"six"}
		return w
	}
	var all []testindex.Wheel
	for _, platform := range []string{"manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_14_0_arm64", "win_amd64"} {
		all = append(all, torch("2.15.0", "13.2", platform, archFlags(t, "2.15.0", "cu132")...))
	}
	all = append(all, torch("2.10.0", "12.8", "manylinux_2_28_x86_64", archFlags(t, "2.10.0", "cu128")...),
		testindex.Wheel{Name: "six", Version: "1.17.0"}, testindex.Wheel{Name: "rich", Version: "13.0"}, testindex.Wheel{Name: "idna", Version: "3.0"},
		testindex.Wheel{Name: "uv", Version: "0.13.9", Tag: "py3-none-manylinux_2_17_x86_64",
			Files: map[string]string{"uv-0.13.9.data/scripts/uv": "#!/bin/sh\nexec " + testindex.UV(t) + ` "$@"` + "\n"}})
	return testindex.Serve(t, all...)
}

const dayWishes = `# the team's machines
requirements = ["torch", "corp-lib"]
files = ["requirements.txt"]

[targets]
old = "gpu=7.0 driver=550 os=linux index=default"
new = "gpu=12.0 driver=580 os=linux"
arm = "gpu=12.1 driver=580 arch=aarch64"
mac = "os=macos"
win = "os=windows gpu=none index=default"
wide = "gpu=8.0,9.0 driver=580 os=linux"

[[index]]
name = "corp"
url = "CORP"
packages = ["corp-lib"]
`

// A day is a team's: its lock lies in ann.
type day struct {
	index  *testindex.Index
	minor  string // of Python
	envfix string // the program
	ann    string
	mirror []string

	readers string // an environment with packaging and pip
}

// TestE2ELockDay is a day of a team: six kinds of machine, an editable project, a
// repository, a private index with a password, a merge conflict, a Windows clone, an
// upgrade, a drift, and a bundle in a namespace without network. Its steps are carried
// out by the real clients: git, uv, pip and packaging.
func TestE2ELockDay(t *testing.T) {
	if os.Getenv("ENVFIX_E2E_LOCK") == "" {
		t.Skip("needs ENVFIX_E2E_LOCK=1 (make e2e-lock)")
	}
	d := newDay(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"six kinds of machine", d.locks}, {"the standard's readers", d.reads}, {"other installers", d.installs}, {"two developers", d.merges},
		{"a clone of Git for Windows", d.clones}, {"an upgrade", d.upgrades}, {"a drift", d.drifts}, {"a bundle without network", d.carries},
	} {
		t.Log(part.name)
		part.run(t)
	}
}

// newDay makes the team's project, with one beside it and one in a repository.
func newDay(t *testing.T) *day {
	d := &day{minor: pythonMinor(t), envfix: build(t), ann: filepath.Join(t.TempDir(), "ann")}
	d.index = dayIndex(t, d.minor)
	d.mirror = []string{"--mirror", "default=" + d.index.URL}
	corp := private(t, testindex.Serve(t, testindex.Wheel{Name: "corp-lib", Version: "1.0"}))
	netrc := filepath.Join(t.TempDir(), "netrc")
	writeText(t, netrc, "machine 127.0.0.1 login me password secret-9f3\n")
	t.Setenv("NETRC", netrc)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	gitAuthor(t)
	gitlib := t.TempDir()
	project := func(dir, name string) {
		writeText(t, filepath.Join(dir, "pyproject.toml"), "[project]\nname = '"+name+"'\nversion = '0.3'\ndependencies = ['six']\n"+
			"[build-system]\nrequires = []\nbuild-backend = 'inplace_backend'\nbackend-path = ['.']\n")
		writeText(t, filepath.Join(dir, name+".py"), "answer = 42\n")
		writeText(t, filepath.Join(dir, "inplace_backend.py"), fileText(t, testdata(t, "inplace_backend.py")))
	}
	must(t, "git", "init", "-q", gitlib)
	project(gitlib, "gitlib")
	must(t, "git", "-C", gitlib, "add", "-A")
	must(t, "git", "-C", gitlib, "commit", "-qm", "one")
	must(t, "git", "init", "-q", d.ann)
	project(filepath.Join(d.ann, "libs/mylib"), "mylib")
	writeText(t, filepath.Join(d.ann, "requirements.txt"), "-e ./libs/mylib\ngitlib @ git+file://"+gitlib+"\n")
	writeText(t, filepath.Join(d.ann, "envfix.toml"), "defaults = \"python="+d.minor+"\"\n"+strings.Replace(dayWishes, "CORP", corp, 1))
	return d
}

func (d *day) locks(t *testing.T) {
	start := time.Now()
	wantExit(t, lockIn(t, d.ann, append([]string{"lock"}, d.mirror...)...), fail.OK)
	t.Logf("six targets locked in %.1f s", time.Since(start).Seconds())
	must(t, "git", "add", "-A")
	must(t, "git", "commit", "-qm", "lock")
	if out, err := exec.Command("grep", "-rl", "secret-9f3", d.ann).CombinedOutput(); err == nil || len(out) > 0 {
		t.Errorf("the password stands in %s", out)
	}
}

func (d *day) reads(t *testing.T) {
	d.readers = venv(t, "packaging>=26", "pip>=26.1")
	files, err := filepath.Glob("pylock.*.toml")
	if err != nil || len(files) != 6 {
		t.Fatalf("%q, %v", files, err)
	}
	must(t, d.readers+"/bin/python", append([]string{testdata(t, "read_pylock.py")}, files...)...)
	must(t, "uv", "pip", "sync", "--dry-run", "--python", venvOf(t, d.minor)+"/bin/python", "--preview-features", "pylock", "pylock.old.toml")
}

func (d *day) installs(t *testing.T) {
	const whole = "import torch, gitlib, mylib, corp_lib; assert torch.__version__ == '2.10.0'"
	python := venvOf(t, d.minor) + "/bin/python"
	must(t, "uv", "pip", "sync", "--python", python, "--preview-features", "pylock", "--default-index", d.index.URL, "pylock.old.toml")
	must(t, python, "-I", "-c", whole)
	synced := filepath.Join(t.TempDir(), "synced")
	must(t, "cp", "-r", d.ann, synced)
	must(t, "sh", "-c", d.envfix+" lock export --format uv > "+synced+"/pyproject.toml")
	sync := exec.Command("uv", "sync", "--no-default-groups", "--group", "old", "--default-index", d.index.URL, "--python", d.minor)
	sync.Dir = synced
	if out, err := sync.CombinedOutput(); err != nil {
		t.Fatalf("uv sync: %v\n%s", err, out)
	}
	must(t, synced+"/.venv/bin/python", "-I", "-c", strings.Replace(whole, " mylib,", "", 1)) // a folder is the project's own to name
}

func (d *day) merges(t *testing.T) {
	ben := filepath.Join(t.TempDir(), "ben")
	must(t, "git", "clone", "-q", d.ann, ben)
	wantExit(t, lockIn(t, ben, append([]string{"lock", "add", "rich"}, d.mirror...)...), fail.OK)
	must(t, "git", "commit", "-qam", "rich")
	wantExit(t, lockIn(t, d.ann, append([]string{"lock", "add", "idna"}, d.mirror...)...), fail.OK)
	must(t, "git", "commit", "-qam", "idna")
	if out, err := exec.Command("git", "pull", "-q", "--no-rebase", ben, "HEAD").CombinedOutput(); err == nil {
		t.Fatalf("the merge was expected to conflict:\n%s", out)
	}
	merged := strings.NewReplacer("<<<<<<< HEAD\n", "", "=======\n", "").Replace(fileText(t, "envfix.toml"))
	var lines []string
	for line := range strings.Lines(merged) {
		if !strings.HasPrefix(line, ">>>>>>> ") && !strings.Contains(line, `"corp-lib", "rich"`) {
			lines = append(lines, strings.Replace(line, `"corp-lib", "idna"`, `"corp-lib", "idna", "rich"`, 1))
		}
	}
	writeText(t, "envfix.toml", strings.Join(lines, ""))
	wantExit(t, lockIn(t, d.ann, append([]string{"lock"}, d.mirror...)...), fail.OK)
	wantExit(t, lockIn(t, d.ann, "lock", "--check", "--offline"), fail.OK)
	if got := lockedPackages(t, "mac"); got["idna"] == "" || got["rich"] == "" {
		t.Errorf("after the merge: %v", got)
	}
	must(t, "git", "add", "-A")
	must(t, "git", "commit", "-qm", "merged")
}

func (d *day) clones(t *testing.T) {
	windows := filepath.Join(t.TempDir(), "windows")
	must(t, "git", "clone", "-q", "-c", "core.autocrlf=true", d.ann, windows)
	wantExit(t, lockIn(t, windows, "lock", "--check", "--offline"), fail.OK)
	if !strings.Contains(fileText(t, "envfix.lock"), "\r\n") {
		t.Error("the clone has no CRLF: nothing was tested")
	}
}

func (d *day) upgrades(t *testing.T) {
	d.index.Add(testindex.Wheel{Name: "idna", Version: "3.1"}, testindex.Wheel{Name: "rich", Version: "14.0"})
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	wantExit(t, lockIn(t, d.ann, append([]string{"lock", "--upgrade", "idna"}, d.mirror...)...), fail.OK)
	if got := lockedPackages(t, "new"); got["idna"] != "3.1" || got["rich"] != "13.0" {
		t.Errorf("the upgrade of idna: %v", got)
	}
	wantExit(t, lockIn(t, d.ann, "lock", "diff", "HEAD"), fail.OK)
}

func (d *day) drifts(t *testing.T) {
	machine := append([]string{"--yes", "--gpu", "7.0", "--driver", "550.54.14", "--arch", "x86_64", "--os", "linux"}, d.mirror...)
	wantExit(t, lockIn(t, d.ann, append([]string{"apply"}, machine...)...), fail.OK)
	must(t, ".venv/bin/python", "-I", "-c", "import torch, gitlib, mylib, corp_lib, idna; assert mylib.__file__.startswith('"+d.ann+"'), mylib.__file__")
	must(t, "uv", "pip", "uninstall", "--python", ".venv/bin/python", "idna")
	code, said := lockSays(t, d.ann, "lock", "--check", "--installed", "--profile", "old")
	if code != fail.Pending || !strings.Contains(said, "idna 3.1 is missing") {
		t.Errorf("the drift is not named: exit %d\n%s", code, said)
	}
	wantExit(t, lockIn(t, d.ann, append([]string{"lock", "sync"}, machine...)...), fail.OK)
	must(t, ".venv/bin/python", "-I", "-c", "import idna")
}

func (d *day) carries(t *testing.T) {
	plain, bundle := t.TempDir(), filepath.Join(t.TempDir(), "stick")
	wantExit(t, lockIn(t, plain, append([]string{"lock", "torch", "idna", "--target", "old=gpu=7.0 driver=550 index=default python=" + d.minor}, d.mirror...)...), fail.OK)
	python := venvOf(t, d.minor) + "/bin/python" // pip takes no repository beside hashes: it reads the lock without one
	must(t, d.readers+"/bin/python", "-m", "pip", "--python", python, "install", "--isolated", "--index-url", d.index.URL, "--no-deps", "-r", "pylock.old.toml")
	must(t, python, "-I", "-c", "import torch, idna")
	if out, err := exec.Command("unshare", "-rn", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here, the bundle is not tried: %s", out)
	}
	wantExit(t, lockIn(t, plain, append([]string{"lock", "bundle", bundle}, d.mirror...)...), fail.OK)
	far, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(testindex.Python(t), filepath.Join(bin, "python3")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-rn", d.envfix, "apply", "--yes", "--bundle", bundle, "--gpu", "7.0", "--driver", "550.54.14", "--arch", "x86_64", "--os", "linux")
	cmd.Dir = far
	cmd.Env = []string{"HOME=" + t.TempDir(), "XDG_STATE_HOME=" + t.TempDir(), "PATH=" + bin + ":/usr/sbin:/sbin", "UV_CACHE_DIR=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("apply without network: %v\n%s", err, out)
	}
	must(t, filepath.Join(far, ".venv/bin/python"), "-I", "-c", "import torch, idna")
}
