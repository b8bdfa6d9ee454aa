package doctor

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/data"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// A message may have another way out for Windows, which nobody else reads.
func TestMessageOfPlaces(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range data.Knowledge {
		b, err := data.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "messages.yaml" {
			b = append(b, "- id: made-up\n  program: torch\n  checks: [PY001]\n  text: made up\n  fix: ['`sudo apt install made-up`']\n"+
				"  fix-windows: ['the installer of made-up']\n  pattern: a made-up message\n  example: a made-up message\n  counter: x\n  source: x\n"...)
		}
		fsys[name] = &fstest.MapFile{Data: b}
	}
	k, err := know.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]string{"Windows 11": "the installer of made-up", "Ubuntu 22.04.4 LTS": "`sudo apt install made-up`"} {
		r := read.NewReader(k)
		if err := r.Read("", strings.NewReader("OS: "+system+"\nError: a made-up message\n")); err != nil {
			t.Fatal(err)
		}
		f := Examine(k, r.Case()).Findings
		if len(f) == 0 || len(f[0].Fix) != 1 || f[0].Fix[0] != want {
			t.Errorf("%s: %v", system, f)
		}
	}
}

// Where nothing of what a rule says can be done on Windows, what the check says for it is.
func TestCheckOfPlaces(t *testing.T) {
	k := know.Embedded()
	e := newExam(k, &read.Case{Machine: machine.Machine{Platform: machine.Platform{OS: "windows", Arch: "x86_64"}}})
	for _, id := range k.Order {
		own := k.Checks[id].Places["windows"]
		if len(own) == 0 || strings.Contains(own[0], "{") || strings.Contains(own[0], "`") {
			continue
		}
		if got := e.ways(remedy{check: id, fix: []string{"`sudo apt install made-up`"}}, nil); len(got) == 0 || got[0] != own[0] {
			t.Errorf("%s: %q, want %q", id, got, own[0])
		}
		if got := e.ways(remedy{check: id, fix: []string{"other words"}}, nil); len(got) != 1 || got[0] != "other words" {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// What a way out leaves blank is filled in somewhere, and one that is written for Windows
// or macOS asks nothing of Linux: no fixture walks to every one of them.
func TestWaysAsWritten(t *testing.T) {
	k := know.Embedded()
	known := map[string]bool{"{torch}": true, "{conda}": true, "{pair}": true, "{python}": true}
	for _, b := range blanks {
		known[b.word] = true
	}
	named, seen := regexp.MustCompile(`\{[a-z-]+\}`), 0
	look := func(of string, fix []string, places map[string][]string) {
		every := map[string][]string{"": fix}
		maps.Copy(every, places)
		for place, ways := range every {
			for _, way := range ways {
				seen++
				for _, word := range named.FindAllString(way, -1) {
					if !known[word] {
						t.Errorf("%s: nothing fills %s in %q", of, word, way)
					}
				}
				if bad := forLinux.FindString(way); bad != "" && (place == "windows" || place == "macos" && bad != "sudo " && !strings.HasPrefix(bad, "export")) {
					t.Errorf("%s: %q of fix-%s is Linux's", of, way, place)
				}
			}
		}
	}
	for _, m := range k.Messages {
		look(m.ID, m.Fix, m.Places)
	}
	for id, c := range k.Checks {
		look(id, c.Fix, c.Places)
	}
	for _, c := range k.Clues {
		look(c.ID, c.Fix, c.Places)
	}
	if seen < 1000 {
		t.Errorf("%d ways were read", seen)
	}
}
