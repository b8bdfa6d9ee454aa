package evidence

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A row is a rule of the data that is asked.
type row struct {
	*know.Rule
	e      *Evidence
	found  Found
	item   any      // of Each
	groups []string // what the last expression captured that has groups
}

// Rows asks the rules that are rows of the data and look at facts alone, one after the other.
func Rows(e *Evidence, found Found) Found {
	for _, r := range e.Knowledge.Rules {
		var out Findings
		if r.After == "" {
			(&row{Rule: r, e: e}).ofEach(&out)
		}
		found = found.With(out, e.Knowledge)
	}
	return found
}

// AfterRows asks those that also look at what others found.
func AfterRows(e *Evidence, found Found, out *Findings) { rowsAfter("others", e, found, out) }

// NoteRows asks those of what could not be read of a machine.
func NoteRows(e *Evidence, found Found, out *Findings) { rowsAfter("notes", e, found, out) }

// LastRows asks those that answer where nothing else does.
func LastRows(e *Evidence, found Found, out *Findings) { rowsAfter("all", e, found, out) }

func rowsAfter(what string, e *Evidence, found Found, out *Findings) {
	for _, r := range e.Knowledge.Rules {
		if r.After == what {
			(&row{Rule: r, e: e, found: found}).ofEach(out)
		}
	}
}

// LinkRows asks of what the loader refuses, of each library the first row that holds; other
// answers of one of which none does.
func LinkRows(e *Evidence, found Found, out *Findings, other func(machine.LinkFault)) {
	seen := map[string]bool{}
	for _, l := range e.Files.Links {
		key := l.Dist + " " + l.Library
		if !seen[key] && !slices.ContainsFunc(e.Knowledge.Rules, func(r *know.Rule) bool {
			return r.After == "links" && (&row{Rule: r, e: e, found: found, item: l}).ask(out)
		}) {
			other(l)
		}
		seen[key] = true
	}
}

// ofEach asks it, of each item where it is of some.
func (r *row) ofEach(out *Findings) {
	items := []any{nil}
	if r.Each != "" {
		words := strings.Fields(r.Each)
		items = known(r.facts(words[0], words[1:]))
	}
	for _, r.item = range items {
		if r.ask(out) && r.First {
			return
		}
	}
}

// ask adds what follows where it holds.
func (r *row) ask(out *Findings) bool {
	if !r.all(r.If) {
		return false
	}
	var at []read.Evidence
	for _, alternatives := range r.At {
		said, ok := r.holds(alternatives)
		if !ok {
			return false
		}
		at = append(at, said...)
	}
	if len(r.Deny) > 0 {
		out.denied = append(out.denied, func(f *Finding) bool { return r.Deny[0] == know.Everything || slices.Contains(r.Deny, f.Check) })
	}
	switch {
	case r.Anew:
		for _, f := range r.found.Of(r.Check) {
			r.say(out.Anew(f))
		}
	case r.Check != "":
		r.say(out.Find(r.Check, proofOf(r.Proof), at...).Explaining(r.said(r.Over, len(r.Over))...))
	}
	return true
}

// all reports whether all conditions hold.
func (r *row) all(conditions [][]*know.Term) bool {
	return !slices.ContainsFunc(conditions, func(alternatives []*know.Term) bool { _, ok := r.holds(alternatives); return !ok })
}

// said are the words of some sayings that hold, at most so many.
func (r *row) said(list []know.Saying, most int) (out []string) {
	for _, s := range list {
		if len(out) < most && r.all(s.If) {
			out = append(out, r.filled(s.Text))
		}
	}
	return out
}

func (r *row) say(f *Finding) {
	for _, cause := range r.said(r.Cause, 1) {
		f.Of(cause)
	}
	for _, text := range r.said(r.Text, 1) {
		f.Say(text)
	}
	ways := r.said(r.Fix, len(r.Fix))
	if f.Do(ways...); r.Unset != "" {
		r.e.Repair().Unset(f, r.filled(r.Unset), ways...)
	}
	if r.Places != nil {
		f.In(r.Places)
	}
	if l := r.link(); r.Away {
		r.e.Repair().Away(f, machine.LoadedLibrary{Name: l.Library, Path: l.Path, Via: l.Via, Entry: l.Entry, Origins: l.Origins})
	}
	if r.Rebuild != "" {
		f.Mends(r.e.Repair().Rebuild(r.filled(r.Rebuild)))
	}
	for _, python := range r.said(r.Frame, 1) {
		f.Mends(Mend{Frame: python})
	}
	if r.Sure {
		f.Confidence = High
	}
	for _, s := range r.said(r.Severity, 1) {
		var severity Severity
		severity.Parse(s)
		f.As(severity)
	}
}

// proofOf is a proof by its words: "likely", "strong exact", "weak loose".
func proofOf(words string) Proof {
	kind, how, _ := strings.Cut(words, " ")
	p := Proof(slices.Index([]string{"trifle", "weak", "hint", "strong", "likely", "proven"}, kind))*3 + 1
	switch how {
	case "exact":
		return p.Exact()
	case "loose":
		return p.Loose()
	}
	return p
}

// holds is the evidence of the first of some alternatives that is so.
func (r *row) holds(alternatives []*know.Term) (at []read.Evidence, ok bool) {
	for _, t := range alternatives {
		facts := r.facts(t.Fact, t.Of)
		if t.Op == "" || t.Op == "<" { // "= false" asks for what is known to be zero
			facts = known(facts)
		}
		value := t.Value
		if t.Op != "~" && strings.Contains(value, "{") {
			value = r.filled(value)
		}
		facts = xslices.Filter(facts, func(v any) bool { return t.Admits(wordsOf(v), value) })
		if t.Not != (len(facts) == 0) && !t.Maybe {
			continue
		}
		captured := false
		for _, v := range facts {
			if groups := t.Groups(wordsOf(v)); groups != nil && !captured {
				r.groups, captured = groups, true
			}
			if said, quote := v.(read.Evidence); quote {
				at = append(at, said)
			} else if p, listed := v.(read.Package); listed {
				at = append(at, p.At)
			}
		}
		return at, true
	}
	return nil, false
}

func wordsOf(fact any) string {
	switch v := fact.(type) {
	case read.Evidence:
		return v.Text
	case read.Package:
		return v.Version
	}
	return fmt.Sprint(fact)
}

// known are those facts that are not zero, which are unknown.
func known(facts []any) []any {
	return slices.DeleteFunc(facts, func(v any) bool { return reflect.ValueOf(v).IsZero() })
}

// facts are what is read under a name: a field of the evidence by its way (of a list those of
// each item), or of the item, what is read out of several, or a text.
func (r *row) facts(name string, of []string) []any {
	if quote, own := strings.CutPrefix(name, `"`); own {
		return []any{Fact("%s", r.filled(strings.TrimSuffix(quote, `"`)))}
	}
	if field, own := strings.CutPrefix(name, "."); own {
		return fields(reflect.ValueOf(r.item), strings.Split(field, "."))
	}
	if slices.Contains(shapes, name) {
		return []any{r.shaped(name, of[0], of[1:])}
	}
	if read := named[name]; read != nil {
		return fields(reflect.ValueOf(read(r, text.Each(of, r.filled))), nil)
	}
	if strings.Contains(name, "{") {
		name = r.filled(name)
	}
	way := strings.Split(name, ".")
	for _, part := range []any{&r.e.GPUs, &r.e.Environment, r.e.Case} { // what is embedded first: reflect is slow to look into it
		if field := reflect.ValueOf(part).Elem().FieldByName(way[0]); field.IsValid() {
			return fields(field, way[1:])
		}
	}
	return nil
}

// saidAt is where something stood, or that torch's own silence says it.
func saidAt(at read.Evidence, ok bool) any {
	if ok && at.IsZero() {
		return true
	}
	return at
}

// fields are the values at the end of a way through structures, lists and maps.
func fields(v reflect.Value, way []string) (out []any) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
	case v.Kind() == reflect.Pointer && len(way) == 0 && v.Elem().Kind() == reflect.Struct:
		return []any{v.Interface()} // that it was looked at, whatever was found
	case v.Kind() == reflect.Pointer:
		return fields(v.Elem(), way)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			out = append(out, fields(v.Index(i), way)...)
		}
	case len(way) == 0:
		return []any{v.Interface()}
	case v.Kind() == reflect.Map:
		if item := v.MapIndex(reflect.ValueOf(way[0])); item.IsValid() {
			return fields(item, way[1:])
		}
	default:
		return fields(v.FieldByName(way[0]), way[1:])
	}
	return out
}

// slot is the name of a fact in a text, or the number of what an expression captured.
var slot = lazy.Regexp(`\{((?:[A-Z]\w*)?\.[\w.]+(?:\{\d\})?|\d|item|torch-named|gpu-name|host|host-way|old-gpu|kernel-built|` +
	`python-minor|python-minor-flag|python-program|python-active|gpu-memory|plain-symbol|whose|conda-again|` +
	`(?:again|base|floor|package|first|beyond|MiB|GiB|place|quoted|in-job|nodes|nodes-few|first-node) [^}]+)\}`)

// filled puts facts into a text: of a list the first.
func (r *row) filled(template string) string {
	if !strings.Contains(template, "{") {
		return template
	}
	parts := strings.Split(template, "`")
	for i, part := range parts {
		parts[i] = slot().ReplaceAllStringFunc(part, func(s string) string {
			v := r.slot(s)
			return say.Either(i%2 == 1 && strings.HasPrefix(v, "/"), text.Command(v), v) // of a command, which a person copies
		})
	}
	return strings.Join(parts, "`")
}

// slot is what stands for {fact}; "" there is no such.
func (r *row) slot(s string) string {
	words := strings.Fields(s[1 : len(s)-1])
	if n := Atoi(words[0]); n > 0 && n < len(r.groups) {
		return r.groups[n]
	}
	for _, v := range r.facts(words[0], words[1:]) {
		return wordsOf(v)
	}
	return ""
}
