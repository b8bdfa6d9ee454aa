package version

import (
	"slices"
	"strings"
)

// Most versions are a release and nothing else, and most specifiers name such: for
// these the library's regular expressions, and its comparisons of what it has written
// as text again, were most of the time of a question. A test holds what is here against
// the library.

// A release is the release segment of a version (PEP 440), such as 2.15.0.
type release struct {
	groups [5]int // zero beyond n
	n      int
}

// plainRelease reads a version that is a release and nothing else.
func plainRelease(text string) (r release, ok bool) {
	digits := 0
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9' && digits < 9:
			r.groups[r.n] = r.groups[r.n]*10 + int(c-'0')
			digits++
		case c == '.' && digits > 0 && r.n+1 < len(r.groups):
			r.n, digits = r.n+1, 0
		default:
			return r, false
		}
	}
	r.n++
	return r, digits > 0
}

// A bound is a clause of a specifier: an operator and a release.
type bound struct {
	operator string
	than     release
	prefix   bool // "==2.9.*"
}

// plain are the bounds of a specifier that consists of them.
func (p *specifier) plain() ([]bound, bool) {
	p.boundsOnce.Do(func() {
		for clause := range strings.SplitSeq(p.text, ",") {
			b, ok := readBound(strings.TrimSpace(clause))
			if !ok {
				return
			}
			p.bounds = append(p.bounds, b)
		}
		p.bounded = true
	})
	return p.bounds, p.bounded
}

func readBound(clause string) (b bound, ok bool) {
	version := strings.TrimLeft(clause, "=<>!~")
	b.operator = clause[:len(clause)-len(version)]
	version, b.prefix = strings.CutSuffix(strings.TrimSpace(version), ".*")
	if b.than, ok = plainRelease(version); !ok {
		return b, false
	}
	switch b.operator {
	case "==", "!=":
		return b, true
	case ">=", "<=", ">", "<":
		return b, !b.prefix
	case "~=":
		return b, !b.prefix && b.than.n > 1
	}
	return b, false
}

// admits is PEP 440, "Version specifiers", for a version that is a release.
func (b bound) admits(v release) bool {
	c := slices.Compare(v.groups[:], b.than.groups[:])
	switch b.operator {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	case "~=":
		return c >= 0 && v.begins(b.than, b.than.n-1)
	}
	equal := c == 0
	if b.prefix {
		equal = v.begins(b.than, b.than.n)
	}
	return equal == (b.operator == "==")
}

// begins reports whether the first n groups are those of w.
func (r release) begins(w release, n int) bool {
	return slices.Equal(r.groups[:n], w.groups[:n])
}
