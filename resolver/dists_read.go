package resolver

import (
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

// A dist is a group of releases. It is read when it is asked for: mostly the newest is.
type dist struct {
	matrix.Dist
	all  matrix.Dists
	row  string
	done bool
	here map[py][]pep508.Requirement // what counts on this system, by Python
}

func (d *dist) read() {
	if !d.done {
		d.Dist, d.done = d.all.Read(d.row), true
	}
}

// A distCache holds what was read of packages' releases for one system.
type distCache struct {
	groups   map[string][]*dist
	versions map[string]version.Python
	asks     map[string]pep508.Requirement
	counts   map[markerKey]bool
	brings   map[*matrix.Build]int
	brought  map[string]int
	picks    map[string]map[pickKey]picked // by what else was asked for
}

type markerKey struct {
	marker string
	py     py
}

func newDistCache() *distCache {
	return &distCache{
		groups: map[string][]*dist{}, versions: map[string]version.Python{}, asks: map[string]pep508.Requirement{},
		counts: map[markerKey]bool{}, brings: map[*matrix.Build]int{}, brought: map[string]int{}, picks: map[string]map[pickKey]picked{},
	}
}

// shared are the picks of all questions that limit the same packages on systems like this
// one.
func (s *problem) shared() map[pickKey]picked {
	var key strings.Builder
	key.WriteString(libcOf(s.h.Platform))
	for _, r := range s.req.packages {
		if !r.Spec.IsZero() && r.URL == "" {
			key.WriteString("\n" + r.Name + r.Spec.String())
		}
	}
	picks := s.cache.dists.picks[key.String()]
	if picks == nil {
		picks = map[pickKey]picked{}
		s.cache.dists.picks[key.String()] = picks
	}
	return picks
}

// dists are the groups of a package's releases, the newest first; none: nobody looked.
func (s *problem) dists(name string) []*dist {
	x := s.cache.dists
	if list, known := x.groups[name]; known {
		return list
	}
	var list []*dist
	all, _ := s.m.RowsOf(name)
	for _, row := range all.Split() {
		list = append(list, &dist{all: all, row: row})
	}
	x.groups[name] = list
	return list
}

// newestOf is the newest release of a group that a specifier admits.
func (s *problem) newestOf(d *dist, spec version.Specifier) (version.Python, bool) {
	for _, text := range d.Versions {
		v, known := s.cache.dists.versions[text]
		if !known {
			v, _ = version.ParsePython(text) // Load checked it
			s.cache.dists.versions[text] = v
		}
		if !d.Unread && s.cache.admits(spec, v) {
			return v, true
		}
	}
	return version.Python{}, false
}

// requiredBy are the requirements of a group that count for the question's Python and
// system.
func (q packages) requiredBy(d *dist) []pep508.Requirement {
	if list, known := d.here[q.a.py]; known {
		return list
	}
	var list []pep508.Requirement
	for _, text := range d.Requires {
		if r := q.a.p.requirement(text); q.surely(r.Marker) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b pep508.Requirement) int { return tellsMost(a.Name) - tellsMost(b.Name) })
	if d.here == nil {
		d.here = map[py][]pep508.Requirement{}
	}
	d.here[q.a.py] = list
	return list
}

// tellsMost puts torch and its companions first: most releases that do not go with a build
// are told by them, and no chain is followed.
func tellsMost(name string) int {
	switch {
	case name == "torch":
		return 0
	case slices.Contains(companions, name):
		return 1
	}
	return 2
}

func (s *problem) requirement(text string) pep508.Requirement {
	r, known := s.cache.dists.asks[text]
	if !known {
		r, _ = pep508.Parse(text, "") // a test reads them all
		s.cache.dists.asks[text] = r
	}
	return r
}

// surely reports whether what has a marker counts here, remembered.
func (q packages) surely(marker string) bool {
	if marker == "" {
		return true
	}
	key := markerKey{marker, q.a.py}
	holds, known := q.a.p.cache.dists.counts[key]
	if !known {
		holds = pep508.EnvironmentOf(q.a.p.h.Platform.OS, q.a.p.h.Platform.Arch, q.a.py.String()).Surely(marker)
		q.a.p.cache.dists.counts[key] = holds
	}
	return holds
}

// beside is a number for what a build brings that packages require: builds that bring the
// same are one to them. 0 is no build.
func (s *problem) beside(b *matrix.Build) int {
	if b == nil {
		return 0
	}
	x := s.cache.dists
	if n, known := x.brings[b]; known {
		return n
	}
	words := []string{b.Release.Torch.String(), b.Triton.String()}
	for _, name := range companions {
		v, ok := s.companion(b, name)
		if !ok {
			v = version.Python{}
		}
		words = append(words, v.String())
	}
	key := strings.Join(words, " ")
	n, known := x.brought[key]
	if !known {
		n = len(x.brought) + 1
		x.brought[key] = n
	}
	x.brings[b] = n
	return n
}

// passedWithDists reports whether a package is the installer's business and somebody
// looked at its releases.
func (s *problem) passedWithDists(r pep508.Requirement) bool {
	return r.URL == "" && s.m.HasDists(r.Name) && s.passedThrough(r)
}

// ranked reports whether a package of the request has releases of which the newest may
// ask for an older torch: then that one is looked for first.
func (s *problem) ranked() bool { return slices.ContainsFunc(s.req.packages, s.passedWithDists) }
