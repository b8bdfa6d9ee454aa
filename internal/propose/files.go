package propose

import (
	"context"
	"slices"
	"strings"
	"sync"

	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"

	"golang.org/x/sync/errgroup"
)

// A shelf is what the default index has of packages: which files of which versions. Pages
// are read once.
type shelf struct {
	client   *index.Client
	platform machine.Platform
	asOf     string // files that came after that day are not seen; "" all are
	mu       sync.Mutex
	pages    map[string]*index.Project // nil: it could not be read
}

// mostPages is how many pages of an index are read for one project, and atOnce how many
// at a time.
const (
	mostPages = 120
	atOnce    = 8
)

// look reads the pages of packages, as far as the bounds allow.
func (s *shelf) look(ctx context.Context, names []string) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, name := range names[:min(len(names), mostPages)] {
		g.Go(func() error { s.page(ctx, name); return nil })
	}
	_ = g.Wait() // what could not be read is not known
}

// page is what the index has of a package; nil where that is not known.
func (s *shelf) page(ctx context.Context, name string) *index.Project {
	if s.client == nil {
		return nil
	}
	s.mu.Lock()
	p, known := s.pages[name]
	s.mu.Unlock()
	if known {
		return p
	}
	p, err := s.client.Project(ctx, name)
	if err != nil {
		p = nil
	} else if s.asOf != "" {
		p.Files = slices.DeleteFunc(p.Files, func(f index.File) bool {
			return f.Uploaded == "" || f.Uploaded[:min(len(f.Uploaded), len(s.asOf))] > s.asOf
		})
	}
	s.mu.Lock()
	s.pages[name] = p
	s.mu.Unlock()
	return p
}

// fit says whether some version that spec admits has a file here for a Python.
func (s *shelf) fit(ctx context.Context, name string, spec version.Specifier, python string) matrix.Fit {
	page := s.page(ctx, name)
	if page == nil {
		return matrix.FitUnknown
	}
	best := matrix.FitNone
	for _, f := range page.Files {
		v, wheel, ok := fileVersion(f.Name)
		if !ok || f.Yanked && !strings.HasPrefix(spec.String(), "==") || !spec.Admits(v) || !pythonAdmits(f.RequiresPython, python) {
			continue
		}
		switch {
		case wheel && f.Loads(python, s.platform):
			return matrix.FitWheel
		case !wheel:
			best = max(best, matrix.FitSource)
		}
	}
	return best
}

// newest is the newest release that spec admits and that has a wheel here for a Python.
func (s *shelf) newest(ctx context.Context, name string, spec version.Specifier, python string) (newest version.Python, ok bool) {
	page := s.page(ctx, name)
	if page == nil {
		return newest, false
	}
	_, newest, ok = page.NewestFor(spec, python, s.platform)
	return newest, ok
}

// sourceOnly reports whether every version of a package that spec admits has source
// distributions alone: no wheel for this system and any Python.
func (s *shelf) sourceOnly(ctx context.Context, name string, spec version.Specifier) bool {
	page := s.page(ctx, name)
	if page == nil {
		return false
	}
	some := false
	for _, f := range page.Files {
		if v, wheel, ok := fileVersion(f.Name); ok && spec.Admits(v) {
			if wheel && f.Loads("", s.platform) {
				return false
			}
			some = some || !wheel
		}
	}
	return some
}

// archive is the source distribution of the newest version that spec admits and that has
// no wheel.
func (s *shelf) archive(ctx context.Context, name string, spec version.Specifier) (f index.File, v version.Python, ok bool) {
	page := s.page(ctx, name)
	if page == nil {
		return f, v, false
	}
	for _, g := range page.Files {
		w, wheel, is := fileVersion(g.Name)
		if is && !wheel && !g.Yanked && spec.Admits(w) && (!ok || w.Compare(v) > 0) && (!w.IsPreRelease() || strings.Contains(spec.String(), "==")) {
			f, v, ok = g, w, true
		}
	}
	return f, v, ok
}

// fileVersion is the version of a file, and whether it is a wheel.
func fileVersion(name string) (v version.Python, wheel, ok bool) {
	text := ""
	if n, is := index.ParseName(name); is {
		text, wheel = n.Version, true
	} else if text, ok = index.SourceVersion(name); !ok {
		return v, false, false
	}
	v, err := version.ParsePython(text)
	return v, wheel, err == nil
}

// pythonAdmits reports whether a demand on Python, such as ">=3.8,<3.12" or "3.11", admits
// a minor release in one of its patches. A text that is no demand admits all.
func pythonAdmits(demand, minor string) bool {
	if demand == "" || demand == minor {
		return true
	}
	if version.Minor(demand) == demand && !strings.ContainsAny(demand, "<>=!~*") {
		return false
	}
	spec, err := version.ParseSpecifier(demand)
	if err != nil {
		return true
	}
	return slices.ContainsFunc([]string{minor + ".99", minor + ".0", minor}, func(text string) bool {
		v, err := version.ParsePython(text)
		return err == nil && spec.Admits(v)
	})
}
