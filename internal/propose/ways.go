package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// A way out is tried before it is named, and each try costs a resolution.
const (
	maxWays  = 2
	maxTries = 6
)

// ways are the smallest changes with which what was asked for can be installed: of what
// uv names in its refusal another version, then a package left out, then another Python.
func (l *Loop) ways(ctx context.Context, a *Answer, r resolver.Request, no *refusal) []string {
	var out []string
	left := maxTries
	resolves := func(b *Answer, r resolver.Request) *Answer {
		if len(out) == maxWays {
			return nil
		}
		return l.tried(ctx, b, r, &left)
	}
	with := func(c *Answer) string { return say.If(c.Python != a.Python, ", with Python "+c.Python) }
	named := no.named(a, r)
	alone := text.Each(named, func(q pep508.Requirement) []pep508.Requirement { return []pep508.Requirement{q} })
	for i, some := range append([][]pep508.Requirement{l.gone(ctx, r)}, alone...) {
		if i == 0 && len(some) < 2 || some[0].Spec.IsZero() {
			continue
		}
		if c := resolves(a, loosened(r, some)); c != nil && c.Versions[some[0].Name] != "" {
			found := text.Each(some, func(q pep508.Requirement) string { return q.Name + " " + c.Versions[q.Name] })
			out = append(out, fmt.Sprintf("%s %s with the rest%s; you asked for %s", list(found), say.Either(i == 0, "go", "goes"), with(c), list(text.Each(some, where))))
		}
	}
	for _, q := range named {
		if b := a.clone(); q.Name != "torch" {
			b.Aside = append(b.Aside, q.Name)
			if c := resolves(b, r); c != nil {
				out = append(out, fmt.Sprintf("without %s the rest can be installed%s", where(q), with(c)))
			}
		}
	}
	if n := len(preferred); r.Python != "" && len(out) == 0 {
		for _, python := range preferred[:min(n, 4)] {
			other := r
			if other.Python = python; python != r.Python && pythonAdmits(r.ProjectPython, python) && resolves(a, other) != nil {
				return []string{"`--python " + python + "`: there all of it can be installed"}
			}
		}
	}
	return out
}

// named are the requirements of which a refusal speaks.
func (no *refusal) named(a *Answer, r resolver.Request) []pep508.Requirement {
	return xslices.Filter(r.Requirements, func(q pep508.Requirement) bool {
		return q.URL == "" && !slices.Contains(a.Aside, q.Name) && no.names(q.Name)
	})
}

// gone are the requirements of which the index has no version, and has others.
func (l *Loop) gone(ctx context.Context, r resolver.Request) []pep508.Requirement {
	return xslices.Filter(r.Requirements, func(q pep508.Requirement) bool {
		files, known := l.shelf.files(ctx, q.Name, q.Spec)
		return q.URL == "" && !family(q.Name) && known && len(files) == 0 && !q.Spec.IsZero()
	})
}

// loosened is a request with some of its requirements in any version.
func loosened(r resolver.Request, some []pep508.Requirement) resolver.Request {
	r.Requirements = slices.Clone(r.Requirements)
	for i, q := range r.Requirements {
		if slices.ContainsFunc(some, func(one pep508.Requirement) bool { return q.Text == one.Text && q.From == one.From }) {
			r.Requirements[i] = pep508.Requirement{Name: q.Name, Extras: q.Extras, Marker: q.Marker, Text: q.Name}
		}
	}
	return r
}

func list(names []string) string { return strings.Join(say.Few(names, 6, "%d more"), ", ") }

// where is a requirement as it is written, and the line on which.
func where(q pep508.Requirement) string {
	if file, line, ok := strings.Cut(q.From, ":"); ok && file != "" && line != "" && strings.Trim(line, "0123456789") == "" {
		return text.Cut(q.Text, 80) + " (" + text.Cut(q.From, 80) + ")"
	}
	return text.Cut(q.Text, 80)
}

// names reports whether a refusal speaks of a package.
func (no *refusal) names(name string) bool {
	return slices.Contains(strings.FieldsFunc(no.text, func(c rune) bool { return c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }), name)
}

// tried is what a changed question leads to, with one of the likeliest Pythons; nil where
// nothing goes, or too much was tried.
func (l *Loop) tried(ctx context.Context, a *Answer, r resolver.Request, left *int) *Answer {
	pythons := l.pythons(ctx, a, r)
	for _, python := range pythons[:min(len(pythons), 2)] { // another version may be for another Python
		if *left--; *left < 0 || ctx.Err() != nil {
			return nil
		}
		c := a.clone()
		c.Python, l.calls = python, mostCalls-maxTries
		if l.at(ctx, c, r, true) == nil && len(c.Versions) > 0 {
			return c
		}
	}
	return nil
}
