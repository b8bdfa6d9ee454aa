package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/data"
	"envfix/internal/doctor/know"
)

// Every limit that a rule asks for is in the data, and every one there is asked for.
func TestLimits(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, here...)
	used := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.Limit(?:SM)?\("([^"]+)"`).FindAllStringSubmatch(string(b), -1) {
			used[m[1]] = true
			if know.Embedded().Limits[m[1]] == nil {
				t.Errorf("%s: limits.yaml has no %s", f, m[1])
			}
		}
	}
	for _, r := range know.Embedded().Rules {
		if id, asked := strings.CutPrefix(r.Each, "limit "); asked {
			used[id] = true
		}
		for _, alternatives := range r.If {
			for _, term := range alternatives {
				if m := regexp.MustCompile(`\{floor ([\w-]+)\}`).FindStringSubmatch(term.Value); m != nil {
					used[m[1]] = true
				}
			}
		}
	}
	for id, l := range know.Embedded().Limits {
		if !used[id] || l.Source == "" {
			t.Errorf("%s is used nowhere, or has no source", id)
		}
	}
}

// A limit that lists messages names such as are there.
func TestLimitsOfMessages(t *testing.T) {
	k, of := know.Embedded(), 0
	for id, l := range k.Limits {
		if l.Source != "their entries in messages.yaml" {
			continue
		}
		of++
		for _, name := range l.Values {
			if !slices.ContainsFunc(k.Messages, func(m *know.Message) bool { return m.ID == name }) {
				t.Errorf("%s: there is no message %s", id, name)
			}
		}
	}
	if of < 9 {
		t.Errorf("only %d limits list messages", of)
	}
}

// A limit that cannot be read is a fault of the file, with its line.
func TestBadLimits(t *testing.T) {
	for text, want := range map[string]string{
		"limits:\n- id: x\n  torch: '2.0'\n":                                                    `"x" is not a limit`,
		"limits:\n- id: x\n  torch: '2.0'\n  source: a\n- id: x\n  torch: '2.0'\n  source: a\n": `"x" is not a limit`,
		"limits:\n- id: x\n  since: '2.0'\n  source: a\n":                                       "unknown key since",
	} {
		fsys := fstest.MapFS{}
		for _, name := range data.Knowledge {
			b, err := data.FS.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fsys[name] = &fstest.MapFile{Data: b}
		}
		fsys["limits.yaml"] = &fstest.MapFile{Data: []byte("format: 1\n" + text)}
		if _, err := know.Load(fsys); err == nil || !strings.HasPrefix(err.Error(), "limits.yaml: line ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
