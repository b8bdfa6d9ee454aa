package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/testindex"
)

// realFile is a file of the installer's default index, to be served on loopback.
func realFile(t *testing.T, requirement string, flags ...string) testindex.Wheel {
	t.Helper()
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "in.txt"), requirement+"\n")
	cmd := exec.Command(testindex.UV(t), append([]string{"pip", "compile", "--no-deps", "--no-header", "--output-file", "pylock.toml", "in.txt"}, flags...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", requirement, err, out)
	}
	found, err := lock.ParseUV([]byte(fileText(t, filepath.Join(dir, "pylock.toml"))), nil)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d packages, %v", requirement, len(found), err)
	}
	resp, err := http.Get(found[0].Files()[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	w := testindex.Wheel{Name: found[0].Name, Version: found[0].Version, Sdist: found[0].Sdist != nil, Raw: b}
	if got, want := w.SHA256(), found[0].Files()[0].Hashes.SHA256; got != want {
		t.Fatalf("%s has sha256 %s, the index says %s", w.Filename(), got, want)
	}
	return w
}

// TestE2ELockSource locks docopt, of which there is no wheel, with the user's word
// alone, and builds it where it is installed, from the locked bytes.
func TestE2ELockSource(t *testing.T) {
	if os.Getenv("ENVFIX_E2E")+os.Getenv("ENVFIX_E2E_LOCK") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it receives real files")
	}
	minor := pythonMinor(t)
	docopt := realFile(t, "docopt", "--no-binary", "docopt")
	x := dayIndex(t, minor)
	x.Add(docopt, realFile(t, "setuptools<81", "--only-binary", ":all:"), realFile(t, "wheel<0.46", "--only-binary", ":all:"))
	if !docopt.Sdist {
		t.Fatalf("%s is no source distribution", docopt.Filename())
	}
	dir := t.TempDir()
	emptyCache(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	mirror := []string{"--mirror", "default=" + x.URL}
	ask := append([]string{"lock", "torch", "docopt", "--target", "old=gpu=7.0 driver=550 os=linux index=default python=" + minor}, mirror...)
	code, said := lockSays(t, dir, ask...)
	if code != fail.NoSolution || !strings.Contains(said, "--build-from-source docopt") {
		t.Fatalf("nobody allowed its code to run: exit %d\n%s", code, said)
	}
	wantExit(t, lockIn(t, dir, append(ask, "--build-from-source", "docopt")...), fail.OK)
	if text := fileText(t, "pylock.old.toml"); !strings.Contains(text, docopt.Filename()) || !strings.Contains(text, docopt.SHA256()) {
		t.Errorf("the pylock does not pin %s %s:\n%s", docopt.Filename(), docopt.SHA256(), text)
	}
	machine := append([]string{"--gpu", "7.0", "--driver", "550.54.14", "--arch", "x86_64", "--os", "linux"}, mirror...)
	if code, said = lockSays(t, dir, append([]string{"plan", "-v"}, machine...)...); code != fail.OK || !strings.Contains(said, "build docopt from source") {
		t.Errorf("the plan does not say that code is built: exit %d\n%s", code, said)
	}
	for _, manager := range []string{"uv", "pip"} {
		t.Run(manager, func(t *testing.T) {
			sample(t, manager == "uv" || os.Getenv("ENVFIX_E2E_LOCK") != "")
			env := filepath.Join(dir, manager)
			wantExit(t, lockIn(t, dir, append([]string{"apply", "--yes", "--manager", manager, "--env", env}, machine...)...), fail.OK)
			must(t, env+"/bin/python", "-I", "-c", "import docopt; print(docopt.docopt('usage: x [--yes]', ['--yes']))")
			wantExit(t, lockIn(t, dir, "lock", "--check", "--installed", "--profile", "old", "--env", env), fail.OK)
		})
	}
	// Another file of that name is refused: the digest is of the bytes that are built.
	docopt.Raw = append(docopt.Raw, 0)
	y := dayIndex(t, minor)
	y.Add(docopt)
	emptyCache(t)
	machine[len(machine)-1] = "default=" + y.URL
	if code := lockIn(t, dir, append([]string{"apply", "--yes", "--env", filepath.Join(dir, "other")}, machine...)...); code == fail.OK {
		t.Error("a source distribution with other bytes was built")
	}
}
