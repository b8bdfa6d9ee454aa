package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"envfix/data"
	"envfix/internal/update"
	"envfix/internal/version"
)

// A release that the tool signed is taken, and minisign agrees by hand.
func TestAReleaseFromEndToEnd(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("ENVFIX_SIGN_PASSWORD", filepath.Join(dir, "password"))
	// No password: deriving a key from one takes minisign seconds and a gigabyte.
	if err := os.WriteFile("password", []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS("data", data.FS); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, args := range [][]string{{"keygen", "alice"}, {"keygen", "bob"}, {"release", "30", "alice.key", "data", "rel"}, {"add", "bob.key", "rel/manifest.txt"}} {
		if err := run(args, now); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	var text strings.Builder
	text.WriteString("threshold 2\n")
	for _, name := range []string{"alice", "bob"} {
		pub, err := os.ReadFile(name + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(pub)), "\n")
		text.WriteString(lines[len(lines)-1] + " " + name + "\n")
	}
	keys, err := update.ParseKeys(text.String())
	if err != nil {
		t.Fatal(err)
	}
	src, err := update.Dir("rel")
	if err != nil {
		t.Fatal(err)
	}
	k := update.Known{Keys: []update.KeyList{keys}, Highest: version.MustDotted("2020.1.1"), Today: "2026-11-21"}
	r, err := update.Verify(t.Context(), src, k)
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.Expires != "2026-12-21" || len(r.Signers) != 2 {
		t.Errorf("%+v %v", r.Manifest, r.Signers)
	}
	for _, bad := range [][]string{{}, {"keygen", "alice"}, {"release", "0", "alice.key", "data", "other"}, {"release", "alice.key", "data", "rel"}, {"release", "alice.key", "rel/torch", "other"}, {"release", "password", "data", "third"}} {
		if err := run(bad, now); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	byHand(t)
}

// byHand checks the release as somebody without envfix does.
func byHand(t *testing.T) {
	t.Helper()
	for _, name := range []string{"minisign", "sha256sum"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("not checked by hand: %v", err)
			return
		}
	}
	for _, args := range [][]string{{"minisign", "-Vm", "rel/manifest.txt", "-p", "alice.pub"}, {"minisign", "-Vm", "rel/manifest.txt", "-x", "rel/manifest.txt.2.minisig", "-p", "bob.pub"}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	cmd := exec.Command("sha256sum", "--quiet", "-c", "manifest.txt")
	cmd.Dir = "rel"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sha256sum -c: %v\n%s", err, out)
	}
}
