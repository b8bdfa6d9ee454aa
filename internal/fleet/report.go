package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// Status says how a machine stands to its lock. Of several that hold it has the worst.
type Status string

const (
	Right   Status = "right"   // what it should have is there and proved
	Unknown Status = "unknown" // nothing was told of what it has
	Pending Status = "pending" // the plan has steps that nobody carried out
	Drifted Status = "drifted" // it is no longer what its profile of the lock is for, or says
	Reboot  Status = "reboot"  // the rest comes after a reboot
	Wrong   Status = "wrong"   // its environment does not prove itself
	Failed  Status = "failed"  // a command ended with an error, or it could not be reached
)

// Statuses in the order in which they are listed, the worst first.
var Statuses = []Status{Failed, Wrong, Reboot, Drifted, Pending, Unknown, Right}

// A Report says who is right and who is not.
type Report struct {
	Machines int            `json:"machines"`
	Count    map[Status]int `json:"count"`
	Classes  []ClassReport  `json:"classes"` // most machines first
	Hosts    []HostReport   `json:"hosts"`   // by name
}

// A ClassReport is the machines of one class.
type ClassReport struct {
	Name    string              `json:"name"`              // in words; "facts not known"
	Profile string              `json:"profile,omitempty"` // of the lock; "" none, or no lock was given
	Hosts   map[Status][]string `json:"hosts"`             // sorted
}

// A HostReport is one machine.
type HostReport struct {
	Host    string   `json:"host"`
	Status  Status   `json:"status"`
	Class   string   `json:"class"`
	Profile string   `json:"profile,omitempty"`
	Torch   string   `json:"torch,omitempty"`
	At      string   `json:"at,omitempty"` // when it was asked
	Why     []string `json:"why,omitempty"`
}

// Results are what was collected of machines, by host.
type Results struct {
	hosts map[string]*result
}

// A result is the last word of each kind about one machine.
type result struct {
	host, at     string
	facts        *machine.Machine
	torch        string
	proved       *bool // of verify
	wrong        []string
	steps        int // of the plan; -1 no plan was told
	differs      []string
	failed       string
	reboot, done bool
	old          bool // what it said is too old
}

// NewResults returns empty Results.
func NewResults() *Results { return &Results{hosts: map[string]*result{}} }

// told is the keys of the documents that are read: what `envfix plan`, `apply`,
// `verify`, `lock --check --installed` and `facts` print as JSON, or an object that
// holds them under their command's name.
type told struct {
	Host  string          `json:"host"`
	At    string          `json:"at"`
	Error json.RawMessage `json:"error"` // a sentence, or the object of a command that failed

	Plan   json.RawMessage `json:"plan"`
	Apply  json.RawMessage `json:"apply"`
	Verify json.RawMessage `json:"verify"`
	Check  json.RawMessage `json:"check"`
	Facts  json.RawMessage `json:"facts"`

	Platform json.RawMessage   `json:"platform"` // of facts
	Decision string            `json:"decision"` // of a plan
	Steps    []json.RawMessage `json:"steps"`
	Basis    struct {
		Facts json.RawMessage `json:"facts"`
	} `json:"basis"`
	State   string          `json:"state"` // of apply
	Changed bool            `json:"changed"`
	OK      *bool           `json:"ok"` // of verify
	Torch   string          `json:"torch"`
	Wrong   []string        `json:"wrong"`
	Class   json.RawMessage `json:"class"`
	Differs *[]string       `json:"differs"` // of lock --check --installed
}

// Read reads documents, one behind the other. host names the machine where a document
// does not; from names the source in sentences. Its error reports a text that is none.
func (r *Results) Read(in io.Reader, from, host string) error {
	d := json.NewDecoder(bufio.NewReader(io.LimitReader(in, maxDocument)))
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			if n == 1 {
				return errors.New("empty: it should hold what `envfix verify --static --json` prints")
			}
			return nil
		} else if err != nil {
			return fmt.Errorf("not JSON: %s", text.Printable(err.Error()))
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, one := range list {
			if err := r.add(one, from, host); err != nil {
				return err
			}
		}
	}
}

func (r *Results) add(raw json.RawMessage, from, host string) error {
	var t told
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("not what envfix prints: %s", text.Printable(err.Error()))
	}
	host = cmp.Or(t.Host, host)
	if host == "" {
		return errors.New("names no host: put a \"host\" into it, or call the file HOST.json")
	}
	x := r.of(host)
	x.at = max(x.at, t.At)
	known := x.read(t, raw)
	for _, part := range []json.RawMessage{t.Facts, t.Plan, t.Apply, t.Verify, t.Check} {
		var inner told
		if len(part) == 0 || string(part) == "null" {
			continue
		}
		if err := json.Unmarshal(part, &inner); err != nil {
			x.failed = "its result cannot be read: " + text.Clip(string(part), 120)
		}
		known = x.read(inner, part) || known
	}
	if !known {
		return fmt.Errorf("%s: nothing in it is what `envfix plan`, `apply`, `verify`, `lock --check --installed` or `facts` print as JSON", text.Printable(from))
	}
	return nil
}

func (r *Results) of(host string) *result {
	if r.hosts[host] == nil {
		r.hosts[host] = &result{host: host, steps: -1}
	}
	return r.hosts[host]
}

// Problem notes a machine whose result cannot be read.
func (r *Results) Problem(host, why string) { r.of(host).failed = why }

// read takes what one document says; false: it is none that is known.
func (x *result) read(t told, raw json.RawMessage) bool {
	known := true
	switch {
	case len(t.Error) > 0 && string(t.Error) != "null":
		x.failure(t)
	case t.Platform != nil:
		x.machine(raw)
	case t.Decision != "":
		x.steps = len(t.Steps)
		x.machine(t.Basis.Facts)
	case t.State != "":
		x.done = t.State == "applied" || t.State == "nothing"
	case t.OK != nil:
		x.proved, x.wrong, x.torch = t.OK, t.Wrong, t.Torch
		x.machine(t.Class)
	case t.Differs != nil:
		x.differs = *t.Differs
	default:
		known = false
	}
	return known
}

// failure takes the error of a command, or why nobody could ask.
func (x *result) failure(t told) {
	var e struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(t.Error, &e) != nil { // no object
		_ = json.Unmarshal(t.Error, &e.Text) // what is neither is an error without words
	}
	x.failed = cmp.Or(e.Text, "it ended with an error")
	if t.State == "waiting_for_reboot" {
		x.reboot = true
	}
}

func (x *result) machine(raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	if h, err := machine.Decode(bytes.TrimSpace(raw)); err == nil {
		h = h.Class()
		x.facts = &h
	}
}

// Report compares what was told with a lock; nil: there is none to compare with. What
// was told before oldest, a time as [Inventory.Oldest] is, says nothing any more.
func (r *Results) Report(l *lock.Lock, oldest string) *Report {
	out := &Report{Count: map[Status]int{}, Classes: []ClassReport{}, Hosts: []HostReport{}}
	classes := map[[2]string]*ClassReport{}
	var keys [][2]string
	for _, x := range r.hosts {
		if x.at != "" && x.at < oldest {
			x = &result{host: x.host, at: x.at, facts: x.facts, steps: -1, old: true}
		}
		out.Hosts = append(out.Hosts, x.report(l))
	}
	slices.SortFunc(out.Hosts, func(a, b HostReport) int { return strings.Compare(a.Host, b.Host) })
	for _, h := range out.Hosts {
		out.Machines++
		out.Count[h.Status]++
		key := [2]string{h.Class, h.Profile}
		if classes[key] == nil {
			classes[key] = &ClassReport{Name: h.Class, Profile: h.Profile, Hosts: map[Status][]string{}}
			keys = append(keys, key)
		}
		classes[key].Hosts[h.Status] = append(classes[key].Hosts[h.Status], h.Host)
	}
	out.Classes = append(out.Classes, text.Each(keys, func(k [2]string) ClassReport { return *classes[k] })...)
	slices.SortStableFunc(out.Classes, func(a, b ClassReport) int {
		return cmp.Or(b.size()-a.size(), strings.Compare(a.Name, b.Name), strings.Compare(a.Profile, b.Profile))
	})
	return out
}

func (c ClassReport) size() int {
	n := 0
	for _, h := range c.Hosts {
		n += len(h)
	}
	return n
}

// report judges one machine.
func (x *result) report(l *lock.Lock) HostReport {
	h := HostReport{Host: x.host, Class: "facts not known", Torch: x.torch, At: x.at, Status: Unknown}
	set := func(s Status, why ...string) {
		if slices.Index(Statuses, s) < slices.Index(Statuses, h.Status) {
			h.Status = s
		}
		h.Why = append(h.Why, why...)
	}
	if x.proved != nil && *x.proved || x.done || x.steps == 0 {
		h.Status = Right
	}
	if x.facts != nil {
		h.Class = (&Class{Facts: *x.facts}).Name()
		if l != nil {
			x.follow(l, &h, set)
		}
	}
	if x.steps > 0 && !x.done {
		set(Pending, fmt.Sprintf("%d steps of its plan are not carried out: `envfix apply`", x.steps))
	}
	if x.old {
		h.Why = append(h.Why, "its results are of "+x.at+", which is too old: ask it again")
	}
	for _, d := range x.differs {
		set(Drifted, d)
	}
	if x.proved != nil && !*x.proved {
		set(Wrong, x.wrong...)
	}
	switch {
	case x.reboot:
		set(Reboot, x.failed)
	case x.failed != "":
		set(Failed, x.failed)
	}
	return h
}

// follow compares a machine with the profile of the lock that is for it.
func (x *result) follow(l *lock.Lock, h *HostReport, set func(Status, ...string)) {
	p, _, err := l.Pick(*x.facts, false)
	var none *lock.PickError
	switch {
	case errors.As(err, &none):
		set(Drifted, append([]string{none.Text}, none.Details...)...)
		return
	case err != nil:
		set(Drifted, err.Error())
		return
	}
	h.Profile = p.Name
	have, label := version.SplitLocal(x.torch)
	want, wanted := version.SplitLocal(p.Torch)
	if x.torch != "" && (have != want || label != "" && label != cmp.Or(wanted, p.Build)) {
		set(Drifted, fmt.Sprintf("torch %s, profile %s has %s", x.torch, p.Name, p.Torch))
	}
}
