package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"

	"golang.org/x/sync/errgroup"
)

// Options say what a plan may do.
type Options struct {
	ChangeDriver bool   // machines may get the recommended driver branch where that saves a group
	MaxGroups    int    // 0: as many as it takes; otherwise machines outside the best ones are listed
	SameTorch    bool   // every group has one torch
	Previous     []Pair // groups of an earlier plan: who still fits one stays in it
}

// A Pair is what makes a group: one torch and one build of it.
type Pair struct {
	Torch string `json:"torch"` // public version
	Build string `json:"build"` // local label, such as cu126
}

func (p Pair) String() string { return "torch " + p.Torch + " " + p.Build }

// A Plan is the answer for a fleet.
type Plan struct {
	Machines int        `json:"machines"` // all that were read
	Classes  int        `json:"classes"`
	Groups   []Group    `json:"groups"`   // the largest first
	Unserved []Unserved `json:"unserved"` // classes without an answer
	Problems []Problem  `json:"problems"` // machines that nothing is known of
	Apart    []string   `json:"apart"`    // what keeps each group from the first, a sentence each
	WhatIf   string     `json:"what_if,omitempty"`
	Exact    bool       `json:"exact"` // no answer with fewer groups exists
	Bound    string     `json:"bound,omitempty"`
	Note     string     `json:"note,omitempty"` // what was asked for and cannot be
}

// A Group is machines that can share one choice.
type Group struct {
	Pair
	Members []Member `json:"members"` // by class
	Hosts   int      `json:"hosts"`
}

// A Member is one class within a group.
type Member struct {
	Name   string   `json:"name"`   // what it is in words: "2 × V100 (7.0), driver 580.95.05"
	OS     string   `json:"os"`     // of its profile
	Arch   string   `json:"arch"`   // of its profile
	Python string   `json:"python"` // the best that the class has
	Driver string   `json:"driver,omitempty"`
	Facts  string   `json:"facts"` // its class line
	Hosts  []string `json:"hosts"`
}

// Unserved is a class without an answer.
type Unserved struct {
	Name  string   `json:"name"`
	Why   string   `json:"why"`
	Hint  string   `json:"hint,omitempty"`
	Facts string   `json:"facts"`
	Hosts []string `json:"hosts"`
}

// served is a class with what would run on it.
type served struct {
	*Class
	brief   *resolver.Brief
	options []resolver.Option // the preferred first; after change those that need another driver
	change  map[Pair]string   // pair → driver change that it needs; absent: none
}

// Make plans for every machine of an inventory that was closed. Its error reports a
// malformed request.
func Make(m *matrix.Matrix, in *Inventory, r resolver.Request, o Options) (*Plan, error) {
	p := &Plan{Machines: in.Machines(), Classes: len(in.Classes), Problems: in.Problems, Exact: true,
		Groups: []Group{}, Unserved: []Unserved{}, Apart: []string{}}
	if p.Problems == nil {
		p.Problems = []Problem{}
	}
	all, err := answers(m, in.Classes, r, o.ChangeDriver)
	if err != nil {
		return nil, err
	}
	lost := func(s *served) bool { return len(s.options) == 0 }
	p.Unserved = append(p.Unserved, text.Each(xslices.Filter(all, lost), (*served).unserved)...)
	fit := slices.DeleteFunc(all, lost)
	g := newGrouping(fit)
	chosen := g.choose(o)
	p.Exact = g.exact
	if !g.exact && o.MaxGroups == 0 {
		p.Bound = fmt.Sprintf("at most %.1f times the least number of groups", harmonic(len(fit)))
	}
	p.Groups = g.groups(chosen, p)
	if o.SameTorch && slices.ContainsFunc(p.Groups, func(x Group) bool { return x.Torch != p.Groups[0].Torch }) {
		p.Note = "no torch serves every group: each has its own"
	}
	p.Apart = keptApart(m, g, p.Groups)
	if len(p.Groups) > 1 && !o.ChangeDriver {
		p.WhatIf = whatIf(m, in, r, o, len(p.Groups))
	}
	slices.SortStableFunc(p.Unserved, func(a, b Unserved) int { return cmp.Or(len(b.Hosts)-len(a.Hosts), strings.Compare(a.Name, b.Name)) })
	return p, nil
}

func harmonic(n int) float64 {
	sum := 0.0
	for i := 1; i <= n; i++ {
		sum += 1 / float64(i)
	}
	return sum
}

// answers asks the resolver about every class, with one session per processor.
func answers(m *matrix.Matrix, classes []*Class, r resolver.Request, change bool) ([]*served, error) {
	out := make([]*served, len(classes))
	var all errgroup.Group
	workers := min(runtime.GOMAXPROCS(0), max(1, len(classes)/16))
	for w := range workers {
		all.Go(func() error {
			x := resolver.NewSession(m)
			for i := w; i < len(classes); i += workers {
				var err error
				if out[i], err = answer(x, classes[i], r, change); err != nil {
					return err // of the request, which is everybody's
				}
			}
			return nil
		})
	}
	return out, all.Wait()
}

func answer(x *resolver.Session, c *Class, r resolver.Request, change bool) (*served, error) {
	b, err := x.Brief(c.Facts, r)
	if err != nil {
		return nil, err
	}
	s := &served{Class: c, brief: b, options: b.Options, change: map[Pair]string{}}
	if b.Choice == nil && b.Then != nil {
		for _, o := range b.Options {
			s.change[Pair{o.Torch, o.Build}] = "driver: " + b.Driver.Action + say.With(", branch ", b.Driver.Branch, "")
		}
	}
	if !change || b.Choice == nil {
		return s, nil
	}
	after, branch, ok := x.Updated(c.Facts, r)
	if !ok {
		return s, nil
	}
	if b, err = x.Brief(after, r); err != nil || b.Choice == nil {
		return s, err
	}
	for _, o := range b.Options {
		if !slices.ContainsFunc(s.options, func(have resolver.Option) bool { return have.Torch == o.Torch && have.Build == o.Build }) {
			s.options = append(s.options, o)
			s.change[Pair{o.Torch, o.Build}] = fmt.Sprintf("driver to branch %d", branch)
		}
	}
	return s, nil
}

// unserved says why a class has no answer, with the way out.
func (s *served) unserved() Unserved {
	u := Unserved{Name: s.Name(), Why: "nothing fits", Facts: s.Line, Hosts: s.Hosts}
	if len(s.brief.Why) > 0 {
		u.Why, u.Hint = s.brief.Why[0].Text, s.brief.Why[0].Hint
	}
	switch {
	case s.brief.Decision == resolver.Split:
		u.Hint = "plan for a part of its GPUs: `--gpus LIST` on that machine"
	case u.Hint == "":
		u.Hint = "`envfix plan --facts FILE` with its facts names the nearest other answers"
	}
	return u
}

// Name is a class in words.
func (c *Class) Name() string {
	var parts []string
	for _, g := range c.Facts.GPUs {
		name := strings.TrimPrefix(strings.TrimPrefix(g.Name, "NVIDIA "), "GeForce ")
		switch {
		case g.MIG != "":
			name += " MIG " + g.MIG
		case !g.SM.IsZero():
			name += " (" + g.SM.String() + ")"
		case g.GFX != "":
			name += " (" + g.GFX + ")"
		}
		parts = xslices.Add(parts, name)
	}
	if len(parts) == 0 {
		parts = []string{"no GPU"}
	}
	out := strings.Join(parts, " + ")
	if d := c.Facts.Driver; d != nil {
		out += ", driver " + d.Version.String()
	} else if len(c.Facts.GPUs) > 0 && c.Facts.GPUs[0].Vendor == "nvidia" {
		out += ", no driver"
	}
	p := c.Facts.Platform
	if p.OS != "linux" {
		return out + ", " + p.OS + " " + p.Arch
	}
	out += say.If(p.Arch != "x86_64", ", "+p.Arch)
	if p.Libc != nil && !p.Libc.Version.IsZero() {
		out += ", " + p.Libc.Kind + " " + p.Libc.Version.String()
	}
	return out
}

// PlanPairs reads the groups of a plan that was written as JSON. Its error says that
// the text is none.
func PlanPairs(text []byte) ([]Pair, error) {
	var p struct {
		Groups []Pair `json:"groups"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	if p.Groups == nil {
		return nil, errors.New("no groups")
	}
	return p.Groups, nil
}
