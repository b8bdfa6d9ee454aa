package place

import (
	"os"
	"path/filepath"
	"testing"
)

// What is printed works in the shell that is used, and for a directory of any name.
func TestActivation(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{".venv/bin/activate", ".venv/bin/activate.fish", ".venv/bin/activate.csh", "my env/bin/activate", "conda/conda-meta/history"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range [][3]string{
		{".venv", "bash", ". .venv/bin/activate"},
		{".venv", ".", ". .venv/bin/activate"},
		{".venv", "fish", "source .venv/bin/activate.fish"},
		{".venv", "tcsh", "source .venv/bin/activate.csh"},
		{".venv", "nu", ". .venv/bin/activate"}, // which the standard library has no script for
		{"my env", "zsh", ". 'my env'/bin/activate"},
		{"conda", "bash", "conda activate ./conda"},
		{"absent", "bash", ""},
	} {
		if got := Activation(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s in %s: got %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}
