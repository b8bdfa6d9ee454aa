package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/plan"
)

// The weights of findings: how much they are worth believing. A finding is the
// reason of another only where its own proof is not far weaker (margin).
const (
	trifle  = 15 // worth knowing
	weak    = 25 // a symptom's usual reason, a vague word
	hint    = 40 // several weak ones, or one fact that usually means it
	strong  = 55 // a message that names its cause, or clear words
	message = 60
	likely  = 70 // a message and a fact together
	proven  = 85 // facts that leave no other
	margin  = 20
)

// A finding is a [Finding] on its way to be ranked.
type finding struct {
	Finding
	weight int
	over   []string // checks that it is the reason of, whatever their cause
}

// A rule is one check that looks at facts: which it needs, and a pure function.
// The checks that follow from a message alone have no rule: their entry in
// messages.yaml is one.
type rule struct {
	checks []string // that its findings carry
	needs  string   // in words, for the README and for tests
	run    func(*exam)
}

// rules lists all rules; their order decides nothing.
var rules = slices.Concat(buildRules, gpuRules, driverRules, libraryRules, namedRules, packageRules, interpreterRules, placeRules, accessRules, wheelRules, extensionRules, machineRules, useRules, environmentRules, importedRules, containerRules, hostedRules)

// An exam is one examination.
type exam struct {
	*read.Case
	k   *know.Knowledge
	out []*finding
}

// Examine returns what is wrong, the root cause first.
func Examine(k *know.Knowledge, c *read.Case) Report {
	e := &exam{Case: c, k: k}
	e.identify()
	e.believe()
	e.messages()
	e.clues()
	for _, r := range rules {
		r.run(e)
	}
	told := len(e.out) > 0
	if !told {
		e.topic()
	}
	found := e.rank(merge(e.out))
	report := Report{Format: Format, OK: !c.Pasted || told || e.available(), Findings: []Finding{}, Notes: c.Notes}
	for _, f := range found {
		if f.Severity == know.Error {
			report.OK = false
		}
		report.Findings = append(report.Findings, f.whole())
	}
	return report
}

// whole is the finding with empty lists in place of absent ones, as its JSON form
// wants them.
func (f *finding) whole() Finding {
	out := f.Finding
	for _, l := range []*[]string{&out.Evidence, &out.Fix, &out.Explains} {
		if *l == nil {
			*l = []string{}
		}
	}
	if out.Steps == nil {
		out.Steps = []plan.Step{}
	}
	return out
}

// find adds a finding of a check, with what the check itself says where f says
// nothing.
func (e *exam) find(check string, weight int, f Finding, said ...read.Evidence) *finding {
	c := e.k.Checks[check]
	f.Check = check
	if f.Cause == "" {
		f.Cause = c.Cause
	}
	if f.Text == "" {
		f.Text = c.Text
	}
	if f.Fix == nil {
		f.Fix = c.Fix
	}
	f.Severity = c.Severity
	f.order = 1 << 30
	for _, s := range said {
		if s.IsZero() {
			continue
		}
		f.order = min(f.order, s.Line)
		if text := s.String(); !slices.Contains(f.Evidence, text) {
			f.Evidence = append(f.Evidence, text)
		}
	}
	switch {
	case weight >= likely:
		f.Confidence = High
	case weight >= strong:
		f.Confidence = Medium
	}
	n := &finding{Finding: f, weight: weight}
	e.out = append(e.out, n)
	return n
}

// messages turns every message found into a finding of its first check.
func (e *exam) messages() {
	for _, h := range e.Hits {
		w := message
		check := e.k.Checks[h.Message.Checks[0]]
		switch {
		case h.Message.Symptom:
			w = weak + 5
		case check.Severity == know.Note:
			w = trifle
		case h.Message.Cause == "none":
			w = weak
		}
		f := Finding{Cause: h.Message.Cause, Fix: h.Message.Fix}
		e.meaning(h, &f)
		e.find(h.Message.Checks[0], w, f, h.At).over = h.Message.Over
	}
}

func (e *exam) clues() {
	for _, h := range e.Clues {
		if h.Clue.Topic {
			continue
		}
		w := strong
		if h.Clue.Weak {
			w = weak + 3
		}
		if h.Clue.Checks[0] == "PY001" && e.cpuByChoice() {
			continue
		}
		f := e.find(h.Clue.Checks[0], w, Finding{Cause: h.Clue.Cause, Text: h.Clue.Text}, h.At...)
		f.over = h.Clue.Over
	}
}

// topic is the last resort: people complain, and nothing that they say proves a
// cause. The first topic that their words touch is worth a note.
func (e *exam) topic() {
	if !e.Says.Trouble {
		return
	}
	for _, h := range e.Clues {
		if !h.Clue.Topic {
			continue
		}
		f := e.find(h.Clue.Checks[0], trifle-5, Finding{Cause: h.Clue.Cause}, h.At...)
		f.Text, f.Severity = "nothing here proves a cause; the usual one behind such words: "+f.Text, know.Note
		return
	}
}

// merge makes one finding of those with the same check and cause: the heaviest,
// with the evidence of all.
func merge(in []*finding) []*finding {
	var out []*finding
	for _, f := range in {
		i := slices.IndexFunc(out, func(o *finding) bool { return o.Check == f.Check && o.Cause == f.Cause })
		if i < 0 {
			out = append(out, f)
			continue
		}
		a, b := out[i], f
		if b.weight > a.weight {
			a, b = b, a
		}
		for _, ev := range b.Evidence {
			if !slices.Contains(a.Evidence, ev) && len(a.Evidence) < 6 {
				a.Evidence = append(a.Evidence, ev)
			}
		}
		a.over = append(a.over, b.over...)
		a.Mend = a.Mend.and(b.Mend)
		a.order = min(a.order, b.order)
		out[i] = a
	}
	return out
}

// rank orders findings: those that nothing else explains first, then by weight,
// by how much they explain, by severity and by where they stand. What another
// finding explains is named there.
func (e *exam) rank(in []*finding) []*finding {
	explained := map[*finding]bool{}
	for _, a := range in {
		for _, b := range in {
			if a != b && e.explains(a, b) && !e.explains(b, a) {
				explained[b] = true
				if !slices.Contains(a.Explains, b.Check) {
					a.Explains = append(a.Explains, b.Check)
				}
			}
		}
	}
	slices.SortStableFunc(in, func(a, b *finding) int {
		if explained[a] != explained[b] {
			if explained[b] {
				return -1
			}
			return 1
		}
		if (a.Cause == "none") != (b.Cause == "none") && a.weight-b.weight < margin && b.weight-a.weight < margin {
			if b.Cause == "none" {
				return -1
			}
			return 1
		}
		if a.weight != b.weight {
			return b.weight - a.weight
		}
		if len(a.Explains) != len(b.Explains) {
			return len(b.Explains) - len(a.Explains)
		}
		if a.Severity != b.Severity {
			return int(b.Severity - a.Severity)
		}
		return a.order - b.order
	})
	for _, f := range in {
		slices.Sort(f.Explains)
	}
	return in
}

// has returns where the first message of these ids stood; ok is false where none
// was found.
func (e *exam) has(ids ...string) (read.Evidence, bool) {
	for _, h := range e.Hits {
		if slices.Contains(ids, h.Message.ID) {
			return h.At, true
		}
	}
	return read.Evidence{}, false
}

// hit returns the first message of an id.
func (e *exam) hit(id string) *read.Hit {
	for i := range e.Hits {
		if e.Hits[i].Message.ID == id {
			return &e.Hits[i]
		}
	}
	return nil
}

// unavailable reports whether torch says that it sees no GPU.
func (e *exam) unavailable() bool { return e.Torch.Available != nil && !*e.Torch.Available }

// available reports whether torch says that it sees a GPU.
func (e *exam) available() bool { return e.Torch.Available != nil && *e.Torch.Available }

// vendors reports which vendors' GPUs are known.
func (e *exam) vendor(v string) bool {
	for _, g := range e.Machine.GPUs {
		if g.Vendor == v {
			return true
		}
	}
	return false
}

// noDevice are the messages that say no more than that no GPU can be used.
var noDevice = []string{"torch-no-nvidia-driver", "torch-no-gpus", "cuda-no-device", "libcuda-missing", "smi-not-found", "no-devices", "nvml-not-loaded", "nvml-lib-missing", "deserialize-cuda", "torch-fallback-cpu", "app-no-gpu", "nvml-unknown", "triton-libcuda", "ollama-no-gpu", "dev-nodes-missing"}

func (e *exam) clue(id string) bool {
	return slices.ContainsFunc(e.Clues, func(h read.ClueHit) bool { return h.Clue.ID == id })
}

func join(words ...string) string { return strings.Join(words, " ") }

// limit returns a limit that limits.yaml has; a test looks for each that is used.
func (e *exam) limit(id string) *know.Limit { return e.k.Limits[id] }
