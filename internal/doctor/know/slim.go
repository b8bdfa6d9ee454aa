package know

import (
	"slices"
	"strings"

	"envfix/internal/compiled"
	"envfix/internal/xslices"
)

// Slim is the compiled form without what only those who maintain the data read:
// examples, counterexamples, guards, sources and ids of rules, and without the index, which a scan
// makes then (30 ms). Findings are the same; what `explain` says of a source is not
// in it, and no rule on an environment's files or a live machine, of which a page has
// none. The examples stay of which kept holds: what a message looks like may decide.
func (k *Knowledge) Slim(kept func(example string) bool) []byte {
	f := &Knowledge{Checks: map[string]*Check{}, Order: k.Order, Causes: k.Causes, Xids: k.Xids, Limits: k.Limits, Clues: k.Clues, Classes: k.Classes,
		Readers: k.Readers}
	for _, r := range xslices.Filter(k.Rules, (*Rule).ofTexts) {
		unnamed := *r
		unnamed.ID = ""
		f.Rules = append(f.Rules, &unnamed)
	}
	for id, check := range k.Checks {
		c := *check
		c.Guard, c.Source = "", ""
		if !c.OfTorch() {
			c.Group = "" // a page is asked for no check by its id
		}
		f.Checks[id] = &c
	}
	for _, m := range k.Messages {
		slim := &Message{ID: m.ID, Program: m.Program, Checks: m.Checks, Cause: m.Cause, Text: m.Text, Fix: m.Fix, Places: m.Places,
			Over: m.Over, Symptom: m.Symptom, Pattern: m.Pattern}
		if kept(m.Example) {
			slim.Example = m.Example
		}
		f.Messages = append(f.Messages, slim)
	}
	return compiled.Encode(f, [32]byte{}) // of no files alone
}

// ofTexts reports whether a rule may hold of a pasted text, where no environment's files
// were read.
func (r *Rule) ofTexts() bool {
	live := func(t *Term) bool {
		return t.Not && t.Fact == "Pasted" || !t.Not && !t.Maybe && (t.Fact == "Files" || strings.HasPrefix(t.Fact, "Files."))
	}
	return !strings.HasPrefix(r.Each, "Files.") && !slices.ContainsFunc(r.If, func(alternatives []*Term) bool {
		return len(alternatives) > 0 && !slices.ContainsFunc(alternatives, func(t *Term) bool { return !live(t) })
	})
}
