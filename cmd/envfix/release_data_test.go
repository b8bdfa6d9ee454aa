package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/data"
	"envfix/internal/fail"
	release "envfix/internal/update"
)

// TestReleaseData makes signed data as the owner does, serves the folder as any web
// server would, and lets the program find, take and then know it.
func TestReleaseData(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	home, newer, out := filepath.Join(dir, "home"), filepath.Join(dir, "newer"), filepath.Join(dir, "dist", "matrix")
	if err := os.CopyFS(newer, data.FS); err != nil {
		t.Fatal(err)
	}
	head := filepath.Join(newer, "matrix.yaml")
	text, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(head, []byte(strings.Replace(string(text), `version: "`, `version: "2027.1.1" # "`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The toolchain keeps its caches: only the program is given another home.
	env := []string{"ENVFIX_SIGN_PASSWORD=" + filepath.Join(dir, "password")}
	key := filepath.Join(dir, "owner")
	if err := execute(env, "go", "-C", root, "run", "./cmd/envfix-sign", "keygen", key); err != nil {
		t.Fatal(err)
	}
	if err := execute(env, "make", "-C", root, "release-data", "KEY="+key+".key", "DATA="+newer, "OUT="+out); err != nil {
		t.Fatal(err)
	}
	if err := execute(env, "make", "-C", root, "release-data", "OUT="+out+"2"); err == nil || !strings.Contains(err.Error(), "keygen") {
		t.Errorf("without a key: %v", err)
	}
	trust(t, home, key+".pub")
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	defer server.Close()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("ENVFIX_TODAY", "") // the folder is of today
	for _, step := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--from", server.URL, "--check"}, fail.Pending, "newer: matrix 2027.1.1"},
		{[]string{"--from", server.URL, "--check"}, fail.Pending, "looked at: " + server.URL},
		{[]string{"--from", server.URL}, fail.OK, "updated: matrix 2027.1.1"},
		{[]string{"--check"}, fail.OK, "up to date: matrix 2027.1.1"},
	} {
		c := exec.Command(build(t), append([]string{"matrix", "update"}, step.args...)...)
		b, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != step.code || !strings.Contains(string(b), step.says) {
			t.Errorf("%v ended with %d and said\n%s\nwant %d and %q", step.args, c.ProcessState.ExitCode(), b, step.code, step.says)
		}
	}
}

// trust writes the list of keys that a team keeps beside the one compiled in.
func trust(t *testing.T, home, public string) {
	t.Helper()
	b, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	config := filepath.Join(home, ".config", "envfix")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "matrix-keys.txt"), []byte(lines[len(lines)-1]+" owner\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestChannel: what was asked for, then where the last release came from, then what
// the program was built with; and where nothing is set, the words say where it looked.
func TestChannel(t *testing.T) {
	empty := release.Store{Dir: t.TempDir()}
	for _, c := range [][3]string{{"/a", "https://built.example", "/a"}, {"", "https://built.example", "https://built.example"}} {
		if got, err := channel(c[0], empty, c[1]); err != nil || got != c[2] {
			t.Errorf("channel(%q, …, %q) = %q, %v", c[0], c[1], got, err)
		}
	}
	_, err := channel("", empty, "")
	if err == nil || !strings.Contains(err.Error(), "no channel of newer data is set") {
		t.Errorf("no channel: %v", err)
	}
}
