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

// nastyString is made of what shells read as something else, of any characters, or
// of any bytes but NUL.
func nastyString(r *rand.Rand) string {
	var b strings.Builder
	kind := r.Intn(8) // of eight strings six can be written for every shell
	for range r.Intn(12) {
		switch {
		case kind == 0 && r.Intn(2) == 0:
			b.WriteRune(rune(1 + r.Intn(0x10FFFF)))
		case kind == 1 && r.Intn(4) == 0:
			b.WriteByte(byte(1 + r.Intn(255)))
		default:
			b.WriteString(nasty[r.Intn(len(nasty))])
		}
	}
	return b.String()
}

// TestQuoting sends strings through the real shells and wants back the same
// bytes: 10⁴ for each, 10⁶ with ENVFIX_LONG. What is refused aloud is not counted.
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
		form := Assignments("fish", []Assignment{{Name: "ENVFIX_X", Value: s}})
		line, err := form.String(), form.Err()
		return line + "printf '%s\\0' $ENVFIX_X", err
	}
	list := func(s string) (string, error) { // two words, the second behind a word that ends plainly
		words, err := plan.Run{Argv: []string{"a", s + "{gen}"}, Env: map[string]string{"ENVFIX_Y": s}}.Words()
		return "gen=\nfor w in " + strings.Join(words[min(2, len(words)):], " ") + "; do printf '%s\\0' \"$w\"; done", err
	}
	assigned := func(s string) (string, error) {
		form := Assignments("sh", []Assignment{{Name: "ENVFIX_X", Value: s}})
		line, err := form.String(), form.Err()
		return line + `printf '%s\0' "$ENVFIX_X"`, err
	}
	for name, way := range map[string]struct {
		argv  []string
		quote func(string) (string, error)
	}{
		"sh": {[]string{"sh"}, posix}, "sh, before a variable": {[]string{"sh"}, list}, "bash": {[]string{"bash", "--norc"}, posix}, "zsh": {[]string{"zsh", "-f"}, posix},
		"sh, assigned": {[]string{"sh"}, assigned}, "zsh, assigned": {[]string{"zsh", "-f"}, assigned}, "fish": {[]string{"fish", "--no-config"}, fish},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(way.argv[0])
			if err != nil {
				t.Skipf("%s is not here: its quoting is not tried (apt-get install %s)", way.argv[0], way.argv[0])
			}
			r := rand.New(rand.NewSource(1))
			came, refused := 0, 0
			for came < n && !t.Failed() {
				c, f := tryBatch(t, append([]string{path}, way.argv[1:]...), way.quote, r)
				came, refused = came+c, refused+f
			}
			t.Logf("%d strings came back as they were, %d were refused", came, refused)
		})
	}
}

// tryBatch sends a thousand strings and more through one shell. It returns how many
// came back and how many could not be quoted.
func tryBatch(t *testing.T, argv []string, quote func(string) (string, error), r *rand.Rand) (came, refused int) {
	t.Helper()
	const batch = 2000
	var script strings.Builder
	var want []string
	for range batch {
		s := nastyString(r)
		line, err := quote(s)
		if err != nil {
			continue // refused aloud is no wrong quoting
		}
		want = append(want, s)
		script.WriteString(line + "\n")
	}
	if len(want) < batch/2 {
		t.Fatalf("of %d strings only %d could be quoted", batch, len(want))
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
	return len(want), batch - len(want)
}
