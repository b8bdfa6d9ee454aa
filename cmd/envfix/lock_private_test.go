package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// private puts an index behind the password "secret-9f3" of the user "me".
func private(t *testing.T, x *testindex.Index) string {
	t.Helper()
	to, err := url.Parse(x.URL)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	proxy := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != "secret-9f3" {
			w.Header().Set("WWW-Authenticate", `Basic realm="corp"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/simple"
}

// A private index's password is found where uv finds it, by uv and by envfix's own
// requests alike, and stands in no file.
func TestLockPrivateIndex(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "corp-lib", Version: "9.9"}) // a stranger's, of the same name
	mine := testindex.Serve(t, testindex.Wheel{Name: "corp-lib", Version: "1.0"})
	mine.Break("/simple/corp-lib/", testindex.NoHash) // envfix reads the file itself
	corp := private(t, mine)
	wishes := "requirements = ['torch', 'corp-lib']\n[targets]\nrtx = 'gpu=12.0 driver=580 python=3.12'\n[[index]]\nname = 'corp'\nurl = '" + corp + "'\npackages = ['corp-lib']\n"
	home, keys := t.TempDir(), t.TempDir()
	writeText(t, filepath.Join(home, "netrc"), "machine 127.0.0.1 login me password secret-9f3\n")
	writeText(t, filepath.Join(keys, "keyring"), "#!/bin/sh\n[ \"$1 $3\" = 'get me' ] && echo secret-9f3\n")
	if err := os.Chmod(filepath.Join(keys, "keyring"), 0o755); err != nil {
		t.Fatal(err)
	}
	ways := map[string]map[string]string{
		"netrc":     {"NETRC": filepath.Join(home, "netrc")},
		"variables": {"UV_INDEX_CORP_USERNAME": "me", "UV_INDEX_CORP_PASSWORD": "secret-9f3"},
		"keyring":   {"UV_KEYRING_PROVIDER": "subprocess", "UV_INDEX_CORP_USERNAME": "me", "PATH": keys + string(os.PathListSeparator) + os.Getenv("PATH")},
	}
	for name, env := range ways {
		t.Run(name, func(t *testing.T) {
			for k, v := range env {
				t.Setenv(k, v)
			}
			t.Setenv("UV_CACHE_DIR", t.TempDir())
			dir := t.TempDir()
			writeText(t, filepath.Join(dir, "envfix.toml"), wishes)
			wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.OK)
			if got := lockedPackages(t, "rtx")["corp-lib"]; got != "1.0" {
				t.Errorf("corp-lib is %s, which is not the private index's", got)
			}
			out, err := exec.Command("grep", "-rl", "secret-9f3", dir).CombinedOutput()
			if err == nil || len(out) > 0 {
				t.Errorf("the password stands in %s", out)
			}
			wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
		})
	}
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "envfix.toml"), wishes)
	wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.Failed) // nobody knows the password
	writeText(t, filepath.Join(dir, "envfix.toml"), strings.Replace(wishes, "http://", "http://me:secret-9f3@", 1))
	wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.Usage)
}

// On a machine without uv lock brings it, as apply does.
func TestLockBringsUV(t *testing.T) {
	real := "#!/bin/sh\nPATH=" + os.Getenv("PATH") + " exec " + testindex.UV(t) + ` "$@"` + "\n"
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "uv", Version: "0.13.9", Files: map[string]string{"uv-0.13.9.data/scripts/uv": real}})
	bin := t.TempDir()
	if err := os.Symlink(testindex.Python(t), filepath.Join(bin, "python3")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(dir)
	t.Setenv("PATH", bin)
	args := []string{"envfix", "lock", "torch", "--target", "rtx=gpu=12.0 driver=580 python=3.12", "--mirror", "default=" + x.URL}
	wantExit(t, run(context.Background(), append(args, "--offline")), fail.Failed)
	wantExit(t, run(context.Background(), args), fail.OK)
	before := len(x.Requests())
	wantExit(t, run(context.Background(), args), fail.OK) // it is there now
	for _, r := range x.Requests()[before:] {
		if strings.Contains(r, "/uv") {
			t.Errorf("uv was brought again: %s", r)
		}
	}
}
