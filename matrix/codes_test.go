package matrix

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"envfix/data"
)

// What a row of devices.tsv says in one letter, its product line and how it is known, is
// among the letters that the file's head explains: a fact without a source is none.
func TestDeviceCodes(t *testing.T) {
	text, err := fs.ReadFile(data.FS, "devices.tsv")
	if err != nil {
		t.Fatal(err)
	}
	head := ""
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		head += strings.TrimSpace(strings.TrimLeft(line, "#")) + " "
	}
	letters := func(after, end string) (out string) {
		_, rest, _ := strings.Cut(head, after)
		rest, _, _ = strings.Cut(rest, end)
		for _, m := range regexp.MustCompile(`(?:^|, )([a-z]) `).FindAllStringSubmatch(rest, -1) {
			out += m[1]
		}
		return out
	}
	lines, known := letters("product line: ", " intel:"), letters("known by: ", ";")
	if len(lines) < 6 || len(known) < 7 {
		t.Fatalf("the head explains product lines %q and sources %q", lines, known)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, "\t")
		if len(f) != 7 && f[0] != "name" {
			continue
		}
		at := len(f) - 3 // the name is last, before it how it is known and the product line
		rows++
		if f[at+1] == "" || strings.Trim(f[at], lines)+strings.Trim(f[at+1], known) != "" {
			t.Errorf("%q: product line %q of %q, known by %q of %q", strings.TrimSpace(line), f[at], lines, f[at+1], known)
		}
	}
	if rows < 1000 {
		t.Errorf("%d rows", rows)
	}
}
