package project

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What a project asks for is written where it stands, whatever else is there stays, and
// undoing gives the same bytes back.
func TestAmend(t *testing.T) {
	for _, tt := range []struct {
		name, file, before string
		asked              []string
		remove             bool
		after              string // "" it is refused
	}{
		{"a table", "pyproject.toml", "[project]\nname = \"x\" # mine\ndependencies = [\"torch\"]\n", []string{"rich"}, false,
			"[project]\nname = \"x\" # mine\ndependencies = [\"torch\", \"rich\"]\n"},
		{"another version", "pyproject.toml", "[project]\ndependencies = [\"Rich>1\", \"torch\"]\n", []string{"rich<9"}, false, "[project]\ndependencies = [\"torch\", \"rich<9\"]\n"},
		{"twice", "pyproject.toml", "[project]\ndependencies = [\"rich<9; python_version < '3.9'\", \"rich>8; python_version > '3.8'\"]\n", []string{"rich"}, true, "[project]\ndependencies = []\n"},
		{"no list yet", "pyproject.toml", "[project]\nname = \"x\"\n", []string{"rich"}, false, "[project]\nname = \"x\"\ndependencies = [\"rich\"]\n"},
		{"out of a table", "pyproject.toml", "[project]\ndependencies = [\"torch\", \"rich\"]\n", []string{"rich"}, true, "[project]\ndependencies = [\"torch\"]\n"},
		{"not in it", "pyproject.toml", "[project]\ndependencies = [\"torch\"]\n", []string{"rich"}, true, ""},
		{"dynamic", "pyproject.toml", "[project]\nname = \"x\"\ndynamic = [\"dependencies\"]\n", []string{"rich"}, false, ""},
		{"another tool's", "pyproject.toml", "[tool.poetry.dependencies]\ntorch = \"*\"\n", []string{"rich"}, false, ""},
		{"a list", "requirements.txt", "# mine\ntorch\n-r more.txt", []string{"rich", "tqdm>4"}, false, "# mine\ntorch\n-r more.txt\nrich\ntqdm>4\n"},
		{"an empty list", "requirements.txt", "", []string{"rich"}, false, "rich\n"},
		{"a line of it", "requirements.txt", "rich==1 # why\ntorch\n", []string{"rich<9"}, false, "torch\nrich<9\n"},
		{"out of a list", "requirements.txt", "torch\nrich==1 # why\n", []string{"rich"}, true, "torch\n"},
		{"a compiled list", "requirements.txt", "torch==2.0 \\\n    --hash=sha256:00\n", []string{"rich"}, false, ""},
		{"a file of conda's", "environment.yml", "dependencies:\n  - pytorch\n", []string{"rich"}, false, ""},
		{"a program", "setup.py", "setup(install_requires=['torch'])\n", []string{"rich"}, false, ""},
		{"no requirement", "requirements.txt", "torch\n", []string{"rich=="}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(file, []byte(tt.before), 0o640); err != nil {
				t.Fatal(err)
			}
			holds := func(want string) {
				if b, err := os.ReadFile(file); err != nil || string(b) != want {
					t.Errorf("%v\n%s\nwant\n%s", err, b, want)
				}
			}
			undo, err := Keep([]string{file, file + ".lock"})
			if err != nil {
				t.Fatal(err)
			}
			err = Amend(file, tt.asked, tt.remove)
			if tt.after == "" {
				if err == nil {
					t.Error("it was not refused")
				}
				holds(tt.before)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			holds(tt.after)
			if err := errors.Join(os.WriteFile(file+".lock", nil, 0o644), undo()); err != nil {
				t.Fatal(err)
			}
			holds(tt.before)
			if _, err := os.Stat(file + ".lock"); err == nil {
				t.Error("what was not there stays")
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v %v", info, err)
			}
		})
	}
}
