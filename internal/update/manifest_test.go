package update

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestManifestsHaveOneReading(t *testing.T) {
	text := string(good(t, newSigner(t, "a"))[ManifestName])
	m, err := ParseManifest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, string(m.Encode())); d != "" {
		t.Error(d)
	}
	line := strings.Split(text, "\n")
	first := line[6]
	for name, bad := range map[string]string{
		"empty":              "",
		"no head":            strings.Join(line[1:], "\n"),
		"another format":     strings.Replace(text, "# format 1", "# format 2", 1),
		"an unquoted date":   strings.Replace(text, "2027-05-01", "2027-5-1", 1),
		"dates in disorder":  strings.Replace(text, "2027-05-01", "2020-05-01", 1),
		"no version":         strings.Replace(text, "2099.1.1", "newest", 1),
		"a path that climbs": strings.Replace(text, "  arches.yaml", "  ../arches.yaml", 1),
		"an absolute path":   strings.Replace(text, "  arches.yaml", "  /etc/arches.yaml", 1),
		"another directory":  strings.Replace(text, "  arches.yaml", "  etc/arches.yaml", 1),
		"a file twice":       strings.Replace(text, first, first+"\n"+first, 1),
		"files in disorder":  strings.Replace(text, first+"\n", "", 1) + first + "\n",
		"no end of line":     strings.TrimSuffix(text, "\n"),
		"carriage returns":   strings.ReplaceAll(text, "\n", "\r\n"),
		"a comment between":  strings.Replace(text, first, "# hello\n"+first, 1),
		"a short hash":       strings.Replace(text, first, first[1:], 1),
		"no files":           strings.Join(line[:6], "\n") + "\n",
		"too many files":     strings.Join(line[:6], "\n") + "\n" + manyLines(maxFiles+1),
		"too long":           text + strings.Repeat("#", MaxManifest),
	} {
		if m, err := ParseManifest([]byte(bad)); !errors.Is(err, ErrForm) {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%064d  a%04d.yaml\n", i, i)
	}
	return b.String()
}

// renumbered is the same key under another number: who has the one has both.
func renumbered(t *testing.T, key string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(b) != 42 { // the algorithm, the number, the key
		t.Fatal(len(b), err)
	}
	b[2]++
	return base64.StdEncoding.EncodeToString(b)
}

func TestParseKeys(t *testing.T) {
	a := newSigner(t, "a").public.String()
	for name, bad := range map[string]string{
		"not a key":         "hello\n",
		"twice":             a + " x\n" + a + " y\n",
		"under two numbers": a + " x\n" + renumbered(t, a) + " y\n",
		"threshold 0":       "threshold 0\n" + a,
		"threshold too big": "threshold 2\n" + a,
		"a number of words": "number one\n" + a,
	} {
		if l, err := ParseKeys(bad); err == nil {
			t.Errorf("%s: %+v", name, l)
		}
	}
	const nobody = "RWSAs8c38nmrxFaDNeid+OfnGkaLATqL52IQ4d5qjgFWRL0soqP5ULHo"
	if l, err := ParseKeys(nobody); err != nil || l.Keys[0].Name != "key C4AB79F237C7B380" {
		t.Errorf("a key without a name is called %q (%v)", l.Keys[0].Name, err)
	}
	if _, err := ParseKeys(Pinned); err != nil {
		t.Errorf("the list that is compiled in: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(manifestHead + "# format 1\n# version 2026.11.2\n# created 2026-11-20\n# expires 2027-05-01\n" + manyLines(2)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseManifest(b); err == nil && !bytes.Equal(m.Encode(), b) {
			t.Errorf("%q reads as %+v", b, m)
		}
	})
}
