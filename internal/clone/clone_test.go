package clone

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/testindex"
)

func TestParse(t *testing.T) {
	for words, want := range map[string]string{
		"github:openai/CLIP":                         "https://github.com/openai/CLIP HEAD CLIP",
		"github:openai/CLIP@v1.0":                    "https://github.com/openai/CLIP v1.0 CLIP",
		"https://github.com/openai/CLIP.git":         "https://github.com/openai/CLIP.git HEAD CLIP",
		"git+https://git.example/a/b/c@0a1b2c":       "https://git.example/a/b/c 0a1b2c c",
		"http://127.0.0.1:9/x.git":                   "http://127.0.0.1:9/x.git HEAD x",
		"http://git.example/x.git":                   "error",
		"https://me:secret@git.example/x.git":        "error",
		"github:openai":                              "error",
		"https://git.example/x.git@--upload-pack=sh": "error",
		"https://git.example/..":                     "error",
		"torch":                                      "no",
		"foo @ https://host/foo.whl":                 "no",
		"ssh://git.example/x":                        "no",
	} {
		a, ok, err := Parse(words)
		got := a.URL + " " + a.Commit + " " + a.Name
		if err != nil {
			if got = "error"; strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: shows a login: %v", words, err)
			}
		} else if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}

// A repository over loopback: its files come and nothing runs, not even a filter that
// this person's git would run; a link that leads out of it, if only through another one that
// does not, leaves nothing here.
func TestThreat21Repository(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	ran := filepath.Join(home, "ran")
	sh := func(dir, script string) {
		t.Helper()
		c := exec.Command("sh", "-ec", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[filter \"evil\"]\n\tsmudge = touch "+ran+"\n[core]\n\thooksPath = "+home+"/hooks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sh(home, "mkdir hooks; printf '#!/bin/sh\ntouch "+ran+"\n' > hooks/post-checkout; chmod +x hooks/post-checkout")
	root := t.TempDir()
	sh(root, "git init -q good; cd good; echo torch > requirements.txt; echo '* filter=evil' > .gitattributes; ln -s requirements.txt link; git add .; git commit -qm one; cd ..; git clone -q --bare good good.git")
	sh(root, "git init -q bad; cd bad; mkdir -p a/b; ln -s ../.. a/b/top; ln -s a/b/top/../../etc/passwd link; git add .; git commit -qm one; cd ..; git clone -q --bare bad bad.git")
	server := testindex.Git(t, root)
	into := filepath.Join(t.TempDir(), "sub", "good")
	for range 2 { // the second time it is replaced
		a, _, err := Parse(server + "/good.git")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.To(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(into, "link")); err != nil || string(b) != "torch\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter or a hook was run")
	}
	a := Address{URL: server + "/bad.git", Commit: "HEAD", Name: "bad"}
	bad := filepath.Join(filepath.Dir(into), "bad")
	if err := a.To(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "its link link leads out of it") {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(into), "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := (Address{URL: server + "/none.git", Commit: "HEAD", Name: "none"}).To(t.Context(), bad); err == nil {
		t.Error("a repository that is not there was brought")
	}
}
