package place

import (
	"os"
	"strings"
	"testing"

	"envfix/internal/testenv"
)

// TestPythonOfAnother: no environment is active by a variable, and `python` is one's; beside the default one that is said.
func TestPythonOfAnother(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"p/.venv/pyvenv.cfg": "", "p/.venv/bin/python": "", "c/conda-meta/history": "", "c/bin/python": "", "s/bin/python": ""})
	t.Chdir(root + "/p")
	for _, dir := range []string{"/p/.venv", "/c", "/s"} {
		if err := os.Chmod(root+dir+"/bin/python", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]bool{"/c": true, "/p/.venv": false, "/s": false} {
		t.Setenv("PATH", root+dir+"/bin")
		if line := Here().Line(); strings.Contains(line, "`python` here is that of "+root+dir) != want {
			t.Errorf("%s: %s", dir, line)
		}
	}
}
