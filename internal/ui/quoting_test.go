package ui

import (
	"bytes"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"testing"

	"envfix/internal/plan"
)

// nasty is what strings are made of that go through the shells.
var nasty = []string{"'", "\"", "\\", "`", "$", "$(", ")", "${", "}", ";", "&", "|", "<", ">", "*", "?", "[", "]", "~", "#", "!", "^", "%", "=", "-", "--", " ", "\t", "\n",
	"a", "Z", "0", "é", "日", "\U0001F40D", "\\n", "\\x41", "$HOME", "!!", "{a,b}", "\\'", "''", "(", "@", "+", "//", ".."}

func nastyString(r *rand.Rand) string {
	var b strings.Builder
	for range r.Intn(12) {
		b.WriteString(nasty[r.Intn(len(nasty))])
	}
	return b.String()
}

// TestQuoting sends strings through the real shells and wants back the same
// bytes: 10⁴ for each, 10⁶ with ENVFIX_LONG.
func TestQuoting(t *testing.T) {
	n := 10_000
	if os.Getenv("ENVFIX_LONG") != "" {
		n = 1_000_000
	}
	posix := func(s string) (string, error) {
		words, err := plan.Run{Argv: []string{s}}.Words()
		return "printf '%s\\0' " + strings.Join(words, " "), err
	}
	fish := func(s string) (string, error) {
		line, err := Assignments("fish", []Assignment{{Name: "ENVFIX_X", Value: s}})
		return line + "printf '%s\\0' $ENVFIX_X", err
	}
	assigned := func(s string) (string, error) {
		line, err := Assignments("sh", []Assignment{{Name: "ENVFIX_X", Value: s}})
		return line + `printf '%s\0' "$ENVFIX_X"`, err
	}
	for name, way := range map[string]struct {
		argv  []string
		quote func(string) (string, error)
	}{
		"sh": {[]string{"sh"}, posix}, "bash": {[]string{"bash", "--norc"}, posix}, "zsh": {[]string{"zsh", "-f"}, posix},
		"sh, assigned": {[]string{"sh"}, assigned}, "zsh, assigned": {[]string{"zsh", "-f"}, assigned}, "fish": {[]string{"fish", "--no-config"}, fish},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(way.argv[0])
			if err != nil {
				t.Skipf("%s is not here: its quoting is not tried (apt-get install %s)", way.argv[0], way.argv[0])
			}
			r := rand.New(rand.NewSource(1))
			for done := 0; done < n; done += 1000 {
				tryBatch(t, append([]string{path}, way.argv[1:]...), way.quote, r)
			}
		})
	}
}

// tryBatch sends a thousand strings through one shell.
func tryBatch(t *testing.T, argv []string, quote func(string) (string, error), r *rand.Rand) {
	t.Helper()
	var script strings.Builder
	var want []string
	for range 1000 {
		s := nastyString(r)
		line, err := quote(s)
		if err != nil {
			continue // refused aloud is no wrong quoting
		}
		want = append(want, s)
		script.WriteString(line + "\n")
	}
	if len(want) < 300 {
		t.Fatalf("of 1000 strings only %d could be quoted", len(want))
	}
	file := t.TempDir() + "/script"
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(argv[0], append(argv[1:], file)...)
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "LANG=C.UTF-8"}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(got) != len(want) {
		t.Fatalf("%d strings came back of %d\n%s", len(got), len(want), stderr.Bytes())
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q came back as %q", want[i], got[i])
		}
	}
}
