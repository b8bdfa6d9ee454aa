package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// Conflicts returns a function that says in a few words why one version of a package
// does not go with the choice c, "" where it does: by the wheels that the matrix
// knows, and without asking for GPU code, which is as it was. known is false where
// nobody read that version.
func Conflicts(m *matrix.Matrix, h machine.Machine, c *Choice) func(name, ver string) (why string, known bool) {
	nobody := func(string, string) (string, bool) { return "", false }
	s, err := newProblem(m, h, Request{})
	py, err2 := parsePy(c.Python)
	if err != nil || err2 != nil {
		return nobody
	}
	var build *matrix.Build
	s.builds(func(b *matrix.Build) {
		if b.Label == c.Build && b.Release.Torch.String() == c.Torch {
			build = b
		}
	})
	if build == nil {
		return nobody
	}
	q := s.ask(accelOf(c.Build), nil, driver{}, py)
	return func(name, ver string) (string, bool) {
		v := version.Public(ver)
		if v.IsZero() {
			return "", false
		}
		return q.conflict(name, v, build)
	}
}

func (q *attempt) conflict(name string, v version.Python, b *matrix.Build) (why string, known bool) {
	for _, n := range q.p.needs("torch", b.Release.Torch) {
		if n.Of == name && !n.Range.Admits(v) {
			return fmt.Sprintf("torch %s works with %s%s only: with another, %s", b.Release.Torch, name, n.Range, n.Effect), true
		}
	}
	if why := q.unmetNeed(name, v, b); why != "" {
		return why, true
	}
	for _, e := range q.p.wheels(name) { // an sdist after the wheels of its version
		if e.Version.Compare(v) != 0 {
			continue
		}
		row := *e
		row.Yanked = false // an exact version is installed all the same
		w := q.packages().mismatch(pep508.Requirement{}, &row, b)
		if w == "" {
			return "", true
		}
		why = cmp.Or(why, w)
		known = true
	}
	return why, known
}

// Companions are the packages that PyTorch releases to go with torch.
func Companions() []string { return slices.Clone(companions) }
