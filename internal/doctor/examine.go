package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// A rule is one check that looks at facts: which it needs, and a pure function.
// The checks that follow from a message alone have no rule: their entry in
// messages.yaml is one.
type rule struct {
	checks []string // that its findings carry
	needs  string   // in words, for the README and for tests
	run    func(*exam)
}

// rules lists all rules; their order decides nothing.
var rules = slices.Concat(
	buildRules,
	gpuRules,
	driverRules,
	libraryRules,
	missingRules,
	namedRules,
	packageRules,
	interpreterRules,
	placeRules,
	accessRules,
	memoryRules,
	migRules,
	wheelRules,
	extensionRules,
	machineRules,
	useRules,
	environmentRules,
	importedRules,
	runningRules,
	aroundRules,
	containerRules,
	hostedRules,
	everydayRules,
	countedRules,
	toldRules,
	versionRules,
	questionRules,
	linkRules,
)

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
	found := rank(merge(e.out), e.k.Causes)
	report := Report{Format: Format, OK: !c.Pasted || told || e.available() || e.atWork(), Findings: []Finding{}, Notes: c.Notes, Process: c.Running}
	for _, f := range found {
		if e.advise(f); repeats(report.Findings, f) {
			continue
		}
		if f.Severity == know.Error || slices.Contains(untold, f.Check) {
			report.OK = false
		}
		report.Findings = append(report.Findings, f.whole())
	}
	report.Verdict = verdict(report)
	report.Facts = e.knownFacts()
	return report
}

// repeats reports whether a finding says what one before it said, in the same words.
func repeats(before []Finding, f *finding) bool {
	return slices.ContainsFunc(before, func(o Finding) bool { return o.Text == f.Text && slices.Equal(o.Fix, f.Fix) })
}

// untold are the checks that say that a cause could not be told.
var untold = []string{"GPU001", "GPU002", "GPU003"}

// verdict is the report in one word: what the first finding says, where there is one.
func verdict(r Report) Verdict {
	worst := know.Note
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	switch {
	case len(r.Findings) > 0 && slices.Contains(untold, r.Findings[0].Check), !r.OK && worst < know.Error:
		return Unknown
	case r.OK:
		return Healthy
	}
	return Faulty
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
		f := e.find(h.Message.Checks[0], w, h.At).with(Finding{Text: h.Message.Text, Fix: h.Message.Fix, Cause: h.Message.Cause}).explains(h.Message.Over...)
		e.meaning(h, f)
	}
}

func (e *exam) clues() {
	for _, h := range e.Clues {
		w := strong
		if h.Clue.Weak {
			w = weak + 3
		}
		if h.Clue.Checks[0] == "PY001" && e.cpuByChoice() {
			continue
		}
		e.find(h.Clue.Checks[0], w, h.At...).cause(h.Clue.Cause).text(h.Clue.Text).fix(h.Clue.Fix...).explains(h.Clue.Over...)
	}
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

// atWork reports whether a text shows a GPU at work, and nobody asks anything of it.
func (e *exam) atWork() bool { return !e.Says.Finished.IsZero() && !e.Says.Asks }

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
var noDevice = []string{
	"torch-no-nvidia-driver", "torch-no-gpus", "cuda-no-device", "libcuda-missing", "smi-not-found",
	"no-devices", "nvml-not-loaded", "nvml-lib-missing", "deserialize-cuda", "torch-fallback-cpu",
	"app-no-gpu", "yolo-device", "nvml-unknown", "triton-libcuda", "ollama-no-gpu", "dev-nodes-missing",
}

func (e *exam) clue(id string) bool {
	return slices.ContainsFunc(e.Clues, func(h read.ClueHit) bool { return h.Clue.ID == id })
}

func join(words ...string) string { return strings.Join(words, " ") }

// limit returns a limit that limits.yaml has; a test looks for each that is used.
func (e *exam) limit(id string) *know.Limit { return e.k.Limits[id] }

// limitSM is the i-th value of a limit as a compute capability.
func (e *exam) limitSM(id string, i int) machine.SM { return machine.MustSM(e.limit(id).Values[i]) }
