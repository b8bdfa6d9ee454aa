package doctor

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// DriverFirst reports whether a plan would change the driver, without leave, and the findings
// do not name that as the fault, or it does nothing else.
func DriverFirst(r *Report, p *plan.Plan, leave bool) bool {
	named := slices.ContainsFunc(r.Findings, func(x Finding) bool { return x.Severity == know.Error && strings.HasPrefix(x.Cause, "driver_") })
	return (len(p.Steps) == 0 || !named) && !slices.Contains([]string{"", "keep", "none"}, string(p.Driver.Action)) && !leave
}

// SayActivate has the findings about variables advise the script that sets them.
func SayActivate(r *Report, p *plan.Plan) {
	for i := range r.Findings {
		if x := &r.Findings[i]; len(x.Mend.Fixes) > 0 {
			x.Fix = append([]string{"`. " + text.Command(p.Target.Dir+"/bin/activate") + "` in this shell: the script sets it right already"}, x.Fix...)
		}
	}
}

// A Cure is what a plan is to do about what was found.
type Cure struct {
	First   int // of the findings that it mends; -1 none
	Repair  *plan.Repair
	Wants   []string // what the remedies that were printed install beside the torch that is here
	Again   []string // these, from the default index, are all that what is wrong takes
	Anew    bool     // torch itself is not the right one
	InFiles bool     // what is wrong with it is in its files
}

// CureOf gathers what a plan mends of the findings, by the smallest change that does.
func CureOf(r *Report, patient *read.Case) Cure {
	k := know.Embedded()
	c := Cure{First: -1, Repair: &plan.Repair{}}
	torch, _ := InstalledTorch(patient)
	whole := true
	for _, x := range r.Findings {
		c.Repair.Frame = cmp.Or(c.Repair.Frame, frame(x))
	}
	for i, x := range r.Findings {
		if c.framed(i, x, r.Findings) {
			continue
		}
		w := WayOf(k, x, r.Findings)
		wants := beside(x, torch)
		if x.Elsewhere != "" || w == NoWay && (wants == nil || x.Severity < know.Error) {
			continue
		}
		if c.First < 0 {
			c.First = i
		}
		if w != AsItIs && wants == nil {
			c.Anew, c.InFiles = true, c.InFiles || k.Causes[x.Cause].Mended == know.Files
		}
		alone := alone(x, wants)
		whole = whole && (alone != nil || apart(x.Mend, w))
		c.Again, c.Wants = xslices.Once(c.Again, alone), append(c.Wants, wants...)
		c.mend(x.Mend, w, wants)
	}
	if !whole {
		c.Repair.Rebuild = c.Repair.Rebuild || c.Repair.Frame != "" || c.Repair.Sweep
		c.Again, c.Repair.Frame, c.Repair.Sweep = nil, "", false
	}
	return c
}

// frame is the Python that a finding's remedy puts back into the environment; "" none.
func frame(x Finding) string {
	return say.If(x.Elsewhere == "", x.Mend.Frame)
}

// framed reports whether a finding goes away where the environment's Python and scripts are
// put back, and keeps the first that does.
func (c *Cure) framed(i int, x Finding, all []Finding) bool {
	mends := frame(x) != ""
	if mends && c.First < 0 {
		c.First = i
	}
	return mends || slices.ContainsFunc(all, func(o Finding) bool { return frame(o) != "" && slices.Contains(o.Explains, x.Check) })
}

// mend adds what the mending of a finding takes; what installs more builds anew.
func (c *Cure) mend(m Mend, w Way, wants []string) {
	c.Repair.Sweep, c.Repair.Rebuild = c.Repair.Sweep || m.Sweep, c.Repair.Rebuild || m.Rebuild || w != AsItIs && wants != nil
	c.Repair.Fetch, c.Repair.Fixes = append(c.Repair.Fetch, m.Fetch...), append(c.Repair.Fixes, m.Fixes...)
}

// apart reports whether no package has to come for a finding: what lies there goes, a variable is
// put right, or it goes away with another finding.
func apart(m Mend, w Way) bool {
	return !m.Rebuild && (m.Sweep || len(m.Fixes) > 0) || w == AsItIs && m.IsZero()
}

// Small reports whether what is found takes a few packages or the environment's frame alone.
func (c Cure) Small() bool { return len(c.Again) > 0 || c.Repair.Frame != "" || c.Repair.Sweep }

// alone are the packages that a finding takes, from the default index or the one that torch's
// label names; nil: more is wrong, or what is upgraded has to fit the rest. Torch, and what is
// released with it, comes as it is there, or is chosen; its triton of other names only PyTorch's
// index has.
func alone(x Finding, wants []string) []string {
	asItIs := x.Mend.Again
	if x.Mend.Rebuild && len(x.Fix) > 0 && strings.Contains(x.Fix[0], " --no-deps ") {
		wants, asItIs = nil, slices.Concat(x.Installs(), asItIs)
	}
	chosen, all := pep508.Names(pep508.Read(wants, "")), pep508.Read(slices.Concat(wants, asItIs), "")
	if len(wants) > 0 && strings.Contains(x.Fix[0], " --upgrade ") || slices.ContainsFunc(all, func(q pep508.Requirement) bool {
		ofTorch := q.Name == "torch" || slices.Contains(resolver.Companions(), q.Name)
		unknown := q.Label != "" && evidence.IndexOf([]string{q.Text}) == ""
		return ofTorch && (unknown || slices.Contains(chosen, q.Name)) || strings.Contains(q.Name, "triton-")
	}) {
		return nil
	}
	return text.Each(all, func(q pep508.Requirement) string { return q.Text })
}

// beside are the requirements of a finding's remedy without the torch that is here and
// stays; nil where it installs another torch or this one anew, or nothing.
func beside(x Finding, torch string) (out []string) {
	for _, s := range x.Installs() {
		q, err := pep508.Parse(s, "")
		v, _ := version.SplitLocal(strings.TrimPrefix(q.Spec.String(), "=="))
		switch {
		case err != nil || torch == "" || q.Name == "torch" && (v != torch || strings.Contains(x.Fix[0], "--reinstall") || strings.Contains(x.Fix[0], "--force-reinstall")):
			return nil
		case q.Name != "torch":
			out = append(out, s)
		}
	}
	return out
}

// Same asks for the packages of the environment: its torch in that version and build, and
// those of torch's companions that are there; and for what is wanted beside it.
func Same(patient *read.Case, torch, build string, wants []string) func(*resolver.Request) {
	return func(r *resolver.Request) {
		beside := xslices.Filter([]string{"torchvision", "torchaudio"}, func(name string) bool {
			return slices.ContainsFunc(patient.Files.Dists, func(d machine.DistFiles) bool { return d.Name == name })
		})
		for _, w := range slices.Concat([]string{"torch==" + torch}, beside, wants) {
			if q, err := pep508.Parse(w, "the environment"); err == nil {
				r.Requirements = append(r.Requirements, q)
			}
		}
		if r.Build == "" && !r.CPU && r.CUDA == "" {
			r.Build = build
		}
	}
}

// InstalledTorch is the torch whose files are in the environment: what
// torch/version.py says, else the metadata. Metadata of which there are two
// copies is believed where the file agrees. Of half an upgrade it is the one before; where
// nothing of torch is left, the one that its companion there was released with.
func InstalledTorch(patient *read.Case) (v, build string) {
	if patient.Files == nil {
		return "", ""
	}
	dists := xslices.Filter(patient.Files.Dists, func(d machine.DistFiles) bool {
		return slices.ContainsFunc(patient.Files.Sites, func(s string) bool { return strings.HasPrefix(d.Info, s+"/") })
	})
	for _, d := range dists {
		if d.Name == "torch" && (v == "" || d.Module != "") {
			v, build = version.SplitLocal(cmp.Or(d.Module, d.Version))
		}
	}
	for _, l := range patient.Files.Leftovers { // of an upgrade that broke off
		if old, ok := strings.CutPrefix(filepath.Base(l), "~orch-"); ok && v == "" {
			v, build = version.SplitLocal(strings.TrimSuffix(old, ".dist-info"))
		}
	}
	if v == "" {
		v, build = version.SplitLocal(patient.Files.Bare)
	}
	if v == "" {
		v, build = version.SplitLocal(ofCompanion(dists))
	}
	return v, build
}

// ofCompanion is the torch that a package is released with which is there; "" none.
func ofCompanion(dists []machine.DistFiles) string {
	for _, d := range dists {
		q, _ := xslices.Find(pep508.Read(d.Requires, ""), func(q pep508.Requirement) bool { return q.Name == "torch" })
		if of, exact := strings.CutPrefix(q.Spec.String(), "=="); exact && !strings.ContainsAny(of, "*,") && slices.Contains(resolver.Companions(), d.Name) {
			return of
		}
	}
	return ""
}
