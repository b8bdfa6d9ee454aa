package know

import "envfix/internal/compiled"

// Slim is the compiled form without what only those who maintain the data read:
// examples, counterexamples, guards and sources, and without the index, which a scan
// makes then (30 ms). Findings are the same; what `explain` says of a source is not
// in it.
func (k *Knowledge) Slim() []byte {
	f := form{Causes: k.Causes, Xids: k.Xids, Limits: k.Limits, Clues: k.Clues, Classes: k.Classes}
	for _, id := range k.Order {
		c := *k.Checks[id]
		c.Guard, c.Source = "", ""
		f.Checks = append(f.Checks, &c)
	}
	for _, m := range k.Messages {
		f.Messages = append(f.Messages, &Message{ID: m.ID, Program: m.Program, Checks: m.Checks, Cause: m.Cause, Text: m.Text, Fix: m.Fix, Places: m.Places,
			Over: m.Over, Symptom: m.Symptom, Pattern: m.Pattern})
	}
	return compiled.Encode(f, [32]byte{}) // of no files alone
}
