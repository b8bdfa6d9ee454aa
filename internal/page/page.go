// Package page answers what the web page asks: words in, an answer with the commands
// to copy and the case for it out. It is the same resolver, read by the same words as
// the flags of `envfix plan`, and knows no browser: cmd/envfix-page hands it JSON.
package page

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/planning"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// Words are what somebody said on the page: the values of the flags of `envfix plan`.
// A field that is empty says nothing.
type Words struct {
	describe.Machine          // no driver: the newest that drives the GPUs; no system: linux
	describe.Request          // no Python: the usual one; no manager: uv
	Packages         []string `json:"packages"` // requirements; none: torch and torchvision
	Today            string   `json:"today"`
}

// assumedLibc stands for a Linux of which nothing more is said: Ubuntu 22.04.
const assumedLibc = "glibc-2.35"

// Base is the machine that words describe when they say nothing: a Linux PC.
func Base() machine.Machine {
	libc, _ := machine.ParseLibc(assumedLibc) // a constant
	return machine.Machine{Format: machine.Format, Privilege: "sudo", Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &libc},
		Tools: []machine.Tool{{Name: "uv", Path: "uv"}}}
}

// question is what is asked of the resolver, with what had to be assumed.
type question struct {
	words   Words // with what was assumed
	machine machine.Machine
	request resolver.Request
	assumed []string
}

// of is the question that planning is asked.
func (q question) of(m *matrix.Matrix) planning.Question {
	return planning.Question{Matrix: m, Machine: q.machine, Request: q.request}
}

// read turns words into a question. Its error is a *fail.Error that says how to
// write the word that was not understood.
func read(m *matrix.Matrix, w Words) (question, error) {
	q := question{words: w, machine: Base()}
	q.words.Machine.GPUs, q.words.Packages, q.words.Whole = filled(w.Machine.GPUs), filled(w.Packages), true
	q.words.Manager = cmp.Or(w.Manager, managers.Usual)
	if err := q.readMachine(m); err != nil {
		return q, err
	}
	r, err := q.words.Request.Parse()
	if err != nil {
		return q, err
	}
	r.Described, r.Today = true, w.Today
	if r.Requirements, err = describe.Requirements(q.words.Packages); err != nil {
		return q, err
	}
	q.request = r
	return q, nil
}

// filled are the fields of a list that somebody wrote into.
func filled(fields []string) (out []string) {
	return xslices.Filter(text.Each(fields, strings.TrimSpace), func(s string) bool { return s != "" })
}

func (q *question) readMachine(m *matrix.Matrix) error {
	if err := q.words.Override(&q.machine); err != nil {
		return err
	}
	h := &q.machine
	switch newest, takes := describe.NewestDriver(m, *h); {
	case q.words.Driver == "" && takes:
		q.words.Driver = newest.String()
		q.assumed = append(q.assumed, "driver "+q.words.Driver+", the newest that drives it")
		if err := (describe.Machine{Driver: q.words.Driver, Whole: true}).Override(h); err != nil {
			return err
		}
	case h.Driver != nil:
		whole, err := m.WholeDriver(h.Driver.Version, h.WindowsDriver())
		if err != nil {
			return fail.Wrong(err.Error(), "write a version as nvidia-smi prints it, such as 580.95.05")
		}
		h.Driver.Version = whole
		q.words.Driver = whole.String()
	}
	if q.words.Libc == "" && h.Platform.OS == "linux" {
		if h.Platform.Libc == nil || h.Platform.Libc.Version.IsZero() { // a Jetson, say
			libc, _ := machine.ParseLibc(assumedLibc)
			h.Platform.Libc = &libc
		}
		q.assumed = append(q.assumed, strings.Replace(assumedLibc, "-", " ", 1))
	}
	return nil
}

// Args are the arguments of `envfix plan` that ask the same, but for the machine
// where only the wish is meant.
func (w Words) Args(machine bool) []string {
	var out []string
	if machine {
		out = w.Machine.Args()
	}
	r := w.Request
	if r.Manager == managers.Usual {
		r.Manager = "" // where no other is asked for
	}
	return slices.Concat(out, w.Packages, r.Args())
}

// A Fault is a word that was not understood.
type Fault struct {
	Text    string   `json:"text"`
	Details []string `json:"details"`
	Hints   []string `json:"hints"`
}

func faultOf(err error) *Fault {
	f := &Fault{Text: err.Error()}
	if e, ok := err.(*fail.Error); ok {
		f.Details, f.Hints = e.Details, e.Hints
	}
	return f
}

// decode reads what the page sent. An error there is a fault of the page itself.
func decode[T any](input string) (v T, err error) {
	err = json.Unmarshal([]byte(input), &v)
	return v, err
}
