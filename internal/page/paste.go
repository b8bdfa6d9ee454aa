package page

import (
	"strings"

	"envfix/internal/describe"
	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	readers "envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/matrix"
)

// Read is what a pasted text said.
type Read struct {
	Found    []string  `json:"found"` // facts of the machine, in words
	Words    Words     `json:"words"` // those that the text decides; the others are empty
	Findings []Finding `json:"findings"`
	More     int       `json:"more"`    // findings that are not shown
	Verdict  string    `json:"verdict"` // healthy, faulty, unknown; "" of facts, which nobody examined
	Notes    []string  `json:"notes"`
}

// A Finding is what the doctor says of the text.
type Finding struct {
	Severity string   `json:"severity"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
	Fix      []string `json:"fix"`
	Cause    string   `json:"cause"`
	Check    string   `json:"check"`
}

// shown is how many findings the page shows: the root causes come first.
const shown = 3

// Paste reads what somebody pasted: the output of nvidia-smi or collect_env, an
// error, or the facts that `envfix facts --json` wrote.
func Paste(m *matrix.Matrix, k *know.Knowledge, pasted string) Read {
	if s := strings.TrimSpace(pasted); strings.HasPrefix(s, "{") {
		if h, err := machine.Decode([]byte(s)); err == nil {
			describe.Complete(&h)
			return Read{Found: machineLines(h), Words: wordsOf(h)}
		}
	}
	r := readers.NewReader(k)
	if err := r.Read("", strings.NewReader(pasted)); err != nil {
		return Read{Notes: []string{err.Error()}}
	}
	c := r.Case()
	c.Matrix = m
	out := Read{Words: wordsOf(c.Machine), Found: foundIn(c.Machine)}
	c.Devices = matrix.Devices()
	report := doctor.Examine(k, c)
	out.Verdict, out.Notes = string(report.Verdict), report.Notes
	for _, f := range report.Findings {
		if len(out.Findings) == shown {
			out.More++
			continue
		}
		out.Findings = append(out.Findings, Finding{Severity: f.Severity.String(), Text: text.Printable(f.Text), Evidence: printable(f.Evidence, 3),
			Fix: printable(f.Fix, 5), Cause: f.Cause, Check: f.Check})
	}
	return out
}

func printable(lines []string, n int) []string {
	return text.Each(lines[:min(n, len(lines))], func(l string) string { return text.Clip(l, 400) })
}

// wordsOf are the words for a machine whose facts may be few: what is not known stays
// unsaid, above all the driver.
func wordsOf(h machine.Machine) Words {
	w := Words{Machine: describe.Of(h)}
	if w.Driver == "none" && h.Format == 0 { // a text that names none
		w.Driver = ""
	}
	for i, p := range h.Pythons {
		if (p.Active || i == 0) && strings.Contains(p.Version, ".") {
			w.Python = p.Minor()
		}
		if p.Active {
			break
		}
	}
	return w
}

// foundIn says what a text told of the machine, without what it did not.
func foundIn(h machine.Machine) []string {
	name := func(g machine.GPU) string { return text.Clip(strings.TrimPrefix(g.Name, "NVIDIA "), 80) }
	return say.All(append(say.Counted(text.Each(h.GPUs, name)), say.With("driver ", h.DriverVersion(), ""),
		say.If(h.Platform.OS != "", strings.TrimSpace(h.Platform.OS+" "+h.Platform.Arch)))...)
}
