package evidence

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
)

// leads reports whether there is a field at the end of a way.
func leads(of reflect.Type, way []string) bool {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	switch {
	case len(way) == 0:
		return true
	case of.Kind() == reflect.Map:
		return leads(of.Elem(), way[1:])
	case of.Kind() != reflect.Struct:
		return false
	}
	f, ok := of.FieldByName(way[0])
	return ok && f.IsExported() && leads(f.Type, way[1:])
}

// Every fact that a row of the data asks for is one: a field, or a name with what reads it.
func TestRowsAskForFacts(t *testing.T) {
	known := func(fact string) bool {
		return strings.HasPrefix(fact, `"`) || strings.HasPrefix(fact, ".") || named[fact] != nil || slices.Contains(shapes, fact) || leads(reflect.TypeFor[Evidence](), strings.Split(fact, "."))
	}
	k := know.Embedded()
	for _, r := range k.Rules {
		if r.Each != "" && !known(strings.Fields(r.Each)[0]) {
			t.Errorf("%s: there is no list %s", r.ID, r.Each)
		}
		sayings := slices.Concat(r.Cause, r.Text, r.Fix, r.Severity)
		asked := slices.Concat(r.At, r.If)
		for _, s := range sayings {
			asked = append(asked, s.If...)
		}
		for _, terms := range asked {
			for _, term := range terms {
				field, own := strings.CutPrefix(term.Fact, ".")
				if !known(term.Fact) || own && !leads(reflect.TypeFor[Evidence](), append(strings.Split(r.Each, "."), strings.Split(field, ".")...)) {
					t.Errorf("%s: nothing is known as %s", r.ID, term.Fact)
				}
				if term.Fact == "message" && len(term.Of) == 0 {
					t.Errorf("%s asks for no message", r.ID)
				}
				for _, id := range term.Of {
					message := slices.ContainsFunc(k.Messages, func(m *know.Message) bool { return m.ID == id })
					clue := slices.ContainsFunc(k.Clues, func(c *know.Clue) bool { return c.ID == id })
					if (term.Fact == "message" || term.Fact == "none") && !message || term.Fact == "clue" && !clue {
						t.Errorf("%s: there is no %s %s", r.ID, term.Fact, id)
					}
				}
			}
		}
		if r.Check != "" && !r.Anew && proofOf(r.Proof) < Trifle.Loose() {
			t.Errorf("%s: %q is no proof", r.ID, r.Proof)
		}
		for _, s := range sayings {
			for _, m := range slot().FindAllStringSubmatch(s.Text, -1) {
				if fact, _, _ := strings.Cut(m[1], " "); !known(fact) && !strings.ContainsAny(fact, "123") {
					t.Errorf("%s: nothing is known as %s", r.ID, m[1])
				}
			}
		}
	}
	if known("Torch.Colour") || known("colour") {
		t.Error("a fact that nobody reads is taken for one")
	}
}

// What a row asks for holds as it is written: alternatives, words, expressions, what must not
// be so; what it says is filled with facts.
func TestRow(t *testing.T) {
	said := read.Evidence{Text: "conda install cudatoolkit=11.3", Line: 3}
	e := New(know.Embedded(), &read.Case{Torch: read.Torch{Version: "2.7.1", Label: "cu128"}})
	e.Did.CondaCUDA, e.Machine.Platform.OS = said, "linux"
	e.Machine.Env = map[string]string{"A": "1"}
	asks := row{e: e}
	term := func(fact, op, value string) *know.Term { return &know.Term{Fact: fact, Op: op, Value: value} }
	not := func(t *know.Term) *know.Term { t.Not = true; return t }
	for _, c := range []struct {
		terms []*know.Term
		want  bool
	}{
		{[]*know.Term{term("Did.CondaCUDA", "", "")}, true},
		{[]*know.Term{term("Did.CondaCUDA", "~", "toolkit=1[12]")}, true},
		{[]*know.Term{term("Did.CondaCUDA", "~", "conda-forge")}, false},
		{[]*know.Term{not(term("Did.CondaCUDA", "~", "conda-forge"))}, true},
		{[]*know.Term{term("Machine.Platform.OS", "=", "windows linux")}, true},
		{[]*know.Term{term("Machine.Platform.OS", "=", "windows")}, false},
		{[]*know.Term{term("Machine.Platform.OS", "=", "windows"), term("Machine.Env.A", "", "")}, true},
		{[]*know.Term{term("Machine.Env.B", "", "")}, false},
		{[]*know.Term{term("Machine.Driver.Version", "", "")}, false},
		{[]*know.Term{term("sees-none", "", "")}, false},
	} {
		if _, ok := asks.holds(c.terms); ok != c.want {
			t.Errorf("%s %s %s: %v", c.terms[0].Fact, c.terms[0].Op, c.terms[0].Value, ok)
		}
	}
	if at, ok := asks.holds([]*know.Term{term("Did.CondaCUDA", "", "")}); !ok || len(at) != 1 || at[0] != said {
		t.Errorf("its evidence is %v", at)
	}
	if got := asks.filled("torch {torch-named} on {Machine.Platform.OS}, {torch}"); got != "torch 2.7.1+cu128 on linux, {torch}" {
		t.Errorf("filled: %s", got)
	}
}

// A lesser version is one by its numbers, and what is no number is not less.
func TestLessOfVersions(t *testing.T) {
	for value, want := range map[string]bool{"10.1": true, "9.2": false, "9.10": true, "9.1.9": false, "": false, "new": false} {
		if got := (&know.Term{Op: "<"}).Admits("9.2", value); got != want {
			t.Errorf("9.2 < %q is %v", value, got)
		}
	}
	if (&know.Term{Op: "<"}).Admits("old", "10") {
		t.Error("a word is less than a number")
	}
}
