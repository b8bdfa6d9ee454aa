package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tree writes files below a new root, which may all be executed; a text that begins with
// "-> " is a link.
func Tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		Write(t, filepath.Join(root, name), text)
	}
	return root
}

// Write writes one file, as Tree does, and the directories that it needs.
func Write(t testing.TB, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if to, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
		err = os.Symlink(to, name)
	} else if err == nil {
		err = os.WriteFile(name, []byte(text), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
