package propose

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// asked are the lines for what a request, and what others bring, ask for beside what was chosen.
func (a *Answer) asked(r resolver.Request, c *resolver.Choice, chosen map[string]bool) (lines []string) {
	for _, q := range append(a.Installed(r).Requirements, a.others(a.Brought)...) {
		switch {
		case q.URL != "" && !strings.HasSuffix(strings.Split(q.URL, "#")[0], ".whl"):
			a.say("not checked: %s, which comes from an address", text.Cut(q.Text, 80))
		case chosen[q.Name] && len(q.Extras) == 0 || family(q.Name):
		case c.Ask[q.Name] != "":
			lines = append(lines, c.Ask[q.Name])
		default:
			q.Label = ""
			lines = append(lines, q.Line())
		}
	}
	for _, name := range a.Plain {
		if ask := c.Ask[name]; ask != "" && !pep508.Asks(r.Requirements, name) { // what packages of the request bring, and the matrix asks for
			lines = append(lines, ask)
		}
	}
	return lines
}

// job is what uv is asked for a choice of the matrix. The default index's metadata stands
// for a torch of the same version with another label. loose, where it is not "", is in
// place of torch's and its companions' versions.
func (l *Loop) job(a *Answer, r resolver.Request, c *resolver.Choice, loose string) job {
	j := job{python: strings.TrimSuffix(a.Python, "t"), sources: a.Build}
	chosen := map[string]bool{}
	var last []string // uv settles what stands first, first
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		public, _ := version.SplitLocal(c.Packages[name])
		switch {
		case !family(name) && (public == "" || loose != ""):
			continue
		case public == "" || loose != "":
			last = append(last, say.Either(name == "torch" && loose != "", loose, name))
		default:
			j.lines = append(j.lines, name+"=="+public)
		}
		chosen[name] = true
	}
	j.lines = slices.Concat(j.lines, a.asked(r, c, chosen), last, c.Holds)
	limits := xslices.Filter(l.Limits, func(q pep508.Requirement) bool { return !family(q.Name) })
	j.limits, j.overrides = text.Each(limits, pep508.Requirement.Line), text.Each(l.Override, pep508.Requirement.Line)
	return j
}

// tell says what was decided where it differs from what is usual.
func (l *Loop) tell(ctx context.Context, a *Answer, r resolver.Request) {
	newer, _ := xslices.Find(preferred, func(python string) bool { return python == a.Python || pythonAdmits(r.ProjectPython, python) })
	for _, q := range slices.Concat(r.Requirements, l.bound) {
		if newer == "" || newer == a.Python || r.Python != "" {
			break
		}
		if fit := l.shelf.fit(ctx, q.Name, q.Spec, newer); (fit == matrix.FitNone || fit == matrix.FitSource) &&
			l.shelf.fit(ctx, q.Name, q.Spec, a.Python) == matrix.FitWheel && !family(q.Name) && l.admits(q.Marker, newer) {
			a.say("Python %s, not %s: %s has no wheel for %s", a.Python, newer, text.Cut(q.Name+q.Spec.String(), 80), newer)
			break
		}
	}
	l.tellBuilds(a, r)
}

// tellBuilds says what is built, and which builds are not to be had.
func (l *Loop) tellBuilds(a *Answer, r resolver.Request) {
	for _, q := range r.Requirements {
		if a.elsewhere(q) {
			a.say("%s: the index has it in no such build, and %s without is installed", where(q), q.Name+q.Spec.String())
		}
	}
	var kinds []string // of several that are alike one sentence speaks
	alike := map[string][]string{}
	for _, s := range a.Build {
		if slices.Contains(a.Aside, s.Name) && a.Versions[s.Name] == "" { // and nothing else brings it
			continue
		}
		known := "what it requires is not known"
		if s.Read != "" {
			known = "its requirements were read from the " + s.Read + " in its archive, nothing of it was run"
		}
		needs := s.needs()
		if l.Later(s.Name) {
			needs = "its kernels are compiled at their first use, with nvcc of torch's own CUDA and a C++ compiler, which nothing here brings"
		}
		kind := needs + "): " + known
		kinds = xslices.Add(kinds, kind)
		alike[kind] = append(alike[kind], s.Name+" "+s.Version)
		if len(s.Limits) > 0 {
			a.say("to build %s %s takes %s: a later one has no more what its setup.py imports", s.Name, s.Version, strings.Join(s.Limits, ", "))
		}
	}
	for _, kind := range kinds {
		a.say("only a source distribution is there of %s (%s; it is built at apply", say.If(len(alike[kind]) > 1, "each of ")+strings.Join(alike[kind], ", "), kind)
	}
}

// needs is what building a source takes.
func (s Source) needs() string {
	return cmp.Or(map[string]string{"CUDA": "CUDA sources: building needs nvcc of torch's own CUDA and a C++ compiler",
		"compiler": "building needs a compiler", "pure": "pure Python", "stub": "building it fetches a wheel of its project's own index, which nobody looked at"}[s.Kind], "its archive could not be read")
}
