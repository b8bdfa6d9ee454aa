package doctor

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/modules"
	"envfix/internal/xslices"
)

// A Match is one message that explain knows, as the schema of `envfix explain --json` fixes it.
type Match struct {
	Message  string            `json:"message"` // its id in messages.yaml
	Checks   []string          `json:"checks"`
	Program  string            `json:"program"`
	Cause    string            `json:"cause"`
	Severity know.Severity     `json:"severity"`
	Text     string            `json:"text"`
	Fix      []string          `json:"fix"`
	Line     int               `json:"line"`
	Quote    string            `json:"quote"` // the line itself, cleaned and cut
	Captures map[string]string `json:"captures"`
	Source   string            `json:"source"`
}

// Explanation is the answer of explain.
type Explanation struct {
	Format  int       `json:"format"`
	Matches []Match   `json:"matches"`
	Known   []Match   `json:"known,omitempty"` // what programs print that is not of GPUs or the installation, or asks for nothing: who prints it, and what it means there
	Unknown *Stranger `json:"unknown,omitempty"`
}

// Explain returns the messages that a text holds, each once: those that name a
// cause before those that are only its symptoms, then in the order of the text.
func Explain(k *know.Knowledge, in io.Reader) (Explanation, error) {
	r := read.NewReader(k)
	b := bufio.NewReaderSize(in, maxHeard)
	start, _ := b.Peek(maxHeard)
	heard := string(start) // what is read next lies where it lay
	if err := r.Read("", b); err != nil {
		return Explanation{}, err
	}
	c := r.Case()
	c.Clues = nil // people's words are for doctor, which has more to hold them against
	e := newExam(k, c)
	hits := e.Hits
	rank := map[bool]int{true: 1} // a symptom comes later
	slices.SortStableFunc(hits, func(a, b read.Hit) int {
		return cmp.Or(rank[a.Message.Symptom]-rank[b.Message.Symptom], a.At.Line-b.At.Line)
	})
	report := Examine(k, c)
	answer := Explanation{Format: Format, Matches: []Match{}}
	for _, h := range hits {
		if slices.ContainsFunc(answer.Matches, func(m Match) bool { return m.Message == h.Message.ID }) {
			continue
		}
		check := k.Checks[h.Message.Checks[0]]
		captures := map[string]string{}
		maps.Copy(captures, h.Captures)
		m := Match{Message: h.Message.ID, Checks: h.Message.Checks, Program: h.Message.Program, Cause: h.Message.Cause,
			Severity: check.Severity, Text: cmp.Or(h.Message.Text, check.Text), Fix: e.ways(remedy{check.ID, h.Message.Fix, h.Message.Places}, []string{h.At.Text}),
			Line: h.At.Line, Quote: h.At.Text, Captures: captures, Source: h.Message.Source}
		if m = m.judged(report.Findings, h.At); h.Mild || m.Severity == know.Note && (read.Warned(m.Quote) || m.Cause == "expectation_misread") {
			m.Cause, m.Fix = "none", []string{} // its program goes on
		}
		answer.Matches = append(answer.Matches, m)
	}
	for _, p := range e.printed(answer.Matches) {
		if m := told(p); p.Ours() {
			answer.Matches = append(answer.Matches, m)
		} else {
			answer.Known = append(answer.Known, m)
		}
	}
	if len(answer.Matches)+len(answer.Known) == 0 {
		// No message is known: what the facts of the text say, as `doctor --from` says it.
		// A vague word (MPS, XPU, ROCm) is what a message speaks of, not its reason.
		sure := func(f Finding) bool {
			return !read.Quiet(quoteOf(f)) && (f.Severity == know.Error && f.Confidence > Low || slices.Contains(untold, f.Check))
		}
		answer.Matches = found(k, xslices.Filter(report.Findings, sure))
	}
	if len(answer.Matches)+len(answer.Known) == 0 {
		answer.Unknown = unknown(k, heard)
	}
	return answer, nil
}

// found are findings as explain tells them.
func found(k *know.Knowledge, findings []Finding) []Match {
	out := []Match{}
	for _, f := range findings {
		out = append(out, Match{Checks: []string{f.Check}, Program: "torch", Cause: f.Cause, Severity: f.Severity,
			Text: f.Text, Fix: f.Fix, Line: max(f.order, 1), Quote: quoteOf(f), Captures: map[string]string{}, Source: k.Checks[f.Check].Source})
	}
	return out
}

// judged is a match as `doctor --from` tells it, where a rule read more in the line: it
// says the same more exactly (which Xid), or took back what the message says (a library
// that is missing is the system's). The message's checks stay.
func (m Match) judged(findings []Finding, at read.Evidence) Match {
	of := func(f Finding) bool { return slices.Contains(f.Evidence, at.String()) }
	first := slices.IndexFunc(findings, of)
	same := slices.IndexFunc(findings, func(f Finding) bool { return of(f) && f.Check == m.Checks[0] })
	if first < 0 || same != first && (same >= 0 || findings[first].Confidence < High) {
		return m
	}
	f := findings[first]
	others := slices.DeleteFunc(slices.Clone(m.Checks), func(c string) bool { return c == f.Check })
	m.Checks, m.Cause, m.Severity, m.Text, m.Fix = append([]string{f.Check}, others...), f.Cause, f.Severity, f.Text, f.Fix
	return m
}

// maxTold is how many lines that no message is known of are told of one text.
const maxTold = 3

// printed are the lines that the catalogue or the form of a sentence knows, where no
// message says more: of warnings only where nothing else is known.
func (e *exam) printed(matches []Match) (out []read.Printed) {
	for _, loud := range []bool{true, false} {
		for _, p := range e.Printed {
			if p.Warning() == loud || len(out) == maxTold || !loud && len(matches)+len(out) > 0 ||
				slices.ContainsFunc(matches, func(m Match) bool { return m.Line == p.At.Line }) ||
				slices.ContainsFunc(out, func(o read.Printed) bool { return o.At.Line == p.At.Line }) {
				continue
			}
			out = append(out, p)
		}
	}
	return out
}

// told is what is said of a line that a program prints: who prints it and where, what
// kind of message it is, and what that kind asks to look at.
func told(p read.Printed) Match {
	m := Match{Checks: []string{}, Program: cmp.Or(p.Row.Program, strings.ToLower(p.Slots["program"]), "a program"),
		Cause: "none", Severity: know.Error, Fix: []string{},
		Line: p.At.Line, Quote: p.At.Text, Captures: map[string]string{}}
	if p.Class != nil && p.Class.Harmless {
		m.Severity = know.Note
	} else if p.Warning() {
		m.Severity = know.Warning
	} else if p.Class != nil && p.Class.Question {
		m.Severity, m.Program = know.Note, "a question"
	}
	if p.Row.Shared {
		m.Program = "a program"
	}
	if p.Row.Place != "" {
		m.Source = strings.TrimSpace(p.Row.Program+" "+p.Row.Version) + ": " + p.Row.Place
		if p.Row.Shared {
			m.Source += ", or by others in the same words"
		}
	}
	c := p.Class
	if c == nil {
		m.Text = fmt.Sprintf("%s prints this, in %s; what it means there, only the line itself says", m.Program, p.Row.Place)
		return m
	}
	maps.Copy(m.Captures, p.Slots)
	top, names := modules.Brought(m.Captures["module"])
	if len(names) > 0 {
		m.Captures["package"] = names[0]
	}
	if name := m.Captures["package"]; len(names) > 0 || modules.Known(name) || strings.Contains(p.At.Text, "install "+name) {
		m.Captures["sure"] = name
	} else if name = cmp.Or(name, top); name != "" {
		m.Captures["unread"] = name
	}
	p.Slots = m.Captures
	text, ways := p.Told()
	m.Message, m.Text = c.ID, text
	if !p.Warning() || c.Warns && !p.Mild { // what it warns of and says itself how to mend asks for no more
		m.Cause, m.Fix = c.Cause, append(m.Fix, ways...)
	}
	return m
}

// Heard is the last error of a text that is known by what prints it, or as a kind of
// sentence, for where nothing names a cause; nil where there is none.
func Heard(c *read.Case) *Finding {
	for _, p := range slices.Backward(c.Printed) {
		if p.Class != nil && !p.Warning() && !p.Class.Question {
			m := told(p)
			return &Finding{Cause: m.Cause, Severity: m.Severity, Text: m.Text, Evidence: []string{p.At.String()}, Fix: m.Fix}
		}
	}
	return nil
}

// quoteOf is the line that a finding stands on, without its number.
func quoteOf(f Finding) string {
	if len(f.Evidence) == 0 {
		return ""
	}
	_, quote, _ := strings.Cut(f.Evidence[0], ": ")
	return quote
}

// Advice renders what a check says to do for somebody of whom nothing is known.
func Advice(k *know.Knowledge, check string) []string {
	e := newExam(k, &read.Case{Pasted: true})
	return e.ways(usual(k.Checks[check]), nil)
}

// ExplainChecks answers for ids of checks, where the arguments are nothing else.
func ExplainChecks(k *know.Knowledge, ids []string) (Explanation, bool) {
	answer := Explanation{Format: Format, Matches: []Match{}}
	for _, id := range ids {
		check := k.Checks[strings.ToUpper(id)]
		if check == nil {
			return answer, false
		}
		answer.Matches = append(answer.Matches, Match{Checks: []string{check.ID}, Program: check.Group, Cause: check.Cause,
			Severity: check.Severity, Text: check.Text, Fix: Advice(k, check.ID), Captures: map[string]string{}, Source: check.Source})
	}
	return answer, len(ids) > 0
}

// Wrong is what an examination calls errors, or what it finds first where it is not well.
func Wrong(r Report) (wrong []string) {
	for _, x := range r.Findings {
		if x.Severity == know.Error || len(wrong) == 0 && !r.OK {
			wrong = append(wrong, x.Text)
		}
	}
	return wrong
}
