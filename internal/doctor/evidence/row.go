package evidence

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// Row asks a rule that is a row of the data.
func Row(e *Evidence, r *know.Rule, out *Findings) {
	var at []read.Evidence
	for _, alternatives := range r.At {
		said, ok := holds(e, alternatives)
		if !ok {
			return
		}
		at = append(at, said...)
	}
	if slices.ContainsFunc(r.If, func(alternatives []*know.Term) bool { _, ok := holds(e, alternatives); return !ok }) {
		return
	}
	if len(r.Deny) > 0 {
		out.denied = append(out.denied, func(f *Finding) bool { return r.Deny[0] == know.Everything || slices.Contains(r.Deny, f.Check) })
	}
	if r.Check == "" {
		return
	}
	f := out.Find(r.Check, proofOf(r.Proof), at...).Of(r.Cause).Say(filled(e, r.Text)).In(r.Places)
	for _, way := range r.Fix {
		f.Fix = append(f.Fix, filled(e, way))
	}
	if r.Severity != nil {
		f.As(*r.Severity)
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
func holds(e *Evidence, alternatives []*know.Term) (at []read.Evidence, ok bool) {
	for _, t := range alternatives {
		facts := xslices.Filter(facts(e, t.Fact, t.Of), func(v any) bool { return t.Admits(wordsOf(v)) })
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

// facts are what is known under a name, none where it is not so: a field of the evidence by
// its way (of a list those of each item), or what is read out of several.
func facts(e *Evidence, name string, of []string) []any {
	if text, own := strings.CutPrefix(name, `"`); own {
		return []any{Fact("%s", filled(e, strings.TrimSuffix(text, `"`)))}
	}
	if read, known := named[name]; known {
		v, ok := read(e, of)
		if !ok {
			return nil
		}
		return []any{v}
	}
	return fields(reflect.ValueOf(e).Elem(), strings.Split(name, "."))
}

// named are the facts that are no field.
var named = map[string]func(e *Evidence, of []string) (any, bool){
	"message":   func(e *Evidence, of []string) (any, bool) { return second(e.Has(of...)) },
	"no-device": func(e *Evidence, _ []string) (any, bool) { return second(e.Has(NoDevice...)) },
	"none":      func(e *Evidence, of []string) (any, bool) { return second(e.None(slices.Clip(of)...)) },
	"clue": func(e *Evidence, of []string) (any, bool) {
		h, ok := xslices.Find(e.Clues, func(h read.ClueHit) bool { return h.Clue.ID == of[0] })
		return strings.Join(of, ""), ok && len(h.At) > 0
	},
	"package": func(e *Evidence, of []string) (any, bool) {
		p, ok := xslices.Find(e.Packages, func(p read.Package) bool { return p.Name == of[0] })
		return p, ok
	},
	"unfound": func(e *Evidence, _ []string) (any, bool) {
		h := e.Wanted().Unfound()
		if h == nil {
			return nil, false
		}
		return h.At, true
	},
	"visible":       func(e *Evidence, _ []string) (any, bool) { return true, len(e.GPU().Visible()) > 0 },
	"sees-gpu":      func(e *Evidence, _ []string) (any, bool) { return true, e.Torch.SeesGPU() },
	"sees-none":     func(e *Evidence, _ []string) (any, bool) { return true, e.Torch.SeesNone() },
	"cpu-by-choice": func(e *Evidence, _ []string) (any, bool) { return true, e.CPUByChoice() },
	"torch-says":    func(e *Evidence, _ []string) (any, bool) { return true, e.Torch.Rank == ByTorch },
	"torch-named":   func(e *Evidence, _ []string) (any, bool) { return e.Torch.Named(), e.Torch.Version != "" },
	"index-label":   func(e *Evidence, _ []string) (any, bool) { return e.Wanted().Label(), e.Wanted().Label() != "" },
}

func second(v read.Evidence, ok bool) (any, bool) { return v, ok }

// fields are the values at the end of a way through structures, lists and maps, but those
// that are zero, which are unknown.
func fields(v reflect.Value, way []string) (out []any) {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
	case v.Kind() == reflect.Pointer:
		return fields(v.Elem(), way)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			out = append(out, fields(v.Index(i), way)...)
		}
	case len(way) == 0 && !v.IsZero():
		return []any{v.Interface()}
	case len(way) == 0:
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
var slot = lazy.Regexp(`\{([A-Z]\w*\.[\w.]+|torch-named|package [\w-]+)\}`)

// filled puts facts into a text: of a list the first.
func filled(e *Evidence, text string) string {
	return slot().ReplaceAllStringFunc(text, func(s string) string {
		words := strings.Fields(s[1 : len(s)-1])
		for _, v := range facts(e, words[0], words[1:]) {
			return wordsOf(v)
		}
		return ""
	})
}
