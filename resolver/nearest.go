package resolver

import (
	"cmp"
	"fmt"
	"slices"
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

// nearest lists the smallest single changes that would allow more, best first.
// Each is proven by resolving again with that change.
func (s advice) nearest(o *outcome) []Nearest {
	if o.Decision == NeedTarget || o.Decision == UseVendorIndex || s.p.built {
		return nil
	}
	var out, last []Nearest // last are those that hardly serve
	try := func(change string, t *problem, better func(*Choice) bool) {
		if t == nil {
			return
		}
		made := t.chooser().answer()
		c := s.wayOut(o, made, better)
		if c == nil {
			return
		}
		n := Nearest{Change: change, Torch: c.Torch, Build: c.Build, Python: c.Python, Note: made.note()}
		list := say.Either(n.Note != "", &last, &out)
		if !slices.ContainsFunc(append(slices.Clone(out), last...), func(x Nearest) bool { return x.Change == n.Change }) {
			*list = append(*list, n)
		}
	}
	have := o.settled()
	more := func(c *Choice) bool {
		return have == nil || o.Decision == UpgradeDriver || newer(c, have) || c.Torch == "" && c.CUDA != "" && have.CUDA == ""
	}
	s.nearestRequest(o, try, more)
	s.nearestPython(o, try, more)
	if len(s.p.vendor(machine.NVIDIA)) > 0 {
		s.nearestDriver(o, &out, try, more)
		s.nearestGPU(try, more)
	}
	s.nearestBuild(o, try)
	return append(out, last...)
}

// wayOut is what a changed question leads to, where that is a way out of an answer; nil
// where it is none.
func (s advice) wayOut(o, made *outcome, better func(*Choice) bool) *Choice {
	c := made.reached(o)
	switch {
	case c == nil || c.Torch == "" && s.p.lead == "" || !better(c),
		made.Decision == InstallCPU && len(s.p.gpus) > 0,                        // no way out for a GPU
		o.Decision == UpgradeDriver && made.Choice == nil,                       // what is sought is a way without the driver
		o.settled() != nil && o.Driver.Branch == "" && made.Driver.Branch != "": // a second change
		return nil
	}
	return c
}

// settled is the choice that an answer leads to: its own, or after the driver
// change that it proposes.
func (o *outcome) settled() *Choice {
	return cmp.Or(o.Choice, o.Then)
}

// reached is what a changed question leads to. Where the answer at hand needs no
// driver change, neither may the other: that would be two changes.
func (o *outcome) reached(from *outcome) *Choice {
	if from.Choice != nil || o.Choice != nil {
		return o.Choice
	}
	return o.Then
}

func newer(a, b *Choice) bool {
	w := version.Public(b.Torch)
	return !w.IsZero() && version.Public(a.Torch).Compare(w) > 0
}

type tryFunc func(change string, t *problem, better func(*Choice) bool)

// nearestRequest drops or relaxes one part of the request at a time.
func (s advice) nearestRequest(o *outcome, try tryFunc, more func(*Choice) bool) {
	s.otherTorch(o, try, more)
	for _, c := range s.changes() {
		if c.asked {
			try(c.words, s.p.with(c.make), more)
		}
	}
	for _, name := range s.askedNames() {
		if s.p.lead != "" && len(s.p.req.packages) == 1 {
			break // nothing would be left of what was asked for
		}
		try("without "+name, s.p.without(name), more)
	}
	if o.settled() != nil {
		return
	}
	if none := s.fitNothing(); len(none) > 1 {
		try("without "+strings.Join(none, ", "), s.p.without(none...), more)
	}
}

// A change asks otherwise for one part of a request.
type change struct {
	asked bool // the request has that part
	words string
	make  func(*Request)
}

// changes are those of what flags and a policy say: another CUDA or build that exists, or
// any; another place that torch comes from.
func (s advice) changes() []change {
	r, torch := s.p.req.Request, s.p.req.exactTorch()
	near, build := "", ""
	if s.p.naming().nonexistent() != "" {
		near, build = s.p.naming().nearestAsk()
	}
	toConda := len(s.p.req.packages) == 0 && len(s.p.gpus) > 0 && s.p.chooser().throughConda() != nil
	nightly := r.Channel != "nightly" && strings.Contains(torch, ".dev") && nightlyDay().MatchString(torch)
	anyBuild := func(r *Request) { r.Build = "" }
	onWindows := s.p.h.Platform.OS == "windows" && slices.Contains(s.askedNames(), "triton")
	written, _ := xslices.Find(r.Requirements, func(q pep508.Requirement) bool { return q.Name == "triton" })
	toWindows := func(r *Request) {
		r.Requirements = inPlaceOf(r.Requirements, written, pep508.Requirement{Name: "triton-windows", Text: "triton-windows"})
	}
	return []change{
		{onWindows, "triton-windows in place of triton", toWindows},
		{s.p.req.conflict != "" && r.Build != "", "drop `--build " + r.Build + "`", anyBuild},
		{near != "", "--cuda " + near, func(r *Request) { r.CUDA = near }},
		{build != "", "--build " + build, func(r *Request) { r.Build = build }},
		{r.CUDA != "", "drop `--cuda " + r.CUDA + "`", func(r *Request) { r.CUDA = "" }},
		{r.Build != "", "drop `--build " + r.Build + "`", anyBuild},
		{s.p.req.conda(), "--manager " + managers.Usual, func(r *Request) { r.Manager = "" }},
		{toConda, "--manager conda", func(r *Request) { r.Manager = managers.Conda()[0] }},
		{r.Policy != nil, "without the team's policy", func(r *Request) { r.Policy = nil }},
		{nightly, "--channel nightly", func(r *Request) { r.Channel = "nightly" }},
		{!nightly && r.Channel != "", "drop `--channel " + r.Channel + "`", func(r *Request) { r.Channel = "" }},
		// a CUDA build computes on the CPU, too
		{r.OnlyIndex == "" && len(s.p.gpus) == 0, "--only-index default", func(r *Request) { r.OnlyIndex = "default" }},
		{r.OnlyIndex != "", "drop `--only-index " + text.Cut(r.OnlyIndex, 80) + "`", func(r *Request) { r.OnlyIndex = "" }},
		{r.CPU && r.OnlyIndex != "", "drop `--cpu`", func(r *Request) { r.CPU = false }},
		{r.JIT, "drop `--jit`", func(r *Request) { r.JIT = false }},
	}
}

// fitNothing are the packages that have no answer here, each asked for alone.
func (s advice) fitNothing() (none []string) {
	names := s.askedNames()
	for _, name := range names {
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		if s.p.without(others...).chooser().answer().settled() == nil {
			none = append(none, name)
		}
	}
	return none
}

// asking is the problem that asks otherwise for a package.
func (p *problem) asking(name string, change func(*pep508.Requirement)) *problem {
	return p.with(func(r *Request) {
		for i := range r.Requirements {
			if q := &r.Requirements[i]; q.Name == name {
				change(q)
			}
		}
	})
}

// without is the problem without some of the packages that were asked for.
func (p *problem) without(names ...string) *problem {
	return p.with(func(r *Request) {
		r.Requirements = slices.DeleteFunc(slices.Clone(r.Requirements), func(q pep508.Requirement) bool { return slices.Contains(names, q.Name) })
		if len(r.Requirements) == 0 {
			r.Requirements = []pep508.Requirement{{Name: "torch", Text: "torch"}}
		}
	})
}

// otherTorch asks for another torch: without its label, its version, its file.
func (s advice) otherTorch(o *outcome, try tryFunc, more func(*Choice) bool) {
	if t := s.p.req.torchText(); t != "" && t != "torch" || s.labelsAsked() {
		u := s.p.with(func(r *Request) { r.Requirements = unpinnedTorch(r.Requirements) })
		if s.labelsAsked() {
			try("drop the label"+plural(s.p.req.labelled()), s.p.with(func(r *Request) { r.Requirements = unlabelled(r.Requirements) }), more)
		}
		if u != nil {
			if c := u.chooser().answer().reached(o); c != nil && more(c) {
				try("torch "+c.Torch, u, more)
				s.closestTorch(o, u, c, try)
			}
		}
	}
	s.nearestVersions(o, try, more)
	if q, ok := s.p.req.fileAsked(); ok {
		named, ok := byName(q)
		if !ok { // as `pip freeze` writes what conda installed
			named = pep508.Requirement{Name: q.Name, Extras: q.Extras, Marker: q.Marker, Text: q.Name}
		}
		try("`"+named.Text+"` instead of the file", s.p.with(func(r *Request) { r.Requirements = inPlaceOf(r.Requirements, q, named) }), more)
	}
}

// nearestVersions drops the version of one package at a time, and names the one that then
// goes with the rest.
func (s advice) nearestVersions(o *outcome, try tryFunc, more func(*Choice) bool) {
	for _, r := range s.p.req.packages {
		if r.Spec.IsZero() || r.URL != "" || !s.p.known(r.Name) || s.p.isFramework(r.Name) {
			continue
		}
		u := s.p.asking(r.Name, func(q *pep508.Requirement) { q.Spec, q.Text = version.Specifier{}, r.Name })
		if u == nil {
			continue
		}
		if c := u.chooser().answer().reached(o); c != nil && more(c) && c.Packages[r.Name] != "" {
			try(r.Name+" "+c.Packages[r.Name], u, more)
		}
	}
}

func (s advice) labelsAsked() bool { return len(s.p.req.labelled()) > 0 }

func plural(reqs []pep508.Requirement) string {
	labels := strings.Join(xslices.Once(text.Each(reqs, func(r pep508.Requirement) string { return "+" + r.Label })), ", ")
	return say.Either(strings.Contains(labels, ", "), "s "+labels, " "+labels)
}

// askedNames are the packages other than torch that were named; what those bring goes with them.
func (s advice) askedNames() []string {
	asked := xslices.Filter(s.p.req.Requirements, func(r pep508.Requirement) bool { return r.Name != "torch" && r.From != OfOthers })
	return xslices.Once(pep508.Names(asked))
}

// nearestPython names the one other Python that allows most, the closest of
// those that allow as much.
func (s advice) nearestPython(o *outcome, try tryFunc, more func(*Choice) bool) {
	now := s.p.pythons()
	if len(now) == 0 || o.Decision == Split {
		return // GPUs that need two environments need them on every Python worth having
	}
	var best *problem
	var bestChoice *Choice
	var bestPy py
	for _, p := range s.p.cache.every() {
		if p == now[0] {
			continue
		}
		t := s.p.with(func(r *Request) { r.Python = p.String() })
		if o.Decision == Install && t.ask(o.q.accel, o.q.gpus, o.q.drv, p).best() == nil || t.advice().hopelessWith(p) {
			continue
		}
		c := s.wayOut(o, t.chooser().answer(), more)
		if c == nil {
			continue
		}
		if bestChoice == nil || newer(c, bestChoice) || !newer(bestChoice, c) && distance(p, now[0]) < distance(bestPy, now[0]) {
			best, bestChoice, bestPy = t, c, p
		}
	}
	if best != nil {
		try("python "+bestPy.String(), best, more)
	}
}

// hopelessWith reports whether no build serves all of the NVIDIA GPUs with a Python
// whatever the driver: then no one environment does, and decide need not be asked.
func (s advice) hopelessWith(p py) bool {
	gpus := s.p.vendor(machine.NVIDIA)
	if len(gpus) == 0 || s.p.req.accel() == cpu || s.p.tegra() || slices.ContainsFunc(gpus, func(g machine.GPU) bool { return !g.Visible }) {
		return false
	}
	able, _ := s.p.chooser().able(gpus)
	return len(able) > 0 && s.p.ask(cuda, able, ideal(), p).best() == nil
}

func distance(a, b py) int {
	return max(a.compare(b), b.compare(a))
}

// nearestDriver names the driver branch that would allow a newer torch.
func (s advice) nearestDriver(o *outcome, out *[]Nearest, try tryFunc, more func(*Choice) bool) {
	if o.Decision != Install && o.Decision != Partial || s.p.h.Driver == nil || !s.p.installed().compared {
		return
	}
	b, _, _, ok := s.p.chooser().recommend(o.q.gpus, s.p.h.Driver.Version)
	if !ok {
		return
	}
	t := s.p.unanswered()
	d := *s.p.h.Driver
	t.h.Driver = &d
	on := s.p.onBranch(b, o.q.gpus)
	d.Version, d.LoadedVersion, d.KernelModule = on.version, version.Dotted{}, on.module
	try(fmt.Sprintf("driver %d", b.Number), t, more)
	if i := slices.IndexFunc(*out, func(n Nearest) bool { return n.Change == fmt.Sprintf("driver %d", b.Number) }); i >= 0 {
		(*out)[i].Note = s.p.chooser().undriven(b)
	}
}

// nearestGPU leaves out one GPU, or all of one generation.
func (s advice) nearestGPU(try tryFunc, more func(*Choice) bool) {
	gpus := s.p.vendor(machine.NVIDIA)
	if len(gpus) < 2 {
		return
	}
	for _, sm := range sms(gpus) {
		same := func(g machine.GPU) bool { return g.SM == sm }
		out, left := xslices.Filter(gpus, same), slices.DeleteFunc(slices.Clone(gpus), same)
		if len(left) == 0 {
			left, out = gpus[:1], gpus[1:]
		}
		try("leave out "+gpuNames(out), s.p.with(func(r *Request) { r.GPUs, _ = visible(left) }), more)
	}
}

// nearestBuild names a build that PyTorch does not advertise, where it would
// bring a newer torch.
func (s advice) nearestBuild(o *outcome, try tryFunc) {
	if s.p.req.label != "" || o.q == nil || s.p.req.conda() {
		return
	}
	if o.q.accel == cpu && o.Decision == NoSolution {
		try("--build cpu (nobody has seen the wheel)", s.p.with(func(r *Request) { r.Build = cpu }), func(*Choice) bool { return true })
	}
	if o.q.accel != cuda {
		return
	}
	have := o.settled()
	tried := map[string]bool{}
	for _, r := range s.p.m.Releases {
		for _, b := range r.Builds {
			if b.Status == matrix.Offered || b.Status == matrix.NotSeen || b.OS != s.p.h.Platform.OS || b.Arch != s.p.h.Platform.Arch || tried[b.Label] {
				continue
			}
			tried[b.Label] = true
			try("--build "+b.Label+" (not advertised)", s.p.with(func(r *Request) { r.Build = b.Label }), func(c *Choice) bool { return have == nil || newer(c, have) })
		}
	}
}

// inPlaceOf puts one requirement where another stands.
func inPlaceOf(reqs []pep508.Requirement, old, with pep508.Requirement) []pep508.Requirement {
	out := slices.Clone(reqs)
	for i := range out {
		if out[i].Text == old.Text {
			out[i] = with
		}
	}
	return out
}
