package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/maintain"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/project"
	"envfix/internal/propose"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// fromData begins what is said where nobody resolved the packages.
const fromData = "from the data alone: that all of it can be installed together was not checked"

// proposed has uv resolve what a project asks for, before a plan of it is printed. nil: it
// was not asked, or could not say; then a note in said tells why.
func (f planFlags) proposed(ctx context.Context, q planning.Question, described bool) *planning.Proposal {
	if f.wish.Dir == "" && len(f.wish.Files) == 0 && !f.target.check && q.Target.AsOf == "" && !f.wish.FurtherPackages(q.Request) {
		return nil
	}
	l, loopless := f.loop(q, described)
	m, _ := managers.Find(q.Target.Manager)
	alone := func(why string) *planning.Proposal {
		if q.Target.AsOf != "" {
			return &planning.Proposal{Refused: fail.Wrong("`--as-of` needs uv to resolve the packages, and it did not: " + why)}
		}
		p := &planning.Proposal{Judged: q.Request, Installed: q.Request}
		p.Said, p.Lacks = f.wish.Unasked(nil, f.target.Closure)
		p.Said = append(p.Said, fromData+" ("+why+")")
		if loopless == nil {
			r, below := q.Request, append([]pep508.Requirement{}, f.wish.Below()...)
			r.Requirements = slices.Concat(r.Requirements, below)
			a := l.Unresolved(ctx, r, why)
			p.Judged, p.Said = a.Judged(q.Request), append(p.Said, a.Said...)
			p.Build = a.Builds(below)
		}
		return p
	}
	switch {
	case m.Channels != nil:
		return alone(m.Program + "'s own solver was not asked")
	case f.target.quick || os.Getenv("ENVFIX_QUICK") != "":
		return alone("--quick")
	case q.Target.Offline || os.Getenv("UV_OFFLINE") != "":
		return alone("--offline")
	case loopless != nil:
		return alone(ui.Clean(loopless.Error()))
	}
	a, err := kept(ctx, l, q)
	if err != nil {
		return alone(say.Either(errors.Is(err, context.Canceled), "interrupted", ui.Clip(ui.Clean(err.Error()), 200)))
	}
	if a.Refused != "" {
		hints := append(slices.Clone(a.Ways), "`--quick` answers from the data alone")
		return &planning.Proposal{Refused: &fail.Error{Code: fail.NoSolution, Text: "what was asked for cannot be installed together",
			Details: append([]string{"uv: " + ui.Clean(a.Refused)}, a.Said...), Hints: hints}}
	}
	unasked, lacks := f.wish.Unasked(a.Versions, f.target.Closure)
	a.Said = append(a.Said, unasked...)
	switch {
	case a.Unasked != "" && l.AsOf != "":
		return alone(a.Unasked)
	case a.Unasked != "":
		a.Said = append([]string{fromData + " (" + a.Unasked + ")"}, a.Said...)
	case len(a.Versions) == 0:
		a.Said = append(a.Said, fromData)
	}
	p := &planning.Proposal{Judged: a.Judged(q.Request), Installed: a.Installed(q.Request), Said: a.Said, Pins: a.Pins(),
		Override: text.Each(l.Override, pep508.Requirement.Line),
		Build:    a.Builds(nil), Lacks: lacks,
		Limits: xslices.Once(text.Each(a.Build, func(s propose.Source) []string { return s.Limits })...)}
	f.close(ctx, p, q, described)
	return p
}

// close finds what comes of asking for what the project's sources import as well, where the command
// that the plan names is to do that: what is built then, or that it would be refused.
func (f planFlags) close(ctx context.Context, p *planning.Proposal, q planning.Question, described bool) {
	if !p.Lacks || f.machine.mode == carriesOut {
		return
	}
	q.Request.Requirements = append(slices.Clip(q.Request.Requirements), f.wish.Closing()...)
	f.target.Closure = true
	l, err := f.loop(q, described)
	if err != nil {
		return // the same was asked for before
	}
	a, err := kept(ctx, l, q)
	switch {
	case err != nil: // then apply asks
	case a.Refused != "":
		p.Lacks, p.Said = false, append(p.Said, "`--closure` would be refused, for that does not go with the rest: uv: "+ui.Clip(ui.Clean(a.Refused), 300))
	default:
		p.Closing = a.Builds(nil)
	}
}

// kept is what is known of a question: the answer that was kept, or a new one.
func kept(ctx context.Context, l *propose.Loop, q planning.Question) (*propose.Answer, error) {
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "envfix", "resolved")
	}
	key, missing := keyOf(l, q), l.UV == ""
	if a := system.Kept[propose.Answer](dir, key); a != nil {
		return a, nil
	}
	if missing && l.Index == "" {
		if x, err := maintain.Open(ctx, ""); err == nil {
			l.Index = x.Address()
		}
	} else if isTerminal(stderr()) {
		io.WriteString(stderr(), "envfix: uv resolves what the project asks for\n")
	}
	a, err := l.Propose(ctx, q.Request)
	if err == nil && (a.Unasked == "" || missing) {
		_ = system.KeepAnswer(dir, key, a)
	}
	return a, err
}

// keyOf is under what the answer to a question is kept: what the data say is a part of it, and
// data come newer than the program.
func keyOf(l *propose.Loop, q planning.Question) string {
	h := q.Machine
	return system.Key(buildVersion, builtAt(), q.Matrix.Version, l.UV == "", q.Request, h.GPUs, h.DriverVersion(), h.Platform,
		l.Found, l.Index, l.Limits, l.Override, l.Locked, l.AsOf, l.Plain)
}

// loop is what uv and the matrix are asked with for a project.
func (f planFlags) loop(q planning.Question, described bool) (*propose.Loop, error) {
	platform := q.Machine.Platform
	match := lock.Match{OS: platform.OS, Arch: platform.Arch}
	if c := platform.Libc; c != nil {
		match.Libc = c.Kind + ">=" + c.Version.String()
	}
	l := &propose.Loop{UV: system.UV(system.ToolsDir()), System: platform, NoGPU: len(q.Machine.GPUs) == 0, Patient: f.machine.mode == carriesOut, AsOf: q.Target.AsOf,
		Index: team.DefaultIndex(plan.ParseMirrors(q.Target.Mirrors))}
	for _, path := range f.wish.Files {
		if p, err := project.Read(path); err == nil { // an error was reported when the request was read
			l.Limits, l.Override = append(l.Limits, p.Limits...), append(l.Override, p.Overrides...)
			for _, name := range p.Apart() { // what others require of it is that one, and none of the index
				l.Override = append(l.Override, pep508.Requirement{Name: name, Marker: "python_version < '0'"})
			}
		}
	}
	if f.wish.Lock != nil {
		l.Locked = f.wish.Lock.Pins
	}
	if !described || f.wish.Dir == "" && len(f.wish.Files) == 0 { // then as for torch alone
		for _, p := range q.Machine.Pythons {
			l.Found = xslices.Add(l.Found, version.Minor(p.Version))
		}
	}
	askMatrix(l, q)
	l.Own = f.wish.Parts
	for _, u := range f.wish.Undeclared { // what is added decides of no build
		if f.target.Closure && len(u.Ask) > 0 && (l.Framework(u.Ask[0].Name) || l.Framework(u.Ask[0].Name+"-gpu")) {
			l.Plain = xslices.Add(l.Plain, u.Ask[0].Name)
		}
	}
	var err error
	l.Platform, err = lock.UVPlatform(match)
	return l, err
}

// askMatrix lets what uv is asked with ask the matrix.
func askMatrix(l *propose.Loop, q planning.Question) {
	platform := q.Machine.Platform
	l.Removed = q.Matrix.Removed
	l.Resolve = q.Runs()
	l.Wheels = func(name string) bool {
		return slices.ContainsFunc(q.Matrix.ElsewhereOf(name, platform.OS, platform.Arch), func(e matrix.Elsewhere) bool { return e.URL != "" }) ||
			slices.ContainsFunc(q.Matrix.Frameworks, func(f matrix.Framework) bool {
				return strings.HasPrefix(f.Package, name+"-cu") || f.Package == name && f.Plain == "none" && f.Files == "" // its wheels are for another system
			})
	}
	l.Partly = func(name string) bool {
		return slices.ContainsFunc(q.Matrix.Extensions, func(e matrix.Extension) bool { return e.Package == name && e.Fails == "log" })
	}
	l.Later = func(name string) bool {
		return platform.OS == "linux" && slices.ContainsFunc(q.Matrix.Extensions, func(e matrix.Extension) bool {
			return e.Package == name && e.Sdist && strings.Contains(e.Note, "operators JIT")
		})
	}
	l.NoCode = func(name string) string {
		return resolver.Unbuildable(q.Matrix.ElsewhereOf(name, platform.OS, platform.Arch), q.Machine.GPUs)
	}
	l.Framework = func(name string) bool { return len(q.Matrix.FrameworksOf(name, platform.OS, platform.Arch)) > 0 }
	l.Linked = func(name string) bool {
		return slices.ContainsFunc(q.Matrix.Extensions, func(e matrix.Extension) bool {
			return e.Package == name && e.OS == platform.OS && e.CUDA != "" && (e.Fails == "import" || e.Fails == "call")
		})
	}
}
