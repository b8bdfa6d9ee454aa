package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A Word is what one rule says about one build.
type Word struct {
	Rule   string `json:"rule"`
	OK     bool   `json:"ok"`
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
}

// A Verdict is the case for or against one build on one machine.
type Verdict struct {
	Torch  string `json:"torch"`
	Build  string `json:"build"`
	Status string `json:"status"` // chosen, outranked, refused
	Words  []Word `json:"words"`  // every rule's

	// Outranked names the build that is better and the comparison that decided.
	OutrankedBy string `json:"outranked_by,omitempty"`
	Preference  string `json:"preference,omitempty"` // seen, known, torch, native, default, cuda, rocm
	Text        string `json:"text"`                 // the verdict in one sentence
}

// Case is everything that `why` says: the verdicts on the builds that a
// requirement matches, and the answer that the machine gets.
type Case struct {
	Verdicts   []Verdict
	Releases   []PackageRelease // of a package other than torch, the newest first
	Resolution *Resolution
	Python     string
}

// Why judges every build that one requirement on torch matches: each rule's
// word, with the numbers and the source, and for builds that pass and are not
// chosen, which one outranks them and why. The machine and the rest of the
// request are those of [Resolve], and answer is what that, or a plan, gave with the
// requirement; nil: nobody asked. Its error reports a malformed Request.
func Why(m *matrix.Matrix, h machine.Machine, r Request, requirement pep508.Requirement, answer *Resolution) (*Case, error) {
	open := r // torch itself is free, so that the machine's best shows what outranks
	if len(open.Requirements) == 0 {
		open.Requirements = []pep508.Requirement{{Name: "torch", Text: "torch"}}
	}
	if requirement.Name != "torch" {
		open.Requirements = append(slices.Clone(open.Requirements), requirement)
	}
	s, err := newProblem(m, h, open)
	if err != nil {
		return nil, err
	}
	c := &Case{Resolution: answer}
	if requirement.Name != "torch" && requirement.URL == "" {
		r.Requirements = append(slices.Clone(r.Requirements), requirement)
		asked, err := newProblem(m, h, r)
		if err != nil {
			return nil, err
		}
		c.Releases = asked.advice().releases(requirement)
	}
	q := s.advice().whyQuestion()
	best := q.best()
	c.Python = q.py.String()
	q.p.builds(func(b *matrix.Build) {
		if requirement.Name == "torch" && (!requirement.Spec.Admits(b.Release.Torch) || requirement.Label != "" && requirement.Label != b.Label) {
			return
		}
		v := q.verdict(b, best, requirement)
		if answer != nil && answer.Choice != nil && v.Status == "outranked" && v.Torch == answer.Choice.Torch && v.Build == answer.Choice.Build {
			v.Text = strings.Replace(v.Text, "it would run;", "it would run, as the best of what is asked for;", 1)
		}
		c.Verdicts = append(c.Verdicts, v)
	})
	return c, nil
}

// A PackageRelease is what one release of a package means for the machine.
type PackageRelease struct {
	Version string `json:"version"`
	Status  string `json:"status"` // runs, refused, unknown
	Torch   string `json:"torch"`  // that it runs beside; "" none
	Build   string `json:"build"`
	Text    string `json:"text"`
}

// mostReleases is how many releases of a package are judged: older ones say little more.
const mostReleases = 100

// releases judges the releases of a package that a requirement admits, each as if it alone
// had been asked for.
func (s advice) releases(r pep508.Requirement) []PackageRelease {
	all := s.p.releasesOf(r)
	var out []PackageRelease
	for _, v := range all[:min(len(all), mostReleases)] {
		spec, _ := version.ParseSpecifier("==" + v.String())
		if s.p.isFramework(r.Name) && !s.p.isRead(pep508.Requirement{Name: r.Name, Spec: spec}) {
			out = append(out, PackageRelease{Version: v.String(), Status: "unknown", Text: "what it needs was not read"})
			continue
		}
		t := s.p.asking(r.Name, func(q *pep508.Requirement) { q.Spec, q.Text = spec, r.Name+spec.String() })
		if t == nil {
			continue
		}
		p := t.advice().release(t.chooser().answer(), r.Name, v)
		p.Text = strings.ReplaceAll(strings.TrimPrefix(p.Text, r.Name+" "+v.String()+" "), r.Name+"=="+v.String(), "this")
		known := func(n matrix.Need) bool { return n.Of == "torch" && t.cache.admits(n.Versions, v) } // which torch it needs
		read := func(e *matrix.Extension) bool { return e.Version.String() == v.String() }            // a row tells of it
		if p.Version = v.String(); p.Status == "runs" && !slices.ContainsFunc(s.p.wheels(r.Name), read) &&
			!s.p.isFramework(r.Name) && !slices.ContainsFunc(t.cache.needs[r.Name], known) {
			p.Status, p.Text = "unknown", "there is a file for it; what it needs was not read"
		}
		out = append(out, p)
	}
	return out
}

// release says what an answer means for the one release that it was asked about.
func (s advice) release(o *outcome, name string, v version.Python) PackageRelease {
	switch c := o.Choice; {
	case c != nil && o.Decision == InstallCPU && len(s.p.gpus) > 0:
		return PackageRelease{Status: "refused", Text: "it would compute on the CPU only"}
	case c != nil && c.Torch == "":
		return PackageRelease{Status: "runs", Build: c.Build, Text: "as it is here"}
	case c != nil:
		return PackageRelease{Status: "runs", Torch: c.Torch, Build: c.Build, Text: "beside torch " + c.Torch + "+" + c.Build}
	case len(o.Reasons) > 0:
		return PackageRelease{Status: "refused", Text: weightiest(o.Reasons).Text}
	case o.q != nil:
		text, fewest := o.q.why()[0].Text, 0
		for _, c := range o.q.candidates() { // of those with a torch that it admits the nearest miss
			admits := func(e *matrix.Extension) bool {
				return e.Version.Compare(v) == 0 && s.p.cache.admits(e.Torch, c.b.Release.Torch)
			}
			if (fewest == 0 || len(c.rs) < fewest) && slices.ContainsFunc(s.p.wheels(name), admits) {
				text, fewest = torchName(c.b)+": "+strings.TrimPrefix(weightiest(c.rs).Text, name+" "+v.String()+" "), len(c.rs)
			}
		}
		return PackageRelease{Status: "refused", Text: text}
	}
	return PackageRelease{Status: "unknown", Text: "it has no answer of its own here"}
}

// whyQuestion is the attempt that decide asks first on this machine.
func (s advice) whyQuestion() *attempt {
	accel, gpus, d := cpu, []machine.GPU(nil), driver{}
	for _, k := range vendorKinds {
		if list := s.p.vendor(k.vendor); accel == cpu && len(list) > 0 && s.p.req.accel() != cpu {
			accel, gpus = k.accel, list
		}
	}
	if accel == cuda {
		d = s.p.installed()
		if able, _ := s.p.chooser().able(gpus); len(able) > 0 {
			gpus = able
		}
	}
	q, _ := s.p.chooser().try(accel, gpus, d)
	return q
}

// words are what every rule says of a build; a policy has one where there is one.
func (q *attempt) words(b *matrix.Build) (out []Word) {
	e := *q
	e.explain = true
	for _, rule := range rules {
		switch r := rule.refuses(&e, b); {
		case rule.name == "policy" && q.p.req.Policy == nil:
		case r != nil:
			out = append(out, Word{Rule: rule.name, Text: r.Text, Source: r.Source})
		default:
			out = append(out, Word{rule.name, true, rule.passed(&e, b), b.Source})
		}
	}
	return out
}

func (q *attempt) verdict(b, best *matrix.Build, requirement pep508.Requirement) Verdict {
	e := *q
	if requirement.Label != "" || q.p.req.label == "" && b.Status != matrix.Offered && requirement.Label == b.Label {
		e.p = q.named(requirement)
	}
	v := Verdict{Torch: b.Release.Torch.String(), Build: b.Label, Status: "refused"}
	v.Words = e.words(b)
	refused := xslices.Filter(v.Words, func(w Word) bool { return !w.OK })
	for i, w := range refused {
		if i == 0 || weight(w.Rule) > weight(v.Preference) {
			v.Text, v.Preference = w.Text, w.Rule
		}
	}
	v.Preference = ""
	switch {
	case len(refused) > 0:
	case best == nil || best == b:
		v.Status, v.Text = "chosen", "it is the preferred build here"
	default:
		_, p := q.compare(best, b)
		v.Status, v.OutrankedBy = "outranked", torchName(best)
		v.Text = "it would run; " + torchName(best) + " is preferred"
		if p != nil {
			v.Preference, v.Text = p.name, fmt.Sprintf("it would run; %s is preferred: %s", torchName(best), p.text)
		}
	}
	return v
}

// named is the problem in which a requirement's label counts as naming the build.
func (q *attempt) named(r pep508.Requirement) *problem {
	t := q.p.unanswered()
	t.req.label, t.req.named = r.Label, "`"+text.Cut(r.Text, 80)+"`"
	return t
}
