package page

import (
	"bytes"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// The lines to copy start the plan's commands: a shell runs them, with programs in
// place of the installers that write down what they were given.
func TestCommandsRun(t *testing.T) {
	d := desk(t)
	r := rand.New(rand.NewSource(6))
	ran := map[string]int{}
	for range 150 {
		w := draw(r)
		q, err := read(d.matrix, w)
		if err != nil || q.machine.Platform.OS == "windows" {
			continue // no PowerShell is here
		}
		res, err := resolver.Resolve(d.matrix, q.machine, q.request)
		if err != nil {
			continue
		}
		p, do, err := commands(d.matrix, q, res)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, s := range p.Steps {
			if s.Run != nil && !s.Root && s.ID != "check" && s.ID != "python" {
				want = append(want, strings.ReplaceAll(strings.Join(s.Run.Argv, "\x1f"), "{gen}", ".venv"))
			}
		}
		for _, c := range do {
			if !strings.HasPrefix(c.Title, "With ") {
				continue
			}
			ran[p.Target.Manager]++
			got := record(t, c.Lines)
			if len(got) != len(want)+1 || !strings.HasPrefix(got[len(got)-1], ".venv/bin/python\x1f-c\x1fimport torch; print(") {
				t.Fatalf("%q, want %q and a proof", got, want)
			}
			if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
				t.Errorf("%+v (-plan +shell):\n%s", w, diff)
			}
		}
	}
	for _, manager := range []string{"uv", "pip", "conda"} {
		if ran[manager] == 0 {
			t.Errorf("no line of %s was run: %v", manager, ran)
		}
	}
}

// record runs lines in a shell and returns what the programs were given, words parted
// by a unit separator.
func record(t *testing.T, lines []string) []string {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\n{ printf %s \"$0\" | sed 's,.*/bin-here/,,'; [ $# = 0 ] || printf '\\037%s' \"$@\"; printf '\\036'; } >>'" + log + "'\n"
	var names []string
	for _, l := range lines {
		names = append(names, strings.Trim(strings.Fields(l)[0], "'"))
	}
	for _, name := range names {
		path := filepath.Join(dir, "bin-here", name)
		if strings.Contains(name, "/") {
			path = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", "-euc", strings.Join(lines, "\n"))
	c.Dir, c.Env = dir, []string{"PATH=" + filepath.Join(dir, "bin-here") + ":" + os.Getenv("PATH")}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, strings.Join(lines, "\n"), out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(bytes.TrimSpace(b)), "\x1e"), "\x1e")
}
