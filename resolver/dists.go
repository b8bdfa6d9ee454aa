package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// What packages require by their metadata (matrix.Dists): an installer takes the newest
// release that goes with the torch of a choice, and brings what that release requires.

// A picked release is the newest of a package that goes with a build; why says what is
// against the newest one otherwise.
type picked struct {
	*dist   // nil: none, or nobody knows
	version version.Python
	why     string // "" it goes, or nobody knows
	source  string
}

// A pickKey is what a pick depends on; beside is what a build brings.
type pickKey struct {
	name, spec string
	beside     int
	py         py
}

// pick is the newest release that a requirement admits and that goes with a build. b is
// nil where torch has no say: what is there for the Python and the system.
func (q packages) pick(r pep508.Requirement, b *matrix.Build) picked {
	if !q.a.p.m.HasDists(r.Name) {
		return picked{}
	}
	key := pickKey{r.Name, r.Spec.String(), q.a.p.beside(b), q.a.py}
	if p, known := q.a.p.memo.picks[key]; known {
		return p
	}
	q.a.p.memo.picks[key] = picked{} // a package that requires itself by way of another goes
	p := q.newestThatGoes(r, b)
	q.a.p.memo.picks[key] = p
	return p
}

func (q packages) newestThatGoes(r pep508.Requirement, b *matrix.Build) picked {
	p := picked{}
	for _, d := range q.a.p.dists(r.Name) {
		d.read()
		if d.Unread && !strings.HasPrefix(r.Spec.String(), "==") {
			return picked{} // what they require is not known
		}
		v, ok := q.a.p.newestOf(d, r.Spec)
		if !ok {
			continue
		}
		why := ""
		switch fit := q.fitOf(d, v); {
		case fit == matrix.FitNone:
			why = fmt.Sprintf("has no wheel for Python %s on %s %s", q.a.py, q.a.p.h.Platform.OS, q.a.p.h.Platform.Arch)
		case fit == matrix.FitSource:
			why = onlySource
		case b != nil:
			why = q.unlike(d, b)
		}
		if why == "" {
			return picked{dist: d, version: v, source: d.Source}
		}
		if p.why == "" || p.why == onlySource && why != onlySource {
			p = picked{version: v, why: why, source: d.Source}
		}
	}
	if p.why == "" && b != nil {
		return q.byNeighbours(r, b)
	}
	return p
}

// onlySource is what is said of a release without a wheel.
const onlySource = "is only a source distribution"

// fitOf says whether a release has a file here, by the table of files where it has the
// package.
func (q packages) fitOf(d *dist, v version.Python) matrix.Fit {
	if fit := q.a.p.m.Fits(d.Package, v, q.a.py.String(), q.a.p.h.Platform); fit != matrix.FitUnknown {
		return fit
	}
	return d.Fit(q.a.py.String(), q.a.p.h.Platform)
}

// byNeighbours judges a release that nobody read by the one before and the one after it,
// where both ask for the same torch.
func (q packages) byNeighbours(r pep508.Requirement, b *matrix.Build) picked {
	want, err := version.ParsePython(strings.TrimPrefix(r.Spec.String(), "=="))
	if err != nil {
		return picked{}
	}
	var older, newer version.Python
	var below, above *dist
	for _, d := range q.a.p.dists(r.Name) {
		if d.read(); d.Unread {
			continue
		}
		for _, text := range d.Versions {
			v, err := version.ParsePython(text)
			if err != nil {
				continue
			}
			if c := v.Compare(want); c > 0 && (newer.IsZero() || v.Compare(newer) < 0) {
				newer, above = v, d
			} else if c < 0 && (older.IsZero() || v.Compare(older) > 0) {
				older, below = v, d
			}
		}
	}
	if below == nil || above == nil || q.torchOf(below) != q.torchOf(above) {
		return picked{}
	}
	spec, err := version.ParseSpecifier(q.torchOf(below))
	if err != nil || spec.IsZero() || q.a.p.cache.admits(spec, b.Release.Torch) {
		return picked{}
	}
	return picked{version: want, source: below.Source,
		why: fmt.Sprintf("was not read; %s and %s, which were, require torch%s", older, newer, spec)}
}

// torchOf is what a release requires of torch here, as text.
func (q packages) torchOf(d *dist) string {
	for _, r := range q.requiredBy(d) {
		if r.Name == "torch" {
			return r.Spec.String()
		}
	}
	return ""
}

// unlike says what a release requires that a build, what goes with it or the rest of the
// request does not give; "" nothing.
func (q packages) unlike(d *dist, b *matrix.Build) string {
	for _, r := range q.requiredBy(d) {
		if why := q.unmetBy(r, b); why != "" {
			return "requires " + plainText(r) + why
		}
	}
	return ""
}

// unmetBy says why one requirement is not met beside a build, as the end of a sentence
// that begins with it; " " alone says that it is plainly another version.
func (q packages) unmetBy(r pep508.Requirement, b *matrix.Build) string {
	const another = " "
	switch {
	case r.Name == "torch":
		if !q.a.p.cache.admits(r.Spec, b.Release.Torch) {
			return another
		}
		return ""
	case slices.Contains(companions, r.Name):
		switch v, ok := q.a.p.companion(b, r.Name); {
		case !ok:
			return ", and none loads beside it"
		case !q.a.p.cache.admits(r.Spec, v):
			return fmt.Sprintf(", and %s goes with it", v)
		}
		return ""
	case r.Name == triton && !b.Triton.IsZero() && !q.a.p.cache.admits(r.Spec, b.Triton):
		return fmt.Sprintf(", and it pins %s", b.Triton)
	}
	for _, w := range q.a.p.req.packages {
		if w.Name == r.Name && w.URL == "" && !q.a.p.cache.overlap(w.Spec, r.Spec) {
			return ", and you asked for " + text.Cut(w.Text, 80)
		}
	}
	for _, n := range q.a.p.needs("torch", b.Release.Torch) {
		if n.Of == r.Name && !q.a.p.cache.overlap(n.Range, r.Spec) {
			return fmt.Sprintf(", and torch %s works with %s%s only", b.Release.Torch, n.Of, n.Range)
		}
	}
	if bad := q.a.unmet(r.Name, b); len(bad) > 0 && !q.a.p.cache.outside(r.Spec, bad) {
		return fmt.Sprintf(", which needs torch%s", bad[0].Range)
	}
	if p := q.pick(r, b); p.why != "" && p.why != onlySource {
		return fmt.Sprintf(", and %s %s %s", r.Name, p.version, p.why)
	}
	return ""
}

// distRefusal says why no release of a package goes with a build, or while the newest is
// asked for, why that one does not; nil where one does.
func (q packages) distRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	if r.URL != "" || b.Release == nil {
		return nil
	}
	p := q.pick(r, b)
	switch {
	case p.why == onlySource:
		return nil // warnings say so
	case p.why != "":
		return q.a.no(p.source, "%s %s %s", r.Name, p.version, strings.TrimSpace(p.why))
	case !q.a.newest:
		return nil
	}
	first := q.pick(r, nil)
	if first.dist == nil || p.dist != nil && first.version.Compare(p.version) <= 0 {
		return nil
	}
	return q.a.no(first.source, "%s %s %s", r.Name, first.version, strings.TrimSpace(q.unlike(first.dist, b)))
}

// heldByDists reports whether what a package of the request requires speaks against a
// build, whatever else does.
func (q packages) heldByDists(b *matrix.Build) bool {
	return slices.ContainsFunc(q.a.p.req.packages, func(r pep508.Requirement) bool { return q.a.p.passedWithDists(r) && q.distRefusal(r, b) != nil })
}

// bringing calls f with every requirement that a package of the request brings, directly
// or by others, of releases that go with a build; b nil: of the newest.
func (q packages) bringing(r pep508.Requirement, b *matrix.Build, f func(pep508.Requirement)) {
	seen := map[string]bool{r.Name: true}
	var walk func(pep508.Requirement)
	walk = func(r pep508.Requirement) {
		p := q.pick(r, b)
		if p.dist == nil {
			return
		}
		for _, next := range q.requiredBy(p.dist) {
			f(next)
			if !seen[next.Name] {
				seen[next.Name] = true
				walk(next)
			}
		}
	}
	walk(r)
}

// sourceWarnings name the packages that were asked for and have no wheel here.
func (q packages) sourceWarnings(b *matrix.Build) []string {
	var out []string
	for _, r := range q.a.p.req.packages {
		if !q.a.p.passedThrough(r) {
			continue
		}
		p := q.pick(r, b)
		if p.why != onlySource {
			continue
		}
		help := ""
		if with := q.pick(pep508.Requirement{Name: r.Name}, b); with.dist != nil && !r.Spec.IsZero() {
			help = fmt.Sprintf("; %s %s has a wheel", r.Name, with.version)
		}
		out = append(out, fmt.Sprintf(
			"%s %s is only a source distribution, and only wheels are installed: `apply` stops before it begins%s; or leave it out, and then `uv pip install %s` into the environment, which runs its code to build it",
			r.Name, p.version, help, plainText(r)))
	}
	return out
}
