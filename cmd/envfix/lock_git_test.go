package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/team"
	"envfix/internal/testindex"
)

// A clone of Git for Windows has CRLF where the others have LF.
func TestLockInAWindowsClone(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--target", "rtx=gpu=RTX 5090 driver=580 python=3.12", "--mirror", "default="+x.URL), fail.OK)
	before := map[string]string{}
	for _, name := range []string{"envfix.lock", "envfix.toml", "pylock.rtx.toml"} {
		before[name] = fileText(t, name)
		writeText(t, name, strings.ReplaceAll(before[name], "\n", "\r\n"))
	}
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	wantExit(t, lockIn(t, dir, "plan", "--gpu", "12.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "add", "numpy", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	// A lock with conflict markers is made anew from what is asked for.
	writeText(t, "envfix.lock", "<<<<<<< HEAD\n"+before["envfix.lock"]+"=======\n>>>>>>> theirs\n")
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.Integrity)
	wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
}

// The first lock of a repository proposes what Git should be told; the proposed
// commands do it, and nothing is proposed again.
func TestLockProposesForGit(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	must(t, "git", "init", "-q", dir)
	args := []string{"lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12", "--mirror", "default=" + x.URL}
	code, said := lockSays(t, dir, args...)
	wantExit(t, code, fail.OK)
	commands := regexp.MustCompile("`(printf [^`]*)`").FindAllStringSubmatch(said, -1)
	if len(commands) != 2 {
		t.Fatalf("%d commands are proposed, want 2:\n%s", len(commands), said)
	}
	for _, c := range commands {
		must(t, "sh", "-c", c[1])
	}
	must(t, "git", "check-ignore", ".venv")
	for _, name := range []string{"envfix.lock", "pylock.rtx.toml"} {
		if out, err := exec.Command("git", "check-attr", "eol", name).Output(); err != nil || string(out) != name+": eol: lf\n" {
			t.Errorf("%s %v", out, err)
		}
	}
	if err := os.Remove("envfix.lock"); err != nil {
		t.Fatal(err)
	}
	if code, said = lockSays(t, dir, args...); code != fail.OK || strings.Contains(said, "Git") {
		t.Errorf("exit %d, proposed again:\n%s", code, said)
	}
}

// A repository is locked at its commit.
func TestLockGit(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "six", Version: "1.17.0"})
	repo := t.TempDir()
	writeText(t, filepath.Join(repo, "pyproject.toml"), "[project]\nname = 'gitlib'\nversion = '0.3'\ndependencies = ['six']\n[build-system]\nrequires = []\nbuild-backend = 'x'\n")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.email=a@example.org", "-c", "user.name=a"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(bytes.TrimSpace(out))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "one")
	commit := git("rev-parse", "HEAD")
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "requirements.txt"), "torch\ngitlib @ git+file://"+repo+"\n")
	wantExit(t, lockIn(t, dir, "lock", "-r", "requirements.txt", "--target", "rtx=gpu=12.0 driver=580 python=3.12", "--mirror", "default="+x.URL), fail.OK)
	if text := fileText(t, "pylock.rtx.toml"); !strings.Contains(text, commit) {
		t.Errorf("the pylock names no commit %s:\n%s", commit, text)
	}
	if got := lockedPackages(t, "rtx"); got["gitlib"] != "0.3" || got["six"] == "" {
		t.Errorf("packages %v", got)
	}
}

// lock diff takes revisions of Git, and speaks where an old pylock file is missing.
func TestLockDiffRevisions(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	mirror := []string{"--mirror", "default=" + x.URL}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.email=a@example.org", "-c", "user.name=a"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	wantExit(t, lockIn(t, dir, append([]string{"lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12"}, mirror...)...), fail.OK)
	git("add", "-A")
	git("commit", "-qm", "one")
	wantExit(t, lockIn(t, dir, append([]string{"lock", "add", "torchvision"}, mirror...)...), fail.OK)
	lines, err := team.Diff(t.Context(), "HEAD", ".")
	if err != nil || !strings.Contains(strings.Join(lines, "\n"), "rtx: torchvision 0.29.2 is new") {
		t.Errorf("against HEAD: %v %q", err, lines)
	}
	git("rm", "-q", "--cached", "pylock.rtx.toml")
	git("commit", "-qm", "two")
	lines, err = team.Diff(t.Context(), "HEAD", ".")
	if err != nil || !strings.Contains(strings.Join(lines, "\n"), "the packages are not compared") {
		t.Errorf("without the old pylock: %v %q", err, lines)
	}
	for _, args := range [][]string{{"lock", "diff"}, {"lock", "diff", "HEAD~1"}, {"lock", "show"}, {"lock", "show", "--matrix"}, {"lock", "show", "--json"}} {
		wantExit(t, lockIn(t, dir, args...), fail.OK)
	}
	wantExit(t, lockIn(t, dir, "lock", "diff", "nosuch"), fail.Usage)
}

// A package added by hand, one changed and one removed are told apart from the lock,
// and sync makes the environment exactly the lock again.
func TestLockDriftAndSync(t *testing.T) {
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := testindex.Torch("2.10.0", "12.8", archFlags(t, "2.10.0", "cu128")...)
	torch.Tag, torch.Requires = tag+"-"+tag+"-manylinux_2_28_x86_64", []string{"six"}
	x := testindex.Serve(t, torch, testindex.Wheel{Name: "six", Version: "1.17.0"}, testindex.Wheel{Name: "rich", Version: "13.0"})
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	emptyCache(t)
	mirror := []string{"--mirror", "default=" + x.URL}
	machine := append([]string{"--yes", "--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}, mirror...)
	wantExit(t, lockIn(t, dir, append([]string{"lock", "torch", "--target",
		"v100=gpu=7.0 driver=580 index=default python=" + minor}, mirror...)...), fail.OK)
	wantExit(t, lockIn(t, dir, append([]string{"apply"}, machine...)...), fail.OK)
	have := func() string {
		files, err := filepath.Glob(".venv/lib/python*/site-packages/*.dist-info")
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			files[i] = strings.TrimSuffix(filepath.Base(f), ".dist-info")
		}
		return strings.Join(sorted(files), " ")
	}
	const whole = "six-1.17.0 torch-2.10.0"
	if got := have(); got != whole {
		t.Fatalf("installed %s", got)
	}
	out, err := exec.Command(testindex.UV(t), "pip", "install", "--python", ".venv/bin/python", "--default-index", x.URL, "rich").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantExit(t, lockIn(t, dir, append([]string{"apply"}, machine...)...), fail.OK) // rich is not in the lock's way
	if got := have(); got != "rich-13.0 "+whole {
		t.Errorf("apply removed what was added by hand: %s", got)
	}
	wantExit(t, lockIn(t, dir, append([]string{"lock", "sync"}, machine...)...), fail.OK)
	if got := have(); got != whole {
		t.Errorf("after sync the environment holds %s, want %s", got, whole)
	}
}
