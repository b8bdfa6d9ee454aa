package resolver

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A cache holds what does not change while one machine is resolved: nearest
// answers ask the same builds about the same GPUs many times.
type cache struct {
	wheels     []*matrix.Build                   // for this system, newest torch first
	channel    map[string][]*matrix.Build        // nightly and test builds, by channel and pinned version
	behind     map[*matrix.Build]*matrix.Release // the release that a channel's build is inferred from
	conda      func() []*matrix.Build            // the conda channels' builds in the same form
	rank       map[*matrix.Release]int           // position of a release, newest first
	py         map[*matrix.Build][2]py
	code       map[codeKey][2]bool // native, ptx
	stack      map[codeKey]gap
	rows       map[string][]*matrix.Extension // wheels of a package
	beside     map[besideKey][]*matrix.Extension
	read       map[*matrix.Extension]code            // what is known of a wheel's code
	versions   map[string][]version.Python           // releases of a package with known files
	rowless    map[string][]version.Python           // of these, those that no row tells of
	elsewhere  map[string][]matrix.Elsewhere         // places of a package
	byPackage  func() map[string][]*matrix.Extension // rows of every system, in the order of the data
	met        map[string]bool                       // whether some specifiers admit what others do not
	noneSeen   bool                                  // nobody has seen any wheel for this system: Windows on ARM
	needs      map[string][]matrix.Need              // by package, for this system
	frameworks map[string][]*matrix.Build            // by plain name, of every system
	files      map[fileKey]string                    // why a wheel has no file here
	admit      map[admitKey]bool                     // specifiers asked about
	fit        map[fitKey]bool                       // Pythons asked about
	every      func() []py                           // the ordinary Pythons that any build is made for, the usual one, then newest first
	table      func() *matrix.DeviceTable            // asked where a GPU is known by its name only
	models     map[string]matrix.Device              // what it said
}

// remembered is what a question about a key was answered with, asked once.
func remembered[K comparable, V any](answers map[K]V, key K, ask func() V) V {
	v, known := answers[key]
	if !known {
		v = ask()
		answers[key] = v
	}
	return v
}

type admitKey struct{ spec, version string }

// A besideKey asks for the wheels of a package beside a torch.
type besideKey struct {
	name, torch string
	byWord      bool
}

type fitKey struct {
	py   py
	spec string
}

type codeKey struct {
	b  *matrix.Build
	sm machine.SM
}

type fileKey struct {
	name, version, libc string
	py                  py
}

// A gap is the first library of a build that has no code for a GPU, once of
// those that every job needs and once of those that several GPUs need.
type gap struct{ core, several *matrix.Pinned }

func newCache(m *matrix.Matrix, p machine.Platform) *cache {
	c := &cache{
		rank: make(map[*matrix.Release]int, len(m.Releases)), py: map[*matrix.Build][2]py{},
		code: map[codeKey][2]bool{}, stack: map[codeKey]gap{}, rows: map[string][]*matrix.Extension{},
		beside: map[besideKey][]*matrix.Extension{}, read: map[*matrix.Extension]code{}, versions: map[string][]version.Python{},
		rowless:   map[string][]version.Python{},
		elsewhere: map[string][]matrix.Elsewhere{},
		needs:     map[string][]matrix.Need{}, frameworks: frameworkBuilds(m), files: map[fileKey]string{},
		admit: map[admitKey]bool{}, fit: map[fitKey]bool{}, models: map[string]matrix.Device{},
		met: map[string]bool{}, channel: map[string][]*matrix.Build{}, behind: map[*matrix.Build]*matrix.Release{},
		table:     sync.OnceValue(matrix.Devices),
		conda:     sync.OnceValue(func() []*matrix.Build { return condaBuilds(m, p) }),
		every:     sync.OnceValue(func() []py { return everyPython(m) }),
		byPackage: sync.OnceValue(func() map[string][]*matrix.Extension { return byPackage(m) }),
	}
	for _, n := range m.Needs {
		if matrix.IsFor(n.OS, n.Arch, p.OS, p.Arch) {
			c.needs[n.Package] = append(c.needs[n.Package], n)
		}
	}
	for _, list := range c.frameworks {
		for i, b := range list {
			c.rank[b.Release] = i
		}
	}
	for i, r := range m.Releases {
		c.rank[r] = i
		c.wheels = append(c.wheels, xslices.Filter(r.Builds, func(b *matrix.Build) bool { return b.OS == p.OS && b.Arch == p.Arch })...)
	}
	c.noneSeen = !slices.ContainsFunc(c.wheels, func(b *matrix.Build) bool { return b.Status != matrix.NotSeen })
	return c
}

// newerTorch orders two builds by their torch, positive where a's is newer.
func (c *cache) newerTorch(a, b *matrix.Build) int {
	if a.Release == b.Release {
		return 0
	}
	i, ok1 := c.rank[a.Release]
	j, ok2 := c.rank[b.Release]
	if ok1 && ok2 {
		return j - i
	}
	return a.Release.Torch.Compare(b.Release.Torch)
}

// elsewhere is where a package is published beside the default index.
func (s *problem) elsewhere(name string) []matrix.Elsewhere {
	return remembered(s.cache.elsewhere, name, func() []matrix.Elsewhere { return s.m.ElsewhereOf(name, s.h.Platform.OS, s.h.Platform.Arch) })
}

func (c *cache) pythons(b *matrix.Build) (low, high py) {
	v := remembered(c.py, b, func() [2]py { return [2]py{pyOf(b.PythonMin), pyOf(b.PythonMax)} })
	return v[0], v[1]
}

// covers is matrix.Covers, remembered.
func (s *problem) covers(b *matrix.Build, sm machine.SM) (native, ptx bool) {
	v := remembered(s.cache.code, codeKey{b, sm}, func() [2]bool {
		native, ptx := s.m.Covers(b.Native, b.PTX, sm)
		return [2]bool{native, ptx}
	})
	return v[0], v[1]
}

// findGap says which library of a build has no code for a GPU.
func (s *problem) findGap(b *matrix.Build, sm machine.SM) (g gap) {
	for _, l := range s.m.Stack(b) {
		if l.Library == nil || !l.Core && l.Package != "nccl" {
			continue
		}
		if native, ptx := s.m.Covers(l.Library.Native, l.Library.PTX, sm); native || ptx {
			continue
		}
		switch {
		case l.Core && g.core == nil:
			g.core = &l
		case !l.Core && g.several == nil:
			g.several = &l
		}
	}
	return g
}

// overlap reports whether some version may satisfy both specifiers.
func (c *cache) overlap(a, b version.Specifier) bool {
	return a.IsZero() || b.IsZero() || c.some([]version.Specifier{a, b})
}

// some reports whether all of some specifiers admit a version that none of others does. It
// tries the versions that they name, and their neighbours on both sides.
func (c *cache) some(of []version.Specifier, but ...version.Specifier) bool {
	specs := text.Each(append(slices.Clone(of), but...), version.Specifier.String)
	key := fmt.Sprint(len(of)) + strings.Join(specs, "\n")
	return remembered(c.met, key, func() bool {
		return slices.ContainsFunc(version.Samples(specs...), func(v version.Python) bool {
			refuses := func(s version.Specifier) bool { return !s.Admits(v) }
			return !slices.ContainsFunc(of, refuses) && len(xslices.Filter(but, refuses)) == len(but)
		})
	})
}

// admits is Specifier.Admits, remembered.
func (c *cache) admits(spec version.Specifier, v version.Python) bool {
	if spec.IsZero() {
		return !v.IsPreRelease()
	}
	return remembered(c.admit, admitKey{spec.String(), v.String()}, func() bool { return spec.Admits(v) })
}

// fits is py.fits, remembered.
func (c *cache) fits(p py, spec string) bool {
	return remembered(c.fit, fitKey{p, spec}, func() bool { return p.fits(spec) })
}

// admitsTorch reports whether every requirement on torch admits a release.
func (s *problem) admitsTorch(v version.Python) bool {
	if s.req.Channel == "" {
		return s.admits(s.req.torch, v)
	}
	for _, q := range s.req.torch { // a bare `torch` admits a channel's builds as well
		if !q.Spec.IsZero() && !s.cache.admits(q.Spec, v) {
			return false
		}
	}
	return true
}

// admits reports whether every requirement admits a version.
func (s *problem) admits(reqs []pep508.Requirement, v version.Python) bool {
	return !slices.ContainsFunc(reqs, func(q pep508.Requirement) bool { return !s.cache.admits(q.Spec, v) })
}
