// Package propose has uv resolve what a project asks for before a plan of it is printed:
// uv proposes, the matrix disposes. The matrix says which torch, which build and which
// companions a machine can run; the index says for which Pythons the pinned versions have
// files; uv says whether the rest goes with them. What cannot be is named.
//
// Nothing of the project is run or followed, and nothing is built: uv sees requirements
// that were read, no configuration and no environment of anybody's, and the metadata of
// what has only source was read out of its archive.
package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/modules"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// A Loop is what a question is answered with.
type Loop struct {
	UV        string // the program
	Index     string // in place of the installer's default index; "" that one
	Patient   bool   // uv has five times the time: what it finds is installed
	AsOf      string // 2024-05-31: packages as the index had them at the end of that day; "" as it has them
	Platform  string // uv's name of the system
	System    machine.Platform
	Limits    []pep508.Requirement // constraints of the project
	Override  []pep508.Requirement
	Locked    []pep508.Requirement                    // what the project's own lock holds packages at
	Found     []string                                // Pythons that are here, the first that are tried
	Resolve   func(resolver.Request) *resolver.Choice // the matrix: what can be carried out; nil nothing
	Removed   []matrix.Removed
	Own       []string                 // the modules that the project's own sources import
	Framework func(name string) bool   // a framework beside torch, of which the matrix chooses the build
	Linked    func(name string) bool   // its wheels load beside some builds of torch alone
	Wheels    func(name string) bool   // there are wheels under another name, or beside the index: its source is not all that there is
	NoGPU     bool                     // none is here, and none is described
	Partly    func(name string) bool   // without code for the GPU it goes on, and a part of it works
	Later     func(name string) bool   // its sources build without CUDA's compiler, and compile their kernels at the first use
	Plain     []string                 // frameworks that are added for what imports them: the matrix is not asked, and they decide of no build
	NoCode    func(name string) string // why a package's sources serve no GPU that is here; "" they do, or it is not known

	shelf *shelf
	bound []pep508.Requirement // what packages that the request names in one version require within bounds
	calls int
	late  bool // uv did not come to an end with what is locked
	left  time.Duration
	still time.Duration // ends a uv that neither computes, reads nor writes; 0: the usual
}

// The bounds of one answer.
const (
	mostCalls = 14
	stillTime = 40 * time.Second // [Loop].still
	mostTime  = 60 * time.Second // of uv's processor time: a machine with much to do is waited for
)

// errLate is of a uv that stood still, or whose time is over.
var errLate = errors.New("uv did not come to an end")

// Propose answers for a request: with what the index has of its packages alone where there
// is no uv, or where it does not come to an end in time. The error is of ctx, or of a uv
// that could not be asked; then nothing is known but the data.
func (l *Loop) Propose(ctx context.Context, r resolver.Request) (*Answer, error) {
	l.left, l.still = l.time(mostTime), cmp.Or(l.still, l.time(stillTime))
	l.shelf = &shelf{platform: l.System, asOf: l.AsOf, pages: map[string]*index.Project{}}
	if url := l.defaultIndex(ctx); url != "" {
		if c, err := index.New(url, index.Options{Stall: 8 * time.Second}); err == nil {
			l.shelf.client = c
		}
	}
	look, seen := context.WithTimeout(ctx, mostTime/3)
	indexed := xslices.Filter(r.Requirements, func(q pep508.Requirement) bool { return !family(q.Name) && q.URL == "" })
	l.shelf.look(look, pep508.Names(indexed))
	seen()
	if l.UV == "" {
		return l.Unresolved(ctx, r, "uv is not here; `python3 -m pip install uv` brings it"), ctx.Err()
	}
	bound, end := context.WithTimeout(ctx, 5*l.time(mostTime)) // whatever moves, and however slowly
	defer end()
	a, err := l.resolved(bound, r)
	if errors.Is(err, errLate) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return l.Unresolved(ctx, r, fmt.Sprintf("%v: it stood still for %.0f seconds, or computed for %.0f", errLate, l.still.Seconds(), l.time(mostTime).Seconds())), nil
	}
	return a, err
}

func (l *Loop) time(most time.Duration) time.Duration {
	return say.Either(l.Patient, 5*most, most)
}

// resolved answers with uv.
func (l *Loop) resolved(ctx context.Context, r resolver.Request) (*Answer, error) {
	if _, by := modules.Brought("pkg_resources"); !byHand(r, "setuptools") { // what others require of it they mostly import that of
		l.Limits = append(slices.Clip(l.Limits), (&Answer{}).others(by)...)
	}
	if a, err := l.locked(ctx, r); a != nil || err != nil {
		return a, err
	}
	a, no, err := l.from(ctx, &Answer{}, r)
	if a != nil && len(l.Locked) > 0 {
		a.say("%s is not followed: %s", l.Locked[0].From, say.Either(l.late, "uv did not come to an end with it in time", "no set within it was found that runs here"))
	}
	if no != nil {
		a.Refused, a.Ways = no.sentence(), l.ways(ctx, a, r, no)
		for _, q := range no.named(a, r) {
			if line := where(q); line != q.Text {
				a.say("asked for: %s", line)
			}
			fits := xslices.Filter(preferred, func(python string) bool { return l.shelf.fit(ctx, q.Name, q.Spec, python) == matrix.FitWheel })
			if len(fits) > 0 && r.Python == "" && !slices.ContainsFunc(l.pythons(ctx, a, r), func(python string) bool { return slices.Contains(fits, python) }) {
				a.say("%s has wheels for Python %s alone, for which no torch runs here that the project admits", text.Cut(q.Text, 80), strings.Join(fits, ", "))
			}
		}
	}
	return a, err
}

// from answers for a request, beginning with what base says already; no is why uv found
// nothing that goes together.
func (l *Loop) from(ctx context.Context, base *Answer, r resolver.Request) (a *Answer, no *refusal, err error) {
	l.leave(ctx, base, r)
	l.heed(base, r, &Source{Name: "the project", Version: "itself", Imports: l.Own})
	var first *Answer
	pythons := l.pythons(ctx, base, r)
	strict := min(len(pythons), 3) // what has a wheel for another Python is not built, as long as that one may do
	var tried []string
	for i := range strict + len(pythons) {
		if i == strict {
			tried = nil
		}
		a := base.clone()
		a.Python, _ = xslices.Find(l.pythons(ctx, base, r), func(python string) bool { return !slices.Contains(tried, python) }) // what uv said orders them anew
		tried = append(tried, a.Python)
		err := l.at(ctx, a, r, i >= strict)
		if err == nil {
			err = a.unfetched()
		}
		if err == nil {
			l.idle(a, r)
			l.tell(ctx, a, r)
			return a, nil, nil
		}
		var why *refusal
		if !errors.As(err, &why) {
			return nil, nil, err
		}
		if first == nil {
			first, no = a, why
		}
		if l.calls >= mostCalls {
			break
		}
	}
	if first == nil {
		return base, nil, nil // the matrix refuses with every Python: it says why
	}
	l.tell(ctx, first, r)
	return first, no, nil
}

// leave keeps from the matrix what it would refuse although it can be had: packages that
// exist as source alone, and frameworks that the project asks for plainly, where their
// builds for the GPU are what does not go.
func (l *Loop) leave(ctx context.Context, a *Answer, r resolver.Request) {
	a.Plain = append(a.Plain, l.Plain...)
	if l.Resolve(a.Judged(r)) != nil {
		return
	}
	var source, partly []string
	for _, q := range r.Requirements {
		switch {
		case family(q.Name) || q.URL != "":
		case l.forMatrix(ctx, q) && l.built(ctx, q, r.Python): // what stays is the reason, and what is built beside it none
		case l.built(ctx, q, r.Python):
			if why := l.NoCode(q.Name); why != "" {
				a.Aside = append(a.Aside, q.Name)
				a.say("set aside: %s", why)
			} else {
				source = append(source, q.Name)
			}
		case q.From != "" && l.Partly(q.Name):
			partly = append(partly, q.Name)
		case q.From != "" && (l.NoGPU || len(q.Extras) == 0) && slices.ContainsFunc([]string{q.Name, q.Name + "-gpu"}, l.Framework):
			a.Plain = append(a.Plain, q.Name)
			if len(q.Extras) > 0 {
				a.say("%s is installed as it is asked for: what it brings for GPUs lies unused", where(q))
			}
		}
	}
	a.Plain = slices.Concat(a.Plain, source, partly)
	if l.Resolve(a.Judged(r)) != nil {
		for _, name := range partly {
			a.say("%s is installed as it is asked for: without code for this GPU only a part of it works", name)
		}
	} else {
		a.Plain = append(source, l.Plain...) // it is not the frameworks, and what is built is no reason either
	}
}

// built reports whether a package has to be built for a Python; "" is any.
func (l *Loop) built(ctx context.Context, q pep508.Requirement, python string) bool {
	return l.shelf.sourceOnly(ctx, q.Name, q.Spec) || python != "" && l.shelf.fit(ctx, q.Name, q.Spec, python) == matrix.FitSource
}

// forMatrix reports a package that is asked for by its name and of which the matrix says where
// it has wheels, and how it is built.
func (l *Loop) forMatrix(ctx context.Context, q pep508.Requirement) bool {
	return q.From == "" && !l.Later(q.Name) && (l.NoCode(q.Name) != "" || l.Framework(q.Name) || l.Wheels(q.Name) || l.hasCUDA(ctx, q))
}

// hasCUDA reports whether the archive of a package holds CUDA's sources.
func (l *Loop) hasCUDA(ctx context.Context, q pep508.Requirement) bool {
	f, v, ok := l.shelf.archive(ctx, q.Name, q.Spec)
	if !ok {
		return false
	}
	s, err := source(ctx, l.shelf.client, f, q.Name, v.String())
	return err != nil || s.Kind == "CUDA" // what cannot be read is as the matrix says
}

func family(name string) bool { return name == "torch" || slices.Contains(resolver.Companions(), name) }

// at asks for one Python, and takes out of the way what can be: what is on no index, what
// has only source, a torch that the rest does not go with.
func (l *Loop) at(ctx context.Context, a *Answer, r resolver.Request, builds bool) error {
	c := course{a: a, r: r, builds: builds}
	if l.build(ctx, a, r, append(l.pinned(a, r), a.Plain...), nil, builds); ctx.Err() != nil {
		return ctx.Err()
	}
	for {
		best := l.Resolve(a.Judged(r))
		if best == nil {
			return &refusal{"the matrix admits no torch for Python " + a.Python}
		}
		if l.past(ctx, a, best) {
			continue
		}
		versions, err := l.compile(ctx, l.job(a, r, best, ""))
		switch {
		case err != nil:
			if err, on := l.refused(ctx, &c, best, err); !on {
				return err
			}
		case l.brings(a, r, best, versions, false): // the matrix chooses their builds
		default:
			a.Versions = versions
			if c.loosened || !l.behind(ctx, a, r) {
				if l.brings(a, r, best, versions, true) {
					continue
				}
				return nil
			}
			c.loosened, c.fallback = true, a.clone()
			if !l.otherTorch(ctx, a, r, best, builds) {
				return nil
			}
		}
	}
}

// A course is how far one Python was asked about.
type course struct {
	a        *Answer
	r        resolver.Request
	builds   bool
	loosened bool    // another torch than the best was tried
	fallback *Answer // that goes, though older than what may go with another torch
}

// refused goes on after uv's error, where something can be taken out of the way: on is
// false where that is the end, with the error that it ends with.
func (l *Loop) refused(ctx context.Context, c *course, best *resolver.Choice, err error) (end error, on bool) {
	if c.fallback != nil {
		*c.a = *c.fallback // the newest of what was asked for does not go, with any torch
		return nil, false
	}
	var no *refusal
	if !errors.As(err, &no) || l.calls >= mostCalls {
		return err, false
	}
	switch moved, err := l.clear(ctx, c.a, c.r, no, c.builds); {
	case err != nil:
		return err, false
	case moved, l.older(c.a, c.r, best, no), l.plainly(c.a, c.r, best, no):
		return nil, true
	case !c.loosened && best.Torch != "" && strings.Contains(no.text, "torch"):
		c.loosened = true
		return no, l.otherTorch(ctx, c.a, c.r, best, c.builds)
	}
	return no, false
}

// pinned are the packages beyond torch's family of which a request names one version.
func (l *Loop) pinned(a *Answer, r resolver.Request) []string {
	exact := xslices.Filter(r.Requirements, func(q pep508.Requirement) bool {
		return strings.HasPrefix(q.Spec.String(), "==") && !family(q.Name) && q.URL == "" && l.admits(q.Marker, a.Python)
	})
	return pep508.Names(exact)
}

// clear deals with what uv names: it reports whether another call may go further.
func (l *Loop) clear(ctx context.Context, a *Answer, r resolver.Request, no *refusal, builds bool) (bool, error) {
	own := slices.DeleteFunc(slices.Clone(l.Limits), func(q pep508.Requirement) bool { return q.From == resolver.OfOthers && no.names(q.Name) })
	moved := len(own) < len(l.Limits)
	l.Limits = own
	for _, name := range no.missing() {
		if !slices.Contains(a.Aside, name) && pep508.Asks(r.Requirements, name) && !byHand(r, name) {
			a.Aside = append(a.Aside, name)
			a.say("set aside: %s is not on the index", name)
			moved = true
		}
	}
	l.learn(r, no)
	return l.build(ctx, a, r, no.unusable(), no, builds) || moved, ctx.Err()
}

// learn keeps what others require and uv finds no wheel of for one Python: there may be one for
// another.
func (l *Loop) learn(r resolver.Request, no *refusal) {
	for _, name := range no.unusable() {
		spec, ok := no.versions(name)
		known := slices.ContainsFunc(l.bound, func(q pep508.Requirement) bool { return q.Name == name })
		if ok && !known && !pep508.Asks(r.Requirements, name) {
			l.bound = append(l.bound, pep508.Requirement{Name: name, Spec: spec, Text: name + spec.String()})
		}
	}
}

// build adds the packages among names that have to be built: those that have no wheel for
// this system, or with anyway none for this Python. no is what uv said of them; nil: it
// was not asked.
func (l *Loop) build(ctx context.Context, a *Answer, r resolver.Request, names []string, no *refusal, anyway bool) bool {
	spec := func(name string) version.Specifier {
		if said, ok := no.versions(name); ok {
			return said
		}
		return specOf(r, name)
	}
	names = xslices.Filter(xslices.Once(names), func(name string) bool { // a file may ask twice
		if slices.ContainsFunc(a.Build, func(s Source) bool { return s.Name == name }) || family(name) || byHand(r, name) && l.Wheels(name) {
			return false
		} // and of what is no source here, there is a wheel for another Python, or nothing is known
		return l.shelf.fit(ctx, name, spec(name), a.Python) == matrix.FitSource && (anyway || l.shelf.sourceOnly(ctx, name, spec(name)))
	})
	found := make([]*Source, len(names))
	_ = team.InParallel(len(names), atOnce, func(i int) error { // what could not be read is said to be so
		if f, v, ok := l.shelf.archive(ctx, names[i], spec(names[i])); ok {
			s, err := source(ctx, l.shelf.client, f, names[i], v.String())
			if err != nil {
				s.Kind = "unread"
			}
			found[i] = &s
		}
		return nil
	})
	found = xslices.Filter(found, func(s *Source) bool { return s != nil })
	for _, s := range found {
		a.Build = append(a.Build, *s)
		l.heed(a, r, s)
		if pep508.Asks(r.Requirements, s.Name) && !slices.Contains(a.Plain, s.Name) && !(byHand(r, s.Name) && l.Framework(s.Name)) {
			a.Plain = append(a.Plain, s.Name)
		}
	}
	return len(found) > 0
}
