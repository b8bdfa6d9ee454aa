package know

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The graph of causes names causes alone, and a cause that nothing has is no cause.
func TestCauses(t *testing.T) {
	k := Embedded()
	used := map[string]bool{}
	for _, c := range k.Checks {
		used[c.Cause] = true
	}
	for _, m := range k.Messages {
		used[m.Cause] = true
	}
	for _, c := range k.Clues {
		used[c.Cause] = true
	}
	for a, c := range k.Causes {
		if !used[a] {
			t.Errorf("no check, message or clue has the cause %s", a)
		}
		for _, b := range c.Explains {
			if !k.cause(b) || b == a {
				t.Errorf("%s explains %q", a, b)
			}
		}
	}
}

func TestBadRecords(t *testing.T) {
	for _, text := range []string{
		"format: 2\nmessages:\n- id: x\n", "- id: 'open\n", "format: 1\nm:\n- id: x\n  id: y\n", "id\n", "", "format: 1\n", "format: 1\nm:\n  - x\n",
		"format: 1\nm:\n- id: x\n  list: [a b\n", "format: 1\nm:\n- id: x\n  all: {a: b}\n", "format: 1\nm:\n- id: &a x\n  all: *a\n",
		"format: 1\nm:\n- id: x\n  all: [[[a]]]\n", "format: 1\nm:\n- id: x\nn:\n- id: y\n",
	} {
		if _, err := parseRecords(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// A pattern of several alternatives stands on as many lines.
func TestAlternatives(t *testing.T) {
	got, err := parseRecords("format: 1\nm:\n- id: x\n  all:\n  - - 'a'\n    - 'b|c'\n  - 'd'\n  pattern:\n  - 'e'\n  - 'f'\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"id": {"x"}, "all": {"a|b|c", "d"}, "pattern": {"e", "f"}}
	if d := cmp.Diff(want, got[0].keys); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The parts of clues are words, not pieces of them: "hang" is no part of
// "change", "stalled" none of "installed".
func TestCluesMeanWholeWords(t *testing.T) {
	words := strings.Fields("installed installing uninstalled changed exchange unchanged challenge another cannot notice annotation knot this lists interest latest provider folder consider")
	for _, c := range Embedded().Clues {
		for i, p := range c.All {
			re := regexp.MustCompile(expression(p))
			for _, word := range words {
				if m := re.FindString(word); !strings.HasPrefix(word, m) {
					t.Errorf("%s: part %d takes %q out of %q", c.ID, i+1, m, word)
				}
			}
		}
	}
}

// What a check says is read by somebody who knows neither our ids nor our notes: a
// sentence of several words, and a way out that stands by itself.
func TestChecksSpeakToPeople(t *testing.T) {
	k := Embedded()
	id := regexp.MustCompile(`\b[A-Z]{2,4}0\d\d\b`)
	for _, name := range k.Order {
		c := k.Checks[name]
		if n := len(strings.Fields(c.Text)); n < 4 {
			t.Errorf("%s: %q is %d words", name, c.Text, n)
		}
		if len(c.Fix) == 0 {
			t.Errorf("%s: no way out", name)
		}
		for _, text := range append([]string{c.Text}, c.Fix...) {
			if id.MatchString(text) || strings.HasPrefix(text, "as ") || strings.HasPrefix(text, "see ") {
				t.Errorf("%s: %q sends the reader to another check", name, text)
			}
			if strings.Count(text, "`")%2 != 0 {
				t.Errorf("%s: %q opens a backtick and does not close it", name, text)
			}
		}
	}
}

// A rule that nobody would ask is refused.
func TestRuleIsAsked(t *testing.T) {
	known := Embedded()
	for after, accepted := range map[string]bool{"": true, "others": true, "all": true, "true": false} {
		k := &Knowledge{Checks: known.Checks, Causes: known.Causes}
		err := kindOf((*Knowledge).addRule)(k, record{keys: map[string][]string{"id": {"x"}, "check": {known.Order[0]}, "if": {"Pasted"}, "after": {after}}})
		if accepted != (err == nil) {
			t.Errorf("after: %q: %v", after, err)
		}
	}
}

// FuzzRecords: the reader of our data refuses or reads, and does not panic.
func FuzzRecords(f *testing.F) {
	f.Add("format: 1\nchecks:\n- id: X\n  fix:\n  - 'a'\n  list: [a, 'b, c']\n")
	f.Fuzz(func(t *testing.T, s string) { _, _ = parseRecords(s) })
}
