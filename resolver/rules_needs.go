package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// What packages need of each other without declaring it: the rows of matrix.Needs.

// needs are the rows for one version of a package on this system.
func (s *problem) needs(name string, v version.Python) []matrix.Need {
	return xslices.Filter(s.cache.needs[name], func(n matrix.Need) bool { return s.cache.admits(n.Versions, v) })
}

// holds are the limits that a choice sets on packages whose version the installer
// finds, such as numpy<2 beside torch 2.1.
func (q *attempt) holds(b *matrix.Build) []string {
	var out []string
	add := func(name string, limit version.Specifier) {
		if h := name + limit.String(); !limit.IsZero() && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	torch := b.Framework == nil && !isConda(b)
	if torch {
		for _, n := range q.p.needs("torch", b.Release.Torch) {
			add(n.Of, n.Range)
		}
	}
	for _, r := range q.p.req.packages {
		for _, n := range q.fits().needed(r, b) {
			add(n.Of, n.Range)
		}
	}
	if !torch {
		return out
	}
	for _, e := range q.packages().extensions(b) {
		for _, name := range q.p.m.BroughtBy(e.name) {
			if !slices.ContainsFunc(q.p.req.packages, func(r pep508.Requirement) bool { return r.Name == name }) {
				add(name, below(q.unmet(name, b)))
			}
		}
		switch {
		case e.row != nil:
			for _, n := range q.p.besideTorch(e) {
				add(n.Of, n.Range)
			}
		case e.pin == "" && e.req.URL == "":
			add(e.name, below(q.unmet(e.name, b)))
		}
	}
	return out
}

// besideTorch are the needs of an extension that neither torch, the system nor the installer meets.
func (s *problem) besideTorch(e extension) []matrix.Need {
	return xslices.Filter(s.needs(e.name, e.row.Version), func(n matrix.Need) bool {
		return n.Of != "torch" && n.Of != matrix.OfSystem && n.Fails != matrix.FailsInstall
	})
}

// below is the limit under which no version of a package is in a list of rows that end
// at its newest: of >=5.20 and >=5.15,<5.20 it is <5.15. Zero where there is none.
func below(bad []matrix.Need) version.Specifier {
	var limit version.Python
	for again := true; again; {
		again = false
		for _, n := range bad {
			low, high := bounds(n.Versions)
			if low.IsZero() || !high.IsZero() && (limit.IsZero() || high.Compare(limit) < 0) || !limit.IsZero() && low.Compare(limit) >= 0 {
				continue
			}
			limit, again = low, true
		}
	}
	if limit.IsZero() {
		return version.Specifier{}
	}
	s, _ := version.ParseSpecifier("<" + limit.String())
	return s
}

// bounds are the first version that a specifier admits and the first above that it
// does not; zero where it has no such bound.
func bounds(s version.Specifier) (low, high version.Python) {
	for clause := range strings.SplitSeq(s.String(), ",") {
		clause = strings.TrimSpace(clause)
		if v, ok := strings.CutPrefix(clause, ">="); ok {
			low, _ = version.ParsePython(strings.TrimSpace(v))
		} else if v, ok := strings.CutPrefix(clause, "<"); ok && !strings.HasPrefix(v, "=") {
			high, _ = version.ParsePython(strings.TrimSpace(v))
		}
	}
	return low, high
}

// unmet are the rows of a package that need another torch than a build's.
func (q *attempt) unmet(name string, b *matrix.Build) []matrix.Need {
	return xslices.Filter(q.p.cache.needs[name], func(n matrix.Need) bool { return n.Of == "torch" && !q.p.cache.admits(n.Range, b.Release.Torch) })
}

// needRefusal says why no version of a package that was asked for works beside a
// build, for a reason that no metadata gives; nil where one does.
func (q *attempt) needRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	if r.URL != "" {
		return nil
	}
	for _, n := range q.p.needs("torch", b.Release.Torch) {
		if n.Of == r.Name && !q.p.cache.overlap(n.Range, r.Spec) {
			return q.no(n.Source, "works with %s%s only (with another, %s), and you asked for %s", n.Of, n.Range, n.Effect, text.Cut(r.Text, 80))
		}
	}
	if slices.ContainsFunc(q.p.wheels(r.Name), func(e *matrix.Extension) bool { return q.p.cache.admits(r.Spec, e.Version) }) {
		return nil // each wheel is asked about by itself
	}
	bad := q.unmet(r.Name, b)
	for _, n := range bad {
		if q.p.cache.overlap(n.Versions, r.Spec) && !q.p.cache.some([]version.Specifier{r.Spec}, text.Each(bad, func(n matrix.Need) version.Specifier { return n.Versions })...) {
			return q.no(n.Source, "%s%s needs torch%s: without it %s", r.Name, n.Versions, n.Range, n.Effect)
		}
	}
	return nil
}

// unmetNeed says what one version of a package needs of torch that a build does not
// give; "" nothing.
func (q *attempt) unmetNeed(name string, v version.Python, b *matrix.Build) string {
	for _, n := range q.p.needs(name, v) {
		if n.Of == "torch" && !q.p.cache.admits(n.Range, b.Release.Torch) {
			return fmt.Sprintf("needs torch%s: without it %s", n.Range, n.Effect)
		}
	}
	return ""
}

// releasedWith is the version of a package that was released with a torch, where
// another one does not load beside it: torchcodec's was compiled against one minor
// release of torch each, until its interface stayed the same. "" any may load.
func (q *attempt) releasedWith(r pep508.Requirement, b *matrix.Build) string {
	name := r.Name
	v, ok := b.Release.Companions[name]
	if !ok || name == triton || slices.Contains(companions, name) || isConda(b) {
		return ""
	}
	if !q.p.cache.admits(r.Spec, v) && q.loadsToo(r, b) {
		return ""
	}
	read := xslices.Filter(q.p.wheels(name), func(e *matrix.Extension) bool { return !e.Sdist && e.Version.Compare(v) == 0 })
	loads := func(e *matrix.Extension) bool {
		return q.packages().wheelRefusal(pep508.Requirement{Name: name}, e, b) == ""
	}
	if len(q.unmet(name, b)) == 0 || len(read) > 0 && !slices.ContainsFunc(read, loads) {
		return "" // or the default index has it for another CUDA
	}
	return v.String()
}

// loadsToo reports whether a release that a requirement admits is known to load beside a
// build, though another one came out with it.
func (q *attempt) loadsToo(r pep508.Requirement, b *matrix.Build) bool {
	return slices.ContainsFunc(q.p.versionsOf(r.Name), func(v version.Python) bool {
		return q.p.cache.admits(r.Spec, v) && q.loads(r.Name, v, b)
	})
}

// loads reports whether a version of a package is known to load beside a build.
func (q *attempt) loads(name string, v version.Python, b *matrix.Build) bool {
	return q.unmetNeed(name, v, b) == "" && slices.ContainsFunc(q.p.cache.needs[name], func(n matrix.Need) bool {
		return n.Of == "torch" && q.p.cache.admits(n.Versions, v) && q.p.cache.admits(n.Range, b.Release.Torch)
	})
}
