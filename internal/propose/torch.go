package propose

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// What uv's answer says of the matrix's choice: that another torch, another release of a
// package with GPU code, or a build that nobody asked for belongs to it.

// brings adds to an answer what uv found that others require and whose build matters:
// torch's family, frameworks and what is linked against a CUDA, of which the matrix chose
// none, or with held another version than was found; of the version that was found, as far as
// one of it runs here. What has no build that goes with the rest stays as it is found. It
// reports whether the matrix has to be asked again.
func (l *Loop) brings(a *Answer, r resolver.Request, c *resolver.Choice, versions map[string]string, held bool) bool {
	before := len(a.Brought)
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		has := r
		has.Requirements = slices.Concat(r.Requirements, a.others(a.Brought))
		if chosen(c, name, versions[name], held && !pep508.Asks(r.Requirements, name)) || pep508.Asks(has.Requirements, name) || slices.Contains(a.Plain, name) ||
			!family(name) && !l.Framework(name) && !l.Linked(name) {
			continue
		}
		for _, line := range []string{name + "==" + versions[name], name} {
			b := a.clone()
			b.Brought = append(b.Brought, line)
			if family(name) && line == name || !family(name) && l.Resolve(b.Judged(r)) != nil {
				a.Brought = b.Brought
				break
			}
		}
	}
	return len(a.Brought) > before && l.calls < mostCalls
}

// idle adds to an answer what uv found beside a framework that was asked for by its name, and
// of which no release runs here: cuml has its code in what it requires. The matrix says why.
func (l *Loop) idle(a *Answer, r resolver.Request) {
	if l.NoGPU || !slices.ContainsFunc(r.Requirements, func(q pep508.Requirement) bool { return q.From == "" && l.Framework(q.Name) }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.Versions)) {
		alone := r
		alone.Requirements, alone.Python = pep508.Read([]string{name}, resolver.OfOthers), a.Python
		if l.Framework(name) && !pep508.Asks(r.Requirements, name) && !slices.Contains(a.Plain, name) && l.Resolve(alone) == nil {
			a.Brought = append(a.Brought, name)
		}
	}
}

// chosen reports whether a choice has a package, perhaps under the name of its CUDA; held: in
// the version at.
func chosen(c *resolver.Choice, name, at string, held bool) bool {
	_, has := c.Packages[name]
	v, bad := version.ParsePython(at)
	for _, ask := range c.Ask {
		if q, err := pep508.Parse(ask, ""); err == nil && q.Name == name {
			has = !held || bad != nil || q.Spec.Admits(v)
		}
	}
	return has
}

// behind reports whether uv took an older release of a package of the request than there
// is a wheel of: an old one often goes with any torch because it says nothing of it.
func (l *Loop) behind(ctx context.Context, a *Answer, r resolver.Request) bool {
	return slices.ContainsFunc(a.Installed(r).Requirements, func(q pep508.Requirement) bool {
		v, err := version.ParsePython(a.Versions[q.Name])
		newest, ok := l.shelf.newest(ctx, q.Name, q.Spec, a.Python)
		return err == nil && ok && !family(q.Name) && q.URL == "" && version.Minor(newest.String()) != version.Minor(v.String()) && newest.Compare(v) > 0
	})
}

// otherTorch has uv choose among the releases of torch that the matrix admits, the newest
// of the other packages first, and limits the answer to that one. What only the packages of
// another torch bring may have to be built.
func (l *Loop) otherTorch(ctx context.Context, a *Answer, r resolver.Request, c *resolver.Choice, builds bool) bool {
	newest, oldest := c.Torch, c.Torch
	for range 40 {
		b := a.clone()
		b.Limits = append(b.Limits, "torch<"+oldest)
		best := l.Resolve(b.Judged(r))
		if best == nil || best.Torch == "" {
			break
		}
		oldest = best.Torch
	}
	if oldest == newest {
		return false
	}
	b := a.clone()
	found, err := l.compile(ctx, l.job(b, r, c, "torch>="+oldest+",<="+newest))
	for no := (*refusal)(nil); errors.As(err, &no) && l.calls < mostCalls; {
		if moved, end := l.clear(ctx, b, r, no, builds); !moved || end != nil {
			return false
		}
		found, err = l.compile(ctx, l.job(b, r, c, "torch>="+oldest+",<="+newest))
	}
	public, _ := version.SplitLocal(found["torch"])
	if err != nil || public == "" || public == newest {
		return false
	}
	b.Limits = append(b.Limits, "torch=="+public)
	if l.Resolve(b.Judged(r)) == nil {
		return false
	}
	*a = *b
	a.say("torch %s, not %s: the other packages ask for it", public, newest)
	return true
}

// dependsOn is what uv says that others require of a package: `depends on name>=1,<2`.
var dependsOn = lazy.Regexp(`depends on ([A-Za-z0-9._-]+)(?:\{[^}]*\})?((?:[<>=~!]=?[0-9][^\s,]*,?)+)`)

// older limits a package that the matrix chose, and that nobody asked for in a version, to
// a release before the one of which uv speaks. It reports whether the matrix admits one.
func (l *Loop) older(a *Answer, r resolver.Request, c *resolver.Choice, no *refusal) bool {
	for _, q := range a.Installed(r).Requirements {
		chosen := c.Packages[q.Name]
		if family(q.Name) || !q.Spec.IsZero() || q.URL != "" || chosen == "" || !strings.Contains(no.text, q.Name+"=="+chosen) {
			continue
		}
		v, limit := version.Public(chosen), "<"+chosen
		for _, m := range dependsOn().FindAllStringSubmatch(no.text, -1) {
			said := strings.TrimRight(m[2], ",.")
			if spec, err := version.ParseSpecifier(said); err == nil && m[1] == q.Name && !spec.Admits(v) {
				limit = said
			}
		}
		b := a.clone()
		b.Brought, b.Limits = nil, append(b.Limits, q.Name+limit) // an older one brings others
		if best := l.Resolve(b.Judged(r)); best != nil && best.Packages[q.Name] != chosen {
			a.Brought, a.Limits = nil, b.Limits
			a.say("%s before %s, which does not go with the rest", q.Name, chosen)
			return true
		}
	}
	return false
}

// plainly leaves frameworks of which uv speaks as the project's file asks for them, where
// it is the matrix that asks for more: their build for the GPU; and what others bring, as they
// ask for it, for without a build of it all went. It reports whether it did.
func (l *Loop) plainly(a *Answer, r resolver.Request, c *resolver.Choice, no *refusal) bool {
	before := len(a.Plain)
	for _, q := range r.Requirements {
		ask, _ := pep508.Parse(c.Ask[q.Name], "")
		if q.From == "" || ask.Name == "" || len(q.Extras) > 0 || !l.Framework(ask.Name) || !no.names(q.Name) && !no.names(ask.Name) {
			continue
		}
		a.Plain = xslices.Add(a.Plain, q.Name)
		if ask.Name != q.Name && pep508.Asks(r.Requirements, ask.Name) { // its build for the GPU is asked for beside it
			a.Plain = slices.DeleteFunc(a.Plain, func(name string) bool { return name == ask.Name })
			return true
		}
		a.say("%s stays as it is asked for: %s does not go with the rest, and on the GPU it may not run", q.Name, c.Ask[q.Name])
	}
	for _, q := range a.others(a.Brought) {
		if !family(q.Name) {
			a.Plain = append(a.Plain, q.Name)
			a.say("%s stays as the other packages ask for it: no build of it for this GPU goes with them, and on the GPU it may not run", q.Name)
		}
	}
	return len(a.Plain) > before
}

// past limits what the matrix chose to what the index had on the day that is asked about.
// It reports whether the matrix has to be asked again.
func (l *Loop) past(ctx context.Context, a *Answer, c *resolver.Choice) bool {
	before := len(a.Limits)
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		if l.AsOf == "" || family(name) {
			continue
		}
		chosen := version.Public(c.Packages[name])
		newest, ok := l.shelf.newest(ctx, name, version.Specifier{}, a.Python)
		if limit := name + "<=" + newest.String(); ok && newest.Compare(chosen) < 0 {
			a.Limits = xslices.Add(a.Limits, limit)
		}
	}
	return len(a.Limits) > before
}

// byHand reports whether a package was asked for by its name, and not by a file.
func byHand(r resolver.Request, name string) bool {
	return slices.ContainsFunc(r.Requirements, func(q pep508.Requirement) bool { return q.Name == machine.NormalName(name) && q.From == "" })
}

// specOf is what a request asks of a package; anything where it does not name it.
func specOf(r resolver.Request, name string) version.Specifier {
	q, _ := xslices.Find(r.Requirements, func(q pep508.Requirement) bool { return q.Name == machine.NormalName(name) })
	return q.Spec
}
