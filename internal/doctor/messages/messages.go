// Package messages is the room of what text says by itself: every message that a
// program printed and every clue in people's own words is a finding of its first check.
package messages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Find: messages},
	{Find: clues},
}

func messages(e *evidence.Evidence, out *evidence.Findings) {
	for _, h := range e.Hits {
		m := h.Message
		p := evidence.Message
		switch {
		case m.Symptom:
			p = evidence.Weak.Exact()
		case e.Check(m.Checks[0]).Severity == evidence.Note:
			p = evidence.Trifle
		case m.Cause == "none":
			p = evidence.Weak
		}
		f := out.Find(m.Checks[0], p, h.At).Of(m.Cause).Say(m.Text).Do(m.Fix...).In(m.Places).Explaining(m.Over...)
		if m.Program == "kernel" {
			meaning(e, h, f)
		}
		missed := func(g machine.GPU) bool { return !g.Visible && !e.GPU().Spare(g) }
		if h.Live && !slices.ContainsFunc(e.Machine.GPUs, missed) {
			f.As(evidence.Note)
		}
	}
}

func clues(e *evidence.Evidence, out *evidence.Findings) {
	for _, h := range e.Clues {
		c := h.Clue
		p := evidence.Hint.Exact()
		if c.Weak {
			p = evidence.Weak.Exact()
		}
		if c.Checks[0] == "PY001" && e.CPUByChoice() || strings.HasPrefix(c.Checks[0], "PERF") && e.Torch.SeesNone() {
			continue // nobody was to use a GPU; a GPU that is not seen is not slow
		}
		out.Find(c.Checks[0], p, h.At...).Of(c.Cause).Say(c.Text).Do(c.Fix...).In(c.Places).Explaining(c.Over...)
	}
}

// xidNumber is the number in a line of the kernel's log.
var xidNumber = lazy.Regexp(`\bXid \((?:PCI:)?[0-9A-Fa-f:.]+\): (\d{1,4})\b`)

// meaning says of a pasted Xid what its number means, where the table files it
// under the check that was found.
func meaning(e *evidence.Evidence, h evidence.Hit, f *evidence.Finding) {
	m := xidNumber().FindStringSubmatch(h.At.Text)
	if m == nil {
		return
	}
	n, err := strconv.Atoi(m[1])
	if x := e.Knowledge.Xids[n]; err == nil && x != nil && x.Check == h.Message.Checks[0] {
		f.Say(fmt.Sprintf("Xid %d: %s", n, x.Text)).Do(x.Fix...)
	}
}
