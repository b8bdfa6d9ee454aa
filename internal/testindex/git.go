package testindex

import (
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Git serves the bare repositories of a folder on loopback by git's own server, and
// returns the address that they lie below.
func Git(t *testing.T, folder string) string {
	t.Helper()
	programs, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"), Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}})
	t.Cleanup(s.Close)
	return s.URL
}
