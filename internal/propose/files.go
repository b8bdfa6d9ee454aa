package propose

import (
	"context"
	"slices"
	"strings"
	"sync"

	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/team"
	"envfix/internal/version"
	"envfix/matrix"
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
	_ = team.InParallel(min(len(names), mostPages), atOnce, func(i int) error { s.page(ctx, names[i]); return nil }) // what could not be read is not known
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

// An offered file is one of a version that is asked for.
type offered struct {
	index.File
	version version.Python
	wheel   bool // else a source distribution
}

// files are those of a package that a specifier admits; known is false where its page
// could not be read.
func (s *shelf) files(ctx context.Context, name string, spec version.Specifier) (out []offered, known bool) {
	page := s.page(ctx, name)
	if page == nil {
		return nil, false
	}
	for _, f := range page.Files {
		n, wheel := index.ParseName(f.Name)
		if !wheel {
			n.Version, _ = index.SourceVersion(f.Name)
		}
		if v, err := version.ParsePython(n.Version); err == nil && spec.Admits(v) {
			out = append(out, offered{f, v, wheel})
		}
	}
	return out, true
}

// fit says whether some version that spec admits has a file here for a Python.
func (s *shelf) fit(ctx context.Context, name string, spec version.Specifier, python string) matrix.Fit {
	files, known := s.files(ctx, name, spec)
	if !known {
		return matrix.FitUnknown
	}
	best := matrix.FitNone
	for _, f := range files {
		switch {
		case f.Yanked && !strings.HasPrefix(spec.String(), "==") || !pythonAdmits(f.RequiresPython, python):
		case f.wheel && f.Loads(python, s.platform):
			return matrix.FitWheel
		case !f.wheel:
			best = matrix.FitSource
		}
	}
	return best
}

// newest is the newest release that spec admits and that has a wheel here for a Python.
func (s *shelf) newest(ctx context.Context, name string, spec version.Specifier, python string) (newest version.Python, ok bool) {
	if page := s.page(ctx, name); page != nil {
		_, newest, ok = page.NewestFor(spec, python, s.platform)
	}
	return newest, ok
}

// sourceOnly reports whether every version of a package that spec admits has source
// distributions alone: no wheel for this system and any Python.
func (s *shelf) sourceOnly(ctx context.Context, name string, spec version.Specifier) bool {
	files, _ := s.files(ctx, name, spec)
	wheel := func(f offered) bool { return f.wheel && f.Loads("", s.platform) }
	return !slices.ContainsFunc(files, wheel) && slices.ContainsFunc(files, func(f offered) bool { return !f.wheel })
}

// archive is the source distribution of the newest version that spec admits and that has
// no wheel.
func (s *shelf) archive(ctx context.Context, name string, spec version.Specifier) (f index.File, v version.Python, ok bool) {
	files, _ := s.files(ctx, name, spec)
	for _, g := range files {
		if !g.wheel && !g.Yanked && (!ok || g.version.Compare(v) > 0) && (!g.version.IsPreRelease() || strings.Contains(spec.String(), "==")) {
			f, v, ok = g.File, g.version, true
		}
	}
	return f, v, ok
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
	return err != nil || minor != "" && spec.AdmitsMinor(minor)
}
