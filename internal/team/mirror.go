package team

import (
	"cmp"
	"os"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/plan"
)

// Mirrors say where files are really fetched.
type Mirrors struct {
	Default string      // in place of the installer's default index; "" that one
	Pairs   [][2]string // FROM, TO: prefixes of URLs
}

// ParseMirrors reads FROM=TO pairs that are known to be well-formed; default=URL is
// the default index.
func ParseMirrors(pairs []string) Mirrors {
	var m Mirrors
	for _, pair := range pairs {
		from, to, _ := strings.Cut(pair, "=")
		if from == "default" {
			m.Default = to
		} else {
			m.Pairs = append(m.Pairs, [2]string{from, to})
		}
	}
	return m
}

// DefaultIndex is in place of the installer's default index: by these, else by the
// environment; "" that one.
func (m Mirrors) DefaultIndex() string {
	return cmp.Or(m.Default, os.Getenv("UV_DEFAULT_INDEX"), os.Getenv("UV_INDEX_URL"), os.Getenv("PIP_INDEX_URL"))
}

// There returns where a URL is really fetched.
func (m Mirrors) There(url string) string {
	for _, pair := range m.Pairs {
		if there, ok := plan.Moved(url, pair[0], pair[1]); ok {
			return there
		}
	}
	return url
}

// canonical undoes there: a lock names where files are from, not who passed them on
// here.
func (m Mirrors) canonical(packages []lock.Package) {
	for _, k := range packages {
		for i, w := range k.Files() {
			for _, pair := range m.Pairs {
				if from, ok := plan.Moved(w.URL, pair[1], pair[0]); ok {
					w.URL = from
					k.Complete(i, w)
				}
			}
		}
	}
}

func (m Mirrors) all() [][2]string {
	if m.Default == "" {
		return m.Pairs
	}
	return append([][2]string{{"default", m.Default}}, m.Pairs...)
}
