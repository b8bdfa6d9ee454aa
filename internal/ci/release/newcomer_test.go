package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestReleaseNewcomer: from nothing to the first answer, on a machine without Go and
// Python: install.sh over HTTP, then a plan. A signed release is checked by the key
// that stands in install.sh, with the minisign of the system.
func TestReleaseNewcomer(t *testing.T) {
	served := httptest.NewServer(http.FileServer(http.Dir(dist(t))))
	defer served.Close()
	home := t.TempDir()
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "FROM=" + served.URL}
	archive, began := made(t, "envfix-linux-x86_64.tar.gz"), time.Now()
	ran(t, env, "sh", "-ec", `curl -fsSL "$FROM/install.sh" | sh -s -- --from "$FROM"`)
	plans(t, env, home+"/.local/bin/envfix")
	row(t, archive, "install.sh over HTTP, then the first plan", began)

	text, err := os.ReadFile(made(t, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`(?m)^key='(\S+)'$`).FindSubmatch(text)
	if key == nil {
		t.Log("the release is not signed")
		return
	}
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("needs minisign")
	}
	ran(t, nil, "minisign", "-V", "-P", string(key[1]), "-m", filepath.Join(dist(t), "SHA256SUMS"))
}
