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
	"envfix/internal/xslices"
)

// A row is a rule of the data that is asked.
type row struct {
	*know.Rule
	e     *Evidence
	found Found
	item  any // of Each
}

// Rows asks the rules that are rows of the data and look at facts alone, one after the other.
func Rows(e *Evidence, found Found) Found {
	for _, r := range e.Knowledge.Rules {
		var out Findings
		if !r.After {
			row{Rule: r, e: e}.ofEach(&out)
		}
		found = found.With(out, e.Knowledge)
	}
	return found
}

// AfterRows asks those that also look at what others found.
func AfterRows(e *Evidence, found Found, out *Findings) {
	for _, r := range e.Knowledge.Rules {
		if r.After {
			row{Rule: r, e: e, found: found}.ofEach(out)
		}
	}
}

// ofEach asks it, of each item where it is of some.
func (r row) ofEach(out *Findings) {
	items := []any{nil}
	if r.Each != "" {
		items = known(r.facts(r.Each, nil))
	}
	for _, r.item = range items {
		if r.ask(out) && r.First {
			return
		}
	}
}

// ask adds what follows where it holds.
func (r row) ask(out *Findings) bool {
	if slices.ContainsFunc(r.If, func(alternatives []*know.Term) bool { _, ok := r.holds(alternatives); return !ok }) {
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
		f := out.Find(r.Check, proofOf(r.Proof), at...).Of(r.Cause)
		if r.say(f); r.Severity != nil {
			f.As(*r.Severity)
		}
	}
	return true
}

func (r row) say(f *Finding) {
	var ways []string
	for _, way := range r.Fix {
		ways = append(ways, r.filled(way))
	}
	f.Say(r.filled(r.Text)).Do(ways...)
	if r.Places != nil {
		f.In(r.Places)
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
func (r row) holds(alternatives []*know.Term) (at []read.Evidence, ok bool) {
	for _, t := range alternatives {
		facts := r.facts(t.Fact, t.Of)
		if t.Op == "" { // "= false" asks for what is known to be zero
			facts = known(facts)
		}
		value := t.Value
		if t.Op == "=" && strings.Contains(value, "{") {
			value = r.filled(value)
		}
		facts = xslices.Filter(facts, func(v any) bool { return t.Admits(wordsOf(v), value) })
		if t.Not != (len(facts) == 0) && !t.Maybe {
			continue
		}
		for _, v := range facts {
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
func (r row) facts(name string, of []string) []any {
	if text, own := strings.CutPrefix(name, `"`); own {
		return []any{Fact("%s", r.filled(strings.TrimSuffix(text, `"`)))}
	}
	if field, own := strings.CutPrefix(name, "."); own {
		return fields(reflect.ValueOf(r.item), strings.Split(field, "."))
	}
	if read := named[name]; read != nil {
		return []any{read(r, of)}
	}
	way := strings.Split(name, ".")
	for _, part := range []any{&r.e.GPUs, &r.e.Environment, r.e.Case} { // what is embedded first: reflect is slow to look into it
		if field := reflect.ValueOf(part).Elem().FieldByName(way[0]); field.IsValid() {
			return fields(field, way[1:])
		}
	}
	return nil
}

// named are the facts that are no field; zero where it is not so.
var named = map[string]func(r row, of []string) any{
	"message":   func(r row, of []string) any { return said(r.e.Has(of...)) },
	"no-device": func(r row, _ []string) any { return said(r.e.Has(NoDevice...)) },
	"none":      func(r row, of []string) any { return said(r.e.None(slices.Clip(of)...)) },
	"unseen":    func(r row, _ []string) any { return said(r.e.Unseen()) },
	"clue":      func(r row, of []string) any { return r.e.Clue(of[0]) },
	"package": func(r row, of []string) any {
		p, _ := xslices.Find(r.e.Packages, func(p read.Package) bool { return p.Name == of[0] })
		return p
	},
	"unfound": func(r row, _ []string) any {
		if h := r.e.Wanted().Unfound(); h != nil {
			return h.At
		}
		return false
	},
	"found":         func(r row, of []string) any { return len(r.found.Of(of...)) > 0 },
	"quiet":         func(r row, _ []string) any { return r.found.Quiet() },
	"visible":       func(r row, _ []string) any { return len(r.e.GPU().Visible()) > 0 },
	"sees-gpu":      func(r row, _ []string) any { return r.e.Torch.SeesGPU() },
	"sees-none":     func(r row, _ []string) any { return r.e.Torch.SeesNone() },
	"cpu-by-choice": func(r row, _ []string) any { return r.e.CPUByChoice() },
	"torch-says":    func(r row, _ []string) any { return r.e.Torch.Rank == ByTorch },
	"torch-named":   func(r row, _ []string) any { return r.e.Torch.Named() },
	"index-label":   func(r row, _ []string) any { return r.e.Wanted().Label() },
	"gpu-name":      func(r row, _ []string) any { g, _ := r.item.(machine.GPU); return NameOf(g) },
	"host":          func(r row, _ []string) any { host, _ := r.e.Machine.Lent(); return host },
	"host-way":      func(r row, _ []string) any { _, way := r.e.Machine.Lent(); return way },
	"asked-by-compose": func(r row, _ []string) any {
		return slices.ContainsFunc(r.e.Containers.Workloads, func(w *read.Workload) bool { return w.Kind == "compose" && (w.Asks != "" || w.Wants && w.GPUCap) })
	},
	"driver-fits": func(r row, _ []string) any {
		floor, d := r.e.Driver().Floor(r.e.Torch.CUDA), r.e.Machine.Driver
		return d != nil && !d.Version.IsZero() && !floor.IsZero() && !d.Version.Less(floor)
	},
}

// said is where something stood, or that torch's own silence says it.
func said(at read.Evidence, ok bool) any {
	if ok && at.IsZero() {
		return true
	}
	return at
}

// fields are the values at the end of a way through structures, lists and maps.
func fields(v reflect.Value, way []string) (out []any) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
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

// slot is the name of a fact in a text.
var slot = lazy.Regexp(`\{((?:[A-Z]\w*)?\.[\w.]+|torch-named|gpu-name|host|host-way|package [\w-]+)\}`)

// filled puts facts into a text: of a list the first.
func (r row) filled(text string) string {
	return slot().ReplaceAllStringFunc(text, func(s string) string {
		words := strings.Fields(s[1 : len(s)-1])
		for _, v := range r.facts(words[0], words[1:]) {
			return wordsOf(v)
		}
		return ""
	})
}
