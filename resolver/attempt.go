package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// An attempt is what is asked at once: the GPUs in use, one driver, one Python. Rules
// answer it for one build at a time.
type attempt struct {
	p       *problem
	accel   string        // what the build has to be for
	gpus    []machine.GPU // in use, of those that the request admits
	drv     driver
	py      py
	explain bool // refusals carry their sentences; false is faster
}

// ask returns an attempt about some GPUs of one vendor.
func (s *problem) ask(accel string, gpus []machine.GPU, d driver, p py) *attempt {
	return &attempt{p: s, accel: accel, gpus: gpus, drv: d, py: p}
}

// builds calls f for every build for this system, newest torch first.
func (s *problem) builds(f func(*matrix.Build)) {
	list := s.cache.wheels
	if s.lead != "" {
		list = s.framework(s.lead)
	}
	if s.req.conda() {
		list = s.cache.conda()
	}
	if s.req.Channel != "" {
		list = remembered(s.cache.channel, s.req.Channel+s.req.exactTorch(), s.listChannel)
	}
	for _, b := range list {
		f(b)
	}
}

// passes reports whether every rule lets a build through.
func (q *attempt) passes(b *matrix.Build) bool {
	return !slices.ContainsFunc(rules, func(r rule) bool { return r.refuses(q, b) != nil })
}

// refusals returns every rule's word against a build, in the order of the rules.
func (q *attempt) refusals(b *matrix.Build) []Reason {
	e := *q
	e.explain = true
	var out []Reason
	for i := range rules {
		if r := rules[i].refuses(&e, b); r != nil {
			r.Rule = rules[i].name
			out = append(out, *r)
		}
	}
	return out
}

// silent stands for a refusal that nobody reads.
var silent = &Reason{}

// no is a refusal: what is, and what was needed.
func (q *attempt) no(source, format string, args ...any) *Reason {
	if !q.explain {
		return silent
	}
	return &Reason{Text: fmt.Sprintf(format, args...), Source: source}
}

// best returns the build that is preferred among those that pass; nil where none
// does.
func (q *attempt) best(also ...func(*matrix.Build) bool) *matrix.Build {
	var best *matrix.Build
	q.p.builds(func(b *matrix.Build) {
		if best != nil {
			if c, _ := q.compare(best, b); c >= 0 {
				return // an outranked build need not be tried
			}
		}
		if q.passes(b) && !slices.ContainsFunc(also, func(f func(*matrix.Build) bool) bool { return !f(b) }) {
			best = b
		}
	})
	return best
}

// choice says what a build means for an installer.
func (q *attempt) choice(b *matrix.Build) *Choice {
	c := &Choice{
		Torch: b.Release.Torch.String(), Build: b.Label, CUDA: b.CUDA.MajorMinor(), CuDNN: b.CuDNN.String(),
		Python: q.py.String(), Channel: "pip", Packages: map[string]string{}, Natively: b.Framework == nil && q.natively(b),
		Proof: string(b.Proof), Source: b.Source, Arches: arches(b), Listed: q.p.req.listed(b),
	}
	c.Unknown = b.Status == matrix.NotSeen && c.Listed == nil
	c.Holds = q.holds(b)
	if b.Framework != nil || isConda(b) {
		q.unpinnedChoice(c, b)
	} else {
		q.pinnedChoice(c, b)
	}
	q.fits().askFrameworks(c, b)
	return c
}

// unpinnedChoice names the packages of which the installer finds the versions: beside a
// framework, and conda's, whose solver picks the libraries as well. A channel has no index.
func (q *attempt) unpinnedChoice(c *Choice, b *matrix.Build) {
	if isConda(b) {
		c.Channel, c.CuDNN, c.Proof = b.Index, "", string(matrix.ByDocumentation)
		c.Packages["torch"] = c.Torch
		for name := range q.p.req.asked {
			c.Packages[name] = ""
		}
	}
	if b.Framework != nil {
		c.CUDA = b.CUDA.String() // its major alone
	}
	for _, r := range q.p.req.packages {
		c.Packages[r.Name] = ""
	}
}

// pinnedChoice names the version of each package that goes with a torch.
func (q *attempt) pinnedChoice(c *Choice, b *matrix.Build) {
	label := ""
	if !q.fromDefault(b) {
		c.Index = new(b.Index)
		if b.Label != mps && b.OS != "macos" {
			label = "+" + b.Label
		}
	}
	c.Packages["torch"] = c.Torch + label
	for _, name := range companions {
		if _, asked := q.p.req.asked[name]; !asked && !slices.Contains(q.p.req.optional, name) {
			continue
		}
		if v, ok := q.p.companion(b, name); ok {
			c.Packages[name] = v.String() + label
		}
	}
	for _, e := range q.packages().extensions(b) {
		q.place(c, e, b)
	}
	if q.p.req.Channel != "" {
		q.channelChoice(c)
	}
}

// place adds a package to a choice: its version, why that is not its newest, and the
// file that is taken by its address.
func (q *attempt) place(c *Choice, e extension, b *matrix.Build) {
	c.Packages[e.name] = e.version()
	if why := q.remarks().whyOlder(e, b); why != "" {
		put(&c.Older, e.name, why)
	}
	if e.row != nil && e.row.Sdist {
		if url := q.packages().byWord(e.req, e.row.Version, b); url != "" {
			put(&c.URLs, e.name, url)
		}
	}
}

// put sets a value of a map that may not be there yet.
func put(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}

// fromDefault reports whether a build is taken from the default Python index:
// wherever that carries it, unless the request or the team's policy admits only others.
func (q *attempt) fromDefault(b *matrix.Build) bool {
	only, p := q.p.req.OnlyIndex, q.p.req.Policy
	admitted := p == nil || xslices.Admits(p.Indexes, "default")
	return b.Default && (only == "default" || only == "" && admitted)
}

// natively reports whether the driver supports a build's CUDA without leaning on
// minor-version compatibility: CUDA major.minor not above what the driver's
// branch reports; patches do not count.
func (q *attempt) natively(b *matrix.Build) bool {
	if b.CUDA.IsZero() {
		return true
	}
	have, need := q.drv.cuda, b.CUDA
	return !have.IsZero() && cmp.Or(cmp.Compare(have.Group(0), need.Group(0)), cmp.Compare(have.Group(1), need.Group(1))) >= 0
}

// arches is what torch._C._cuda_getArchFlags() prints for a build.
func arches(b *matrix.Build) []string {
	out := text.Each(b.Native, func(c matrix.Code) string { return "sm_" + c.SM.Code() + c.Suffix })
	out = append(out, text.Each(b.PTX, func(c matrix.Code) string { return "compute_" + c.SM.Code() + c.Suffix })...)
	return out
}

// torchName is a build in a sentence: "torch 2.14.1+cu126".
func torchName(b *matrix.Build) string {
	if b.Framework != nil {
		return cmp.Or(b.Framework.Ask, b.Framework.Package) + b.Framework.Versions.String()
	}
	if c := channelOf(b); c != "" {
		return fmt.Sprintf("the %s build %s of torch", c, b.Label)
	}
	if b.Label == mps || b.OS == "macos" {
		return "torch " + b.Release.Torch.String()
	}
	return "torch " + b.Release.Torch.String() + "+" + b.Label
}
