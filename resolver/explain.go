package resolver

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// finish adds to a bare answer what explains it: reasons, warnings, what a newer
// choice was held back by, the nearest other answers and the alternatives.
func (s advice) finish(o *outcome) *Resolution {
	o.Warnings = append(o.Warnings, s.p.warnings...)
	switch {
	case o.build != nil:
		o.Reasons = append(o.Reasons, text.Each(o.q.words(o.build), func(w Word) Reason { return Reason{Rule: w.Rule, Text: w.Text, Source: w.Source} })...)
		o.Warnings = slices.Concat(s.newerElsewhere(o), o.Warnings, o.q.remarks().remarks(o.build))
		o.Warnings = append(o.Warnings, s.p.vendors().leftToOthers(o.q)...)
		o.HeldBack = o.q.heldBack(o.build)
	case o.q != nil && o.Decision == NoSolution:
		o.Reasons = append(o.Reasons, o.q.why()...)
	}
	if s.p.lead != "" && o.Decision == NoSolution {
		o.Reasons = append(o.Reasons, Reason{Rule: "request", Text: NoTorch})
	}
	other := s.p.chooser().notAsAsked(o.Fallback)
	o.Moved, o.Warnings = len(other) > 0, append(o.Warnings, other...)
	s.p.underPolicy(o)
	o.Warnings = append(o.Warnings, s.installedWarnings(o)...)
	o.Warnings = unique(o.Warnings)
	o.Nearest = s.nearest(o)
	o.Alternatives = s.alternatives(o)
	if o.Decision == NoSolution && len(o.Nearest) == 0 && len(o.Alternatives) == 0 {
		o.Alternatives = s.lastResort()
	}
	if m := s.p.req.Manager; m == managers.Usual || m == "" && (o.Choice == nil || o.Choice.Channel == "pip") {
		o.Alternatives, o.Warnings = text.Each(o.Alternatives, ofUV.Replace), text.Each(o.Warnings, ofUV.Replace)
	}
	if s.p.h.Platform.OS == "windows" {
		o.Alternatives = text.Each(o.Alternatives, text.OnWindows)
	}
	return &o.Resolution
}

// ofUV has uv do what is to be done by hand: an environment of its own has no pip.
var ofUV = strings.NewReplacer("uv pip install ", "uv pip install ", "pip install ", "uv pip install ")

var turing = machine.SM{Major: 7, Minor: 5}

// A candidate is a build with what speaks against it.
type candidate struct {
	b  *matrix.Build
	rs []Reason
}

// candidates are the refused builds that the request admits, else those whose torch it
// admits, else the rest; newest first.
func (q *attempt) candidates() []candidate {
	var lists [3][]candidate
	q.p.builds(func(b *matrix.Build) {
		if kind := accelOf(b.Label); kind != q.accel && !(kind == mps && q.accel == cpu) {
			return
		}
		c := candidate{b, q.refusals(b)}
		if len(c.rs) == 0 {
			return
		}
		at := 0
		if requestRule(q, b) != nil {
			at = 2 - boolInt(q.p.admitsTorch(b.Release.Torch))
		}
		lists[at] = append(lists[at], c)
	})
	list, _ := xslices.Find(lists[:], func(list []candidate) bool { return len(list) > 0 })
	return list
}

// why says why nothing passes: one refusal per candidate, newest first.
func (q *attempt) why() []Reason {
	const most = 4
	list := q.candidates()
	all := text.Each(list, func(c candidate) []Reason { return c.rs })
	builds := text.Each(list, func(c candidate) *matrix.Build { return c.b })
	if slices.ContainsFunc(all, func(rs []Reason) bool { return weight(weightiest(rs).Rule) < weight("gpu-code") }) { // else none would run alone
		if r, ok := q.refusedByAll(builds); ok {
			return []Reason{r}
		}
		if r, ok := common(all); ok {
			return []Reason{r}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return len(list[i].rs) < len(list[j].rs) }) // the nearest misses first
	said := map[string]bool{}
	list = slices.DeleteFunc(list, func(c candidate) bool {
		text := weightiest(c.rs).Text
		if said[text] || len(said) == most {
			return true // older builds say the same
		}
		said[text] = true
		return false
	})
	sort.SliceStable(list, func(i, j int) bool { return q.p.cache.newerTorch(list[i].b, list[j].b) > 0 })
	out := text.Each(list, func(c candidate) Reason {
		r := weightiest(c.rs)
		r.Text = torchName(c.b) + ": " + r.Text
		return r
	})
	if len(out) == 0 {
		text := fmt.Sprintf("PyTorch publishes no %s build for %s %s", q.accel, q.p.h.Platform.OS, q.p.h.Platform.Arch)
		if q.p.req.Channel != "" && len(q.p.m.Releases) > 0 {
			text = fmt.Sprintf("what the %s channel has for %s is not known: no %s build of the newest release, torch %s, was seen for %s %s",
				q.p.req.Channel, q.accel, q.accel, q.p.m.Releases[0].Torch, q.p.h.Platform.OS, q.p.h.Platform.Arch)
		}
		if q.p.lead != "" {
			text = q.fits().noneOf(q.p.lead)
		}
		out = []Reason{{Rule: "platform", Text: text}}
	}
	return out
}

// refusedByAll is what speaks against one package of the request beside every candidate,
// where several were asked for: of each candidate only the first package is named.
func (q *attempt) refusedByAll(builds []*matrix.Build) (Reason, bool) {
	if len(q.p.req.packages) < 2 || len(builds) < 2 || q.p.req.conda() {
		return Reason{}, false
	}
	e := *q
	e.explain = true
	for i, r := range q.p.req.packages {
		first := e.refused(i, r, builds[0])
		if first != nil && !slices.ContainsFunc(builds[1:], func(b *matrix.Build) bool {
			why := e.refused(i, r, b)
			return why == nil || why.Text != first.Text
		}) {
			first.Rule = "companions"
			return *first, true
		}
	}
	return Reason{}, false
}

// common is what a package is refused for beside every candidate: it is no fault of any
// torch, and what else speaks against some of them explains nothing.
func common(lists [][]Reason) (Reason, bool) {
	if len(lists) < 2 {
		return Reason{}, false
	}
	for _, r := range lists[0] {
		same := func(x Reason) bool { return x.Rule == r.Rule && x.Text == r.Text }
		if r.Rule == "companions" && !slices.ContainsFunc(lists, func(list []Reason) bool { return !slices.ContainsFunc(list, same) }) {
			return r, true
		}
	}
	return Reason{}, false
}

// weightiest is the refusal that explains most.
func weightiest(rs []Reason) Reason {
	return slices.MaxFunc(rs, func(a, b Reason) int { return weight(a.Rule) - weight(b.Rule) })
}

// weight orders rules by how much their word explains: that a wheel does not
// exist for this system says more than that another was asked for.
func weight(rule string) int {
	return slices.Index(
		[]string{"request", "source", "policy", "jit", "companions", "stack", "defects", "driver-floor", "driver-gpu", "python", "gpu-code", "platform"},
		rule,
	)
}

// installedWarnings say what an environment's present packages mean for the
// choice: a build that pip would wrongly keep, and packages that the new torch
// breaks.
func (s advice) installedWarnings(o *outcome) []string {
	c := o.settled()
	if c == nil || c.Torch == "" {
		return nil
	}
	var out []string
	for _, p := range s.p.h.Installed {
		public, label := version.SplitLocal(p.Version)
		if machine.NormalName(p.Name) == "torch" {
			kept := say.If(public == c.Torch && c.Channel == "pip", "; pip and uv would keep it, because a local label never decides")
			if label != "" && label != c.Build {
				out = append(out, fmt.Sprintf("torch %s is installed%s: it is replaced by the %s build", text.Cut(p.Version, 80), kept, c.Build))
			}
			continue
		}
		if _, mine := c.Packages[machine.NormalName(p.Name)]; mine {
			continue
		}
		if why := s.breaks(p, c.Torch); why != "" {
			out = append(out, fmt.Sprintf("%s %s is installed and %s: torch %s breaks it", text.Cut(p.Name, 80), text.Cut(p.Version, 80), why, c.Torch))
		}
	}
	return out
}

// breaks says what an installed package demands that a torch does not give.
func (s advice) breaks(p machine.Package, torch string) string {
	v, err := version.ParsePython(torch)
	if err != nil {
		return ""
	}
	for _, line := range p.Requires {
		r, err := pep508.Parse(line, "")
		if err == nil && r.Name == "torch" && r.Marker == "" && !r.Spec.Admits(v) {
			return "needs torch" + r.Spec.String()
		}
	}
	public, _ := version.SplitLocal(p.Version)
	name := machine.NormalName(p.Name)
	for _, e := range s.p.wheels(name) {
		if e.Version.String() == public && !e.Sdist && !e.Torch.Admits(v) {
			return "needs torch" + e.Torch.String()
		}
	}
	r, ok := xslices.Find(s.p.m.Releases, func(r *matrix.Release) bool {
		w, ok := r.Companions[name]
		return ok && w.String() == public && slices.Contains(companions, name)
	})
	if ok && r.Torch.String() != torch {
		return "goes with torch " + r.Torch.String()
	}
	return ""
}

func unique(list []string) []string {
	return slices.DeleteFunc(xslices.Once(text.Each(list, strings.TrimSpace)), func(s string) bool { return s == "" })
}
