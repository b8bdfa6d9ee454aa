package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// nearest lists the smallest single changes that would allow more, best first.
// Each is proven by resolving again with that change.
func (s *solver) nearest(o *outcome) []Nearest {
	if o.Decision == NeedTarget || o.Decision == UseVendorIndex || s.torchless() || s.frameworksAlone() {
		return nil
	}
	var out, last []Nearest // last are those that hardly serve
	try := func(change string, t *solver, better func(*Choice) bool) {
		if t == nil {
			return
		}
		made := t.answer()
		c := made.reached(o)
		switch {
		case c == nil || c.Torch == "" || !better(c):
			return
		case made.Decision == InstallCPU && len(s.gpus) > 0:
			return // a CPU build is no way out for a GPU
		case o.Decision == UpgradeDriver && made.Choice == nil:
			return // what is sought is a way without the driver
		case otherDriver(o, made):
			return // a second change
		}
		n := Nearest{Change: change, Torch: c.Torch, Build: c.Build, Python: c.Python, Note: made.note()}
		list := &out
		if made.doubtful() {
			list = &last
		}
		if !slices.ContainsFunc(append(slices.Clone(out), last...), func(x Nearest) bool { return x.Change == n.Change }) {
			*list = append(*list, n)
		}
	}
	have := o.settled()
	more := func(c *Choice) bool { return have == nil || o.Decision == UpgradeDriver || newer(c, have) }
	s.nearestRequest(o, try, more)
	s.nearestPython(o, try, more)
	if len(s.vendor(machine.NVIDIA)) > 0 {
		s.nearestDriver(o, &out, try, more)
		s.nearestGPU(try, more)
	}
	s.nearestBuild(o, try)
	return append(out, last...)
}

// otherDriver reports whether a changed question needs a driver installed where
// the answer at hand leads to something without one.
func otherDriver(o, made *outcome) bool {
	return o.settled() != nil && o.Driver.Branch == "" && made.Driver.Branch != ""
}

// settled is the choice that an answer leads to: its own, or after the driver
// change that it proposes.
func (o *outcome) settled() *Choice {
	if o.Choice != nil {
		return o.Choice
	}
	return o.Then
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
	v, err1 := version.ParsePython(a.Torch)
	w, err2 := version.ParsePython(b.Torch)
	return err1 == nil && err2 == nil && v.Compare(w) > 0
}

type tryFunc func(change string, t *solver, better func(*Choice) bool)

// nearestRequest drops or relaxes one part of the request at a time.
func (s *solver) nearestRequest(o *outcome, try tryFunc, more func(*Choice) bool) {
	s.otherTorch(o, try, more)
	s.otherBuild(try, more)
	s.otherSource(try, more)
	if s.req.JIT {
		try("drop `--jit`", s.with(func(r *Request) { r.JIT = false }), more)
	}
	for _, name := range s.askedNames() {
		try("without "+name, s.with(func(r *Request) {
			r.Requirements = slices.DeleteFunc(slices.Clone(r.Requirements), func(q pep508.Requirement) bool { return q.Name == name })
			if len(r.Requirements) == 0 {
				r.Requirements = []pep508.Requirement{{Name: "torch", Text: "torch"}}
			}
		}), more)
	}
}

// otherTorch asks for another torch: without its label, its version, its file.
func (s *solver) otherTorch(o *outcome, try tryFunc, more func(*Choice) bool) {
	if t := s.req.torchText(); t != "" && t != "torch" || s.labelsAsked() {
		u := s.with(func(r *Request) { r.Requirements = unpinnedTorch(r.Requirements) })
		if s.labelsAsked() {
			try("drop the label"+plural(s.req.labelled()), s.with(func(r *Request) { r.Requirements = unlabelled(r.Requirements) }), more)
		}
		if u != nil {
			if c := u.answer().reached(o); c != nil && more(c) {
				try("torch "+c.Torch, u, more)
				s.closestTorch(o, u, c, try)
			}
		}
	}
	s.nearestVersions(o, try, more)
	if q, ok := s.req.fileAsked(); ok {
		named, ok := byName(q)
		if !ok { // as `pip freeze` writes what conda installed
			named = pep508.Requirement{Name: q.Name, Extras: q.Extras, Marker: q.Marker, Text: q.Name}
		}
		try("`"+named.Text+"` instead of the file", s.with(func(r *Request) { r.Requirements = inPlaceOf(r.Requirements, q, named) }), more)
	}
}

// otherBuild asks for another CUDA or build: one that exists, or any.
func (s *solver) otherBuild(try tryFunc, more func(*Choice) bool) {
	r := s.req.Request
	if s.req.conflict != "" && s.req.Build != "" {
		try("drop `--build "+r.Build+"`", s.with(func(r *Request) { r.Build = "" }), more)
	}
	if s.nonexistent() != "" {
		atAll := func(*Choice) bool { return true }
		near, build := s.nearestAsk()
		if near != "" {
			try("--cuda "+near, s.with(func(r *Request) { r.CUDA = near }), atAll)
		}
		if build != "" {
			try("--build "+build, s.with(func(r *Request) { r.Build = build }), atAll)
		}
	}
	if r.CUDA != "" {
		try("drop `--cuda "+r.CUDA+"`", s.with(func(r *Request) { r.CUDA = "" }), more)
	}
	if r.Build != "" {
		try("drop `--build "+r.Build+"`", s.with(func(r *Request) { r.Build = "" }), more)
	}
}

// otherSource asks for another place that torch comes from: a manager, what a policy
// admits, a channel, an index.
func (s *solver) otherSource(try tryFunc, more func(*Choice) bool) {
	r := s.req.Request
	if s.req.conda() {
		try("drop `--manager "+r.Manager+"`", s.with(func(r *Request) { r.Manager = "" }), more)
	}
	if t := s.throughConda(); t != nil && len(s.req.packages) == 0 && len(s.gpus) > 0 {
		try("--manager conda", t, more)
	}
	if r.Policy != nil {
		try("without the team's policy", s.with(func(r *Request) { r.Policy = nil }), more)
	}
	if torch := s.req.exactTorch(); r.Channel != "nightly" && strings.Contains(torch, ".dev") && nightlyDay().MatchString(torch) {
		try("--channel nightly", s.with(func(r *Request) { r.Channel = "nightly" }), more)
	} else if r.Channel != "" {
		try("drop `--channel "+r.Channel+"`", s.with(func(r *Request) { r.Channel = "" }), more)
	}
	if r.OnlyIndex == "" && len(s.gpus) == 0 { // a CUDA build computes on the CPU, too
		try("--only-index default", s.with(func(r *Request) { r.OnlyIndex = "default" }), more)
	}
	if r.OnlyIndex != "" {
		try("drop `--only-index "+text.Cut(r.OnlyIndex, 80)+"`", s.with(func(r *Request) { r.OnlyIndex = "" }), more)
	}
	if r.CPU && r.OnlyIndex != "" {
		try("drop `--cpu`", s.with(func(r *Request) { r.CPU = false }), more)
	}
}

// nearestVersions drops the version of one package at a time, and names the one that then
// goes with the rest.
func (s *solver) nearestVersions(o *outcome, try tryFunc, more func(*Choice) bool) {
	for _, r := range s.req.packages {
		if r.Spec.IsZero() || r.URL != "" || !s.known(r.Name) || s.isFramework(r.Name) {
			continue
		}
		u := s.with(func(w *Request) {
			for i := range w.Requirements {
				if w.Requirements[i].Name == r.Name {
					w.Requirements[i].Spec, w.Requirements[i].Text = version.Specifier{}, r.Name
				}
			}
		})
		if u == nil {
			continue
		}
		if c := u.answer().reached(o); c != nil && more(c) && c.Packages[r.Name] != "" {
			try(r.Name+" "+c.Packages[r.Name], u, more)
		}
	}
}

func (s *solver) labelsAsked() bool { return len(s.req.labelled()) > 0 }

func plural(reqs []pep508.Requirement) string {
	var l []string
	for _, r := range reqs {
		if x := "+" + r.Label; !slices.Contains(l, x) {
			l = append(l, x)
		}
	}
	if len(l) > 1 {
		return "s " + strings.Join(l, ", ")
	}
	return " " + strings.Join(l, "")
}

// askedNames are the packages other than torch that were named.
func (s *solver) askedNames() []string {
	var out []string
	for _, r := range s.req.Requirements {
		if r.Name != "torch" && !slices.Contains(out, r.Name) {
			out = append(out, r.Name)
		}
	}
	return out
}

// unpinnedTorch drops the versions and labels of torch and its companions.
func unpinnedTorch(reqs []pep508.Requirement) []pep508.Requirement {
	out := unlabelled(reqs)
	for i := range out {
		if out[i].Name == "torch" || slices.Contains(companions, out[i].Name) {
			out[i].Spec, out[i].Text = version.Specifier{}, out[i].Name
		}
	}
	return out
}

// nearestPython names the one other Python that allows most, the closest of
// those that allow as much.
func (s *solver) nearestPython(o *outcome, try tryFunc, more func(*Choice) bool) {
	now := s.pythons()
	if len(now) == 0 || o.Decision == Split {
		return // GPUs that need two environments need them on every Python worth having
	}
	var best *solver
	var bestChoice *Choice
	var bestPy py
	for _, p := range s.knownPythons() {
		if p == now[0] {
			continue
		}
		t := s.with(func(r *Request) { r.Python = p.String() })
		if o.Decision == Install && t.ask(o.q.accel, o.q.gpus, o.q.drv, p).best() == nil || t.hopelessWith(p) {
			continue
		}
		made := t.answer()
		c := made.reached(o)
		if c == nil || !more(c) || otherDriver(o, made) || made.Decision == InstallCPU && len(s.gpus) > 0 || o.Decision == UpgradeDriver && made.Choice == nil {
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
func (s *solver) hopelessWith(p py) bool {
	gpus := s.vendor(machine.NVIDIA)
	if len(gpus) == 0 || s.req.accel() == cpu || s.tegra() || slices.ContainsFunc(gpus, func(g machine.GPU) bool { return !g.Visible }) {
		return false
	}
	able, _ := s.able(gpus)
	return len(able) > 0 && s.ask(cuda, able, ideal(), p).best() == nil
}

func distance(a, b py) int {
	d := a.compare(b)
	if d < 0 {
		return -d
	}
	return d
}

// nearestDriver names the driver branch that would allow a newer torch.
func (s *solver) nearestDriver(o *outcome, out *[]Nearest, try tryFunc, more func(*Choice) bool) {
	if o.Decision != Install && o.Decision != Partial || s.h.Driver == nil || !s.installed().compared {
		return
	}
	b, _, _, ok := s.recommend(o.q.gpus, s.h.Driver.Version)
	if !ok {
		return
	}
	t := *s
	d := *s.h.Driver
	t.h.Driver, t.answered = &d, nil
	on := s.onBranch(b, o.q.gpus)
	d.Version, d.LoadedVersion, d.KernelModule = on.version, version.Dotted{}, on.module
	try(fmt.Sprintf("driver %d", b.Number), &t, more)
	if i := slices.IndexFunc(*out, func(n Nearest) bool { return n.Change == fmt.Sprintf("driver %d", b.Number) }); i >= 0 {
		(*out)[i].Note = s.undriven(b)
	}
}

// nearestGPU leaves out one GPU, or all of one generation.
func (s *solver) nearestGPU(try tryFunc, more func(*Choice) bool) {
	gpus := s.vendor(machine.NVIDIA)
	if len(gpus) < 2 {
		return
	}
	for _, sm := range sms(gpus) {
		var left []int
		var out []machine.GPU
		for _, g := range gpus {
			if g.SM == sm {
				out = append(out, g)
			} else {
				left = append(left, g.Index)
			}
		}
		if len(left) == 0 {
			left, out = []int{gpus[0].Index}, gpus[1:]
		}
		try("leave out "+gpuNames(out), s.with(func(r *Request) { r.GPUs = left }), more)
	}
}

// nearestBuild names a build that PyTorch does not advertise, where it would
// bring a newer torch.
func (s *solver) nearestBuild(o *outcome, try tryFunc) {
	if s.req.label != "" || o.q == nil || s.req.conda() {
		return
	}
	if o.q.accel == cpu && o.Decision == NoSolution {
		try("--build cpu (nobody has seen the wheel)", s.with(func(r *Request) { r.Build = cpu }), func(*Choice) bool { return true })
	}
	if o.q.accel != cuda {
		return
	}
	have := o.settled()
	tried := map[string]bool{}
	for _, r := range s.m.Releases {
		for _, b := range r.Builds {
			if b.Status == matrix.Offered || b.Status == matrix.NotSeen || b.OS != s.h.Platform.OS || b.Arch != s.h.Platform.Arch || tried[b.Label] {
				continue
			}
			tried[b.Label] = true
			try("--build "+b.Label+" (not advertised)", s.with(func(r *Request) { r.Build = b.Label }), func(c *Choice) bool { return have == nil || newer(c, have) })
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
