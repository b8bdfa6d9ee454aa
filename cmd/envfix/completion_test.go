package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What Tab offers is asked of the shells themselves: each line has one way on.
func TestCompletion(t *testing.T) {
	lines := map[string]string{
		"envfix hist":                    "history",
		"envfix plan --chann":            "--channel",
		"envfix plan --manager micro":    "micromamba",
		"envfix matrix ma":               "map",
		"envfix plan --channel nig":      "nightly",
		"envfix lock export --format sk": "sky",
		"envfix -v lock exp":             "export",
	}
	dir := t.TempDir()
	envfix := build(t)
	for shell, name := range map[string]string{"bash": "envfix.bash", "zsh": "_envfix", "fish": "envfix.fish"} {
		text, err := exec.Command(envfix, "completion", shell).Output()
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(dir, name), string(text))
	}
	offers := map[string]func(lines []string) *exec.Cmd{
		"bash": func(lines []string) *exec.Cmd {
			return exec.Command("bash", append([]string{"--norc", "-c", `source "$0"; for l; do read -ra COMP_WORDS <<<"$l"; COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _envfix; echo "${COMPREPLY[@]}"; done`,
				filepath.Join(dir, "envfix.bash")}, lines...)...)
		},
		"zsh": func(lines []string) *exec.Cmd {
			return exec.Command("zsh", append([]string{"-f", "testdata/complete.zsh", dir}, lines...)...)
		},
		"fish": func(lines []string) *exec.Cmd {
			return exec.Command("fish", append([]string{"--no-config", "-c", `source $argv[1]; for l in $argv[2..]; echo (complete -C $l | string replace -r "\t.*" ""); end`,
				filepath.Join(dir, "envfix.fish")}, lines...)...)
		},
	}
	var typed, want []string
	for line, word := range lines {
		typed, want = append(typed, line), append(want, word)
	}
	for shell, ask := range offers {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed", shell)
			}
			c := ask(typed)
			c.Env = append(os.Environ(), "PATH="+filepath.Dir(envfix)+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got []string
			for i, line := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
				if shell == "zsh" { // prints the whole line
					before := typed[min(i, len(typed)-1)]
					line = strings.TrimPrefix(line, before[:strings.LastIndex(before, " ")])
				}
				got = append(got, strings.TrimSpace(line))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q\nare completed to %q, want %q\n%s", typed, got, want, out)
			}
		})
	}
}
