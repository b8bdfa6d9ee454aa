package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/data"
	"envfix/internal/doctor/know"
	"envfix/internal/machine"
)

// Every limit that a rule asks for is in the data, and every one there is asked for.
func TestLimits(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.limit(?:SM)?\("([^"]+)"`).FindAllStringSubmatch(string(b), -1) {
			used[m[1]] = true
			if know.Embedded().Limits[m[1]] == nil {
				t.Errorf("%s: limits.yaml has no %s", f, m[1])
			}
		}
	}
	for id, l := range know.Embedded().Limits {
		if !used[id] || l.Source == "" {
			t.Errorf("%s is used nowhere, or has no source", id)
		}
	}
}

// A limit that cannot be read is a fault of the file, with its line.
func TestBadLimits(t *testing.T) {
	for text, want := range map[string]string{
		"limits:\n- id: x\n  torch: '2.0'\n":                                                    `"x" is not a limit`,
		"limits:\n- id: x\n  torch: '2.0'\n  source: a\n- id: x\n  torch: '2.0'\n  source: a\n": `"x" is not a limit`,
		"limits:\n- id: x\n  since: '2.0'\n  source: a\n":                                       "unknown key since",
	} {
		fsys := fstest.MapFS{"limits.yaml": {Data: []byte("format: 1\n" + text)}}
		for _, name := range []string{"causes.yaml", "checks.yaml", "messages.yaml", "clues.yaml", "xids.yaml"} {
			b, err := data.FS.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys[name] = &fstest.MapFile{Data: b}
		}
		if _, err := know.Load(fsys); err == nil || !strings.HasPrefix(err.Error(), "limits.yaml: line ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The first CUDA that can hold code for a GPU is that of the oldest capability
// whose cubins run on it.
func TestToolkitBefore(t *testing.T) {
	m, _, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for sm, first := range map[machine.SM][2]string{{Major: 7}: {"8.0", "9.0"}, {Major: 7, Minor: 5}: {"8.0", "9.0"}, {Major: 8, Minor: 6}: {"10.2", "11.0"}, {Major: 8, Minor: 9}: {"10.2", "11.0"},
		{Major: 9}: {"11.7", "11.8"}, {Major: 10, Minor: 3}: {"12.6", "12.8"}, {Major: 12, Minor: 1}: {"12.6", "12.8"}} {
		if !toolkitBefore(m, first[0], sm) || toolkitBefore(m, first[1], sm) {
			t.Errorf("%s: CUDA %s is before it: %v, CUDA %s: %v", sm, first[0], toolkitBefore(m, first[0], sm),
				first[1], toolkitBefore(m, first[1], sm))
		}
	}
}
