package lock

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/xslices"
)

// A UVProject is what a pyproject.toml must say for `uv sync` to install the locked
// packages: a dependency group per profile with all its pins, and for each platform
// one that a bare `uv sync` takes.
type UVProject struct {
	Python       string              // requires-python
	Groups       map[string][]string // by profile: pins with the platform's marker
	Defaults     []string            // of the groups, one per platform
	Conflicts    [][]string          // groups that exclude each other: profiles of one platform
	Sources      map[string][]UVSource
	Indexes      []UVIndex
	Environments []string // markers of all platforms
}

// A UVSource takes a package of one group from one index.
type UVSource struct{ Index, Group string }

// A UVIndex is an index that only the packages come from that name it.
type UVIndex struct{ Name, URL string }

// UVProject puts the profiles together. packages returns those of a profile.
func (l *Lock) UVProject(packages func(p *Profile) (*Packages, error)) (*UVProject, error) {
	u := &UVProject{Groups: map[string][]string{}, Sources: map[string][]UVSource{}}
	var pythons []string
	platforms := map[string][]string{} // marker → groups
	for i := range l.Profiles {
		p := &l.Profiles[i]
		k, err := packages(p)
		if err != nil {
			return nil, err
		}
		python := strings.TrimSuffix(p.Python, "t")
		marker := platformMarker(p.Match)
		pythons = append(pythons, python)
		platforms[marker] = append(platforms[marker], p.Name)
		u.pins(p, k, marker+" and python_version == '"+python+"'")
	}
	u.Python = pythonRange(pythons)
	for _, marker := range slices.Sorted(maps.Keys(platforms)) {
		groups := platforms[marker]
		u.Environments = append(u.Environments, marker)
		u.Defaults = append(u.Defaults, l.foremost(groups))
		if len(groups) > 1 {
			u.Conflicts = append(u.Conflicts, groups)
		}
	}
	slices.Sort(u.Defaults)
	return u, nil
}

// pins adds a profile's group.
func (u *UVProject) pins(p *Profile, k *Packages, marker string) {
	for _, q := range k.Packages {
		line := q.SourceLine(".")
		switch {
		case q.Directory != nil:
			continue // the project's own [tool.uv.sources] has it
		case line == "" && q.Archive != nil && q.Archive.URL != "":
			line = q.Name + " @ " + q.Archive.URL
		case line == "" && q.Archive != nil:
			continue
		case line == "":
			line = q.Name + "==" + q.Version
		}
		u.Groups[p.Name] = append(u.Groups[p.Name], line+" ; "+marker)
		if q.Index == "" {
			continue
		}
		name := indexName(q.Index)
		u.Sources[q.Name] = append(u.Sources[q.Name], UVSource{name, p.Name})
		u.Indexes = xslices.Add(u.Indexes, UVIndex{name, q.Index})
	}
}

// foremost is the group of a platform that a bare `uv sync` takes: with a GPU before
// without, then the newest torch, then the lowest driver floor, then by name.
func (l *Lock) foremost(groups []string) string {
	return slices.MaxFunc(groups, func(a, b string) int {
		p, _ := l.Profile(a)
		q, _ := l.Profile(b)
		return cmp.Or(
			boolean(p.Match.GPU != "none")-boolean(q.Match.GPU != "none"),
			pythonVersion(p.Torch).Compare(pythonVersion(q.Torch)),
			floorOf(q.Match.Driver).Compare(floorOf(p.Match.Driver)),
			strings.Compare(b, a))
	})
}

// indexName is pytorch-cu126 for https://download.pytorch.org/whl/cu126, and for any
// other index its host and path.
func indexName(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if label, ok := strings.CutPrefix(rest, "download.pytorch.org/whl/"); ok {
		rest = "pytorch-" + label
	}
	return Slug(rest)
}

// Slug is a text as a part of a name: 2.9.1 is 2-9-1.
func Slug(s string) string { return strings.Trim(Plain(s, '-'), "-") }

// Plain is a text in which something else stands for what is neither a letter nor a digit.
func Plain(s string, otherwise rune) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return otherwise
	}, s)
}

func platformMarker(m Match) string {
	marker := Markers(m, "")
	marker, _, _ = strings.Cut(marker, " and python_version")
	return marker
}

// pythonRange is the requires-python that admits exactly the minors of the profiles,
// or the range that they span.
func pythonRange(minors []string) string {
	slices.SortFunc(minors, func(a, b string) int { return pythonVersion(a).Compare(pythonVersion(b)) })
	minors = slices.Compact(minors)
	if len(minors) == 1 {
		return "==" + minors[0] + ".*"
	}
	var major, minor int
	last := minors[len(minors)-1]
	if _, err := fmt.Sscanf(last, "%d.%d", &major, &minor); err != nil {
		return ">=" + minors[0]
	}
	return fmt.Sprintf(">=%s,<%d.%d", minors[0], major, minor+1)
}
