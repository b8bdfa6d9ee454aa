package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// shells are those that install.sh is to run in; those that are not here are named.
func shells(t *testing.T) [][]string {
	t.Helper()
	var out [][]string
	for _, argv := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Logf("not tried, because it is not here: %s", argv[0])
			continue
		}
		out = append(out, argv)
	}
	return out
}

// A served is a folder of releases on loopback.
type served struct {
	url   string
	files map[string][]byte
	cut   string // a file whose connection ends in its middle
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		if s.cut != "" && strings.HasSuffix(r.URL.Path, s.cut) {
			b = b[:len(b)/2]
		}
		w.Write(b)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	program := gzipped(tarball([]entry{{"envfix", 0o755, []byte("#!/bin/sh\necho \"envfix 1.2.3 (matrix 2026.1.1)\"\n")}, {"LICENSE", 0o644, []byte("text")}}, trialTime))
	s.publish(program)
	return s
}

// publish serves the program for every system, as the newest release and as 0.9.0.
func (s *served) publish(program []byte) {
	for _, at := range []string{"", "0.9.0/"} {
		sums := ""
		for _, target := range targets {
			if target.os != "windows" {
				s.files[at+target.name()+".tar.gz"] = program
				sums += fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(program), target.name())
			}
		}
		s.files[at+"SHA256SUMS"] = []byte(sums)
	}
}

// only is a PATH with nothing but these programs.
func only(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range append(programs, "sh", "uname", "sed", "mktemp", "rm", "cut", "sha256sum", "tar", "gzip", "mkdir", "cp", "chmod", "mv") {
		at, err := exec.LookPath(p)
		if err != nil {
			t.Skipf("needs %s", p)
		}
		if err := os.Symlink(at, filepath.Join(dir, p)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestInstall runs install.sh in each shell against a server on loopback.
func TestInstall(t *testing.T) {
	r := trial(t)
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(s *served) {
		for name, b := range s.files {
			if strings.HasSuffix(name, ".tar.gz") {
				b = bytes.Clone(b)
				b[len(b)-1] ^= 1
				s.files[name] = b
			}
		}
	}
	signed := func(s *served) { s.files["SHA256SUMS.minisig"] = minisign.Sign(private, s.files["SHA256SUMS"]) }
	for _, test := range []struct {
		name    string
		prepare func(*served)
		args    []string
		env     []string // beside HOME and PATH; "HOME=-": none
		path    []string // the only programs
		key     bool
		code    int
		says    string
	}{
		{name: "as it should be", says: "installed envfix 1.2.3"},
		{name: "an older one", args: []string{"--version", "0.9.0"}, says: "installed envfix 1.2.3"},
		{name: "a version that is not there", args: []string{"--version", "7"}, code: 1, says: "could not be fetched"},
		{name: "one changed byte", prepare: changed, code: 1, says: "is not what was published"},
		{name: "a download that breaks off", prepare: func(s *served) { s.cut = ".tar.gz" }, code: 1, says: "could not be fetched"},
		{name: "sums that break off", prepare: func(s *served) { s.cut = "SHA256SUMS" }, code: 1, says: "could not be fetched"},
		{name: "sums without this system", prepare: func(s *served) { s.files["SHA256SUMS"] = []byte("\n") }, code: 1, says: "does not name"},
		{name: "not what was pinned", args: []string{"--sha256", strings.Repeat("0", 64)}, code: 1, says: "is not what was published"},
		{name: "wget and no curl", path: []string{"wget"}, says: "installed envfix 1.2.3"},
		{name: "neither", path: []string{}, code: 1, says: "neither curl nor wget"},
		{name: "no HOME", env: []string{"HOME=-"}, code: 1, says: "HOME is not set"},
		{name: "no HOME, and a folder", env: []string{"HOME=-"}, args: []string{"--to", "TO"}, says: "installed envfix 1.2.3"},
		{name: "a folder with a space", args: []string{"--to", "TO/a b"}, says: "installed envfix 1.2.3"},
		{name: "no address", env: []string{"ENVFIX_URL="}, code: 1, says: "no address of a release is set"},
		{name: "an argument that is none", args: []string{"--frm", "x"}, code: 1, says: "--frm is no argument"},
		{name: "signed", key: true, prepare: signed, says: "signature: right"},
		{name: "not signed", key: true, code: 1, says: "could not be fetched"},
		{name: "signed, and changed after", key: true, prepare: func(s *served) { signed(s); s.files["SHA256SUMS"] = append(s.files["SHA256SUMS"], '\n') }, code: 1, says: "signature of SHA256SUMS is not right"},
	} {
		r.Key = ""
		if test.key {
			if _, err := exec.LookPath("minisign"); err != nil {
				t.Logf("not tried, because minisign is not here: %s", test.name)
				continue
			}
			r.Key = public.String()
		}
		installer(r)
		for _, shell := range shells(t) {
			if test.name == "neither" && shell[0] == "busybox" {
				continue // it has a wget of its own
			}
			t.Run(test.name+" in "+shell[0], func(t *testing.T) {
				s, home, to, scratch := serve(t), t.TempDir(), t.TempDir(), t.TempDir()
				if test.prepare != nil {
					test.prepare(s)
				}
				env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ENVFIX_URL=" + s.url, "TMPDIR=" + scratch}
				if test.path != nil {
					env[1] = "PATH=" + only(t, test.path...)
				}
				env = append(env, test.env...)
				if len(test.env) > 0 && test.env[0] == "HOME=-" {
					env = env[1:4]
				}
				program, err := exec.LookPath(shell[0])
				if err != nil {
					t.Fatal(err)
				}
				args := append(slices.Clone(shell[1:]), filepath.Join(r.Out, "install.sh"))
				for _, a := range test.args {
					args = append(args, strings.ReplaceAll(a, "TO", to))
				}
				cmd := exec.Command(program, args...)
				cmd.Env = env
				out, _ := cmd.CombinedOutput()
				if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != test.code || !strings.Contains(string(out), test.says) {
					t.Errorf("it ended with %v and said %q, want %d and %q", cmd.ProcessState, out, test.code, test.says)
				}
				for _, dir := range []string{home + "/.local/bin", to, to + "/a b"} {
					left, err := os.ReadDir(dir)
					if err == nil && test.code != 0 && len(left) > 0 && dir != to {
						t.Errorf("something was installed all the same: %v", left)
					}
					for _, f := range left {
						if strings.HasPrefix(f.Name(), ".envfix") {
							t.Errorf("a half-written file was left: %s", f.Name())
						}
					}
				}
				if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
					t.Errorf("the scratch folder was left: %v %v", left, err)
				}
			})
		}
	}
}
