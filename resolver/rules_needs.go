package resolver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// What packages need of each other without declaring it: the rows of matrix.Needs.

// needs are the rows for one version of a package on this system.
func (s *solver) needs(name string, v version.Python) []matrix.Need {
	var out []matrix.Need
	for _, n := range s.cache.needs[name] {
		if s.cache.admits(n.Versions, v) {
			out = append(out, n)
		}
	}
	return out
}

// holds are the limits that a choice sets on packages whose version the installer
// finds, such as numpy<2 beside torch 2.1.
func (q *question) holds(b *matrix.Build) []string {
	var out []string
	add := func(name string, limit version.Specifier) {
		if h := name + limit.String(); !limit.IsZero() && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	for _, n := range q.needs("torch", b.Release.Torch) {
		add(n.Of, n.Range)
	}
	for _, e := range q.extensions(b) {
		if e.row != nil {
			for _, n := range q.needs(e.name, e.row.Version) {
				if n.Of != "torch" {
					add(n.Of, n.Range)
				}
			}
			continue
		}
		for _, n := range q.cache.needs[e.name] {
			if n.Of == "torch" && !q.cache.admits(n.Range, b.Release.Torch) && e.req.URL == "" {
				add(e.name, others(n.Versions))
			}
		}
	}
	return out
}

// others are the versions that a specifier of one lower or upper bound leaves out;
// zero where it is another.
func others(s version.Specifier) version.Specifier {
	for _, op := range [][2]string{{">=", "<"}, {"<=", ">"}, {">", "<="}, {"<", ">="}} {
		if v, ok := strings.CutPrefix(s.String(), op[0]); ok && !strings.ContainsAny(v, ",*<>=!~") {
			if out, err := version.ParseSpecifier(op[1] + strings.TrimSpace(v)); err == nil {
				return out
			}
		}
	}
	return version.Specifier{}
}

// needRefusal says why no version of a package that was asked for works beside a
// build, for a reason that no metadata gives; nil where one does.
func (q *question) needRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	if r.URL != "" {
		return nil
	}
	for _, n := range q.needs("torch", b.Release.Torch) {
		if n.Of == r.Name && !overlap(n.Range, r.Spec) {
			return q.no(n.Source, "works with %s%s only (with another, %s), and you asked for %s", n.Of, n.Range, n.Effect, text.Cut(r.Text, 80))
		}
	}
	if len(q.wheels(r.Name)) > 0 {
		return nil // each wheel is asked about by itself
	}
	for _, n := range q.cache.needs[r.Name] {
		if n.Of != "torch" || q.cache.admits(n.Range, b.Release.Torch) {
			continue
		}
		if rest := others(n.Versions); !rest.IsZero() && !overlap(rest, r.Spec) {
			return q.no(n.Source, "%s%s needs torch%s: without it %s", r.Name, n.Versions, n.Range, n.Effect)
		}
	}
	return nil
}

// unmetNeed says what one version of a package needs of torch that a build does not
// give; "" nothing.
func (q *question) unmetNeed(name string, v version.Python, b *matrix.Build) string {
	for _, n := range q.needs(name, v) {
		if n.Of == "torch" && !q.cache.admits(n.Range, b.Release.Torch) {
			return fmt.Sprintf("needs torch%s: without it %s", n.Range, n.Effect)
		}
	}
	return ""
}

// releasedWith is the version of a package that was released with a torch, where
// another one does not load beside it: torchcodec's was compiled against one minor
// release of torch each, until its interface stayed the same. "" any may load.
func (q *question) releasedWith(name string, b *matrix.Build) string {
	v, ok := b.Release.Companions[name]
	if !ok || name == triton || slices.Contains(companions, name) || isConda(b) {
		return ""
	}
	for _, n := range q.cache.needs[name] {
		if n.Of == "torch" && !q.cache.admits(n.Range, b.Release.Torch) {
			return v.String()
		}
	}
	return ""
}

// overlap reports whether some version may satisfy both specifiers. It tries the
// versions that they name, and their neighbours on both sides.
func overlap(a, b version.Specifier) bool {
	if a.IsZero() || b.IsZero() {
		return true
	}
	for _, text := range strings.FieldsFunc(a.String()+","+b.String(), func(r rune) bool { return strings.ContainsRune(",=<>!~ ", r) }) {
		for _, near := range neighbours(strings.TrimSuffix(text, ".*")) {
			v, err := version.ParsePython(near)
			if err == nil && a.Admits(v) && b.Admits(v) {
				return true
			}
		}
	}
	return false
}

// neighbours are a version, the next above it and one below it: 2.1 has 2.1.0.1 and
// 2.0.99999.
func neighbours(v string) []string {
	out := []string{v, v + ".0.1"}
	parts := strings.Split(v, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		if n, err := strconv.Atoi(parts[i]); err == nil && n > 0 {
			return append(out, strings.Join(append(parts[:i:i], fmt.Sprint(n-1), "99999"), "."))
		}
	}
	return out
}
