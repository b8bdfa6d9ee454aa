package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/pep508"
)

// Metadata is what is used of a wheel's METADATA file (core metadata).
type Metadata struct {
	Name     string // as written
	Version  string
	CUDA     string   // the only major that its classifiers name; "" none, or several
	Pythons  []string // the minors that its classifiers name
	Requires []pep508.Requirement
	Unread   []pep508.Requirement // of which no more than the name is understood
}

// Limits of METADATA: torch's has 40 KB.
const (
	maxMetadata = 4 << 20
	maxRequires = 5000
)

// ParseMetadata reads the headers of a METADATA file.
func ParseMetadata(b []byte) (*Metadata, error) {
	if len(b) > maxMetadata {
		return nil, fmt.Errorf("METADATA has %d bytes, more than %d are not read", len(b), maxMetadata)
	}
	head, _, _ := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n\n")
	m := &Metadata{}
	majors := map[string]bool{}
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			continue // the second line of a header; none that is used here has one
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(key) {
		case "name":
			m.Name = value
		case "version":
			m.Version = value
		case "classifier":
			if v, ok := strings.CutPrefix(value, "Environment :: GPU :: NVIDIA CUDA :: "); ok {
				v, _, _ = strings.Cut(v, " ")
				v, _, _ = strings.Cut(v, ".")
				majors[v] = true
			} else if v, ok := strings.CutPrefix(value, "Programming Language :: Python :: 3."); ok {
				m.Pythons = append(m.Pythons, "3."+v)
			}
		case "requires-dist":
			if len(m.Requires) == maxRequires {
				return nil, fmt.Errorf("METADATA has more than %d requirements", maxRequires)
			}
			if r, err := pep508.Parse(value, ""); err == nil {
				m.Requires = append(m.Requires, r)
			} else if len(m.Unread) < maxRequires {
				m.Unread = append(m.Unread, r)
			}
		}
	}
	if len(majors) == 1 {
		m.CUDA = slices.Collect(maps.Keys(majors))[0]
	}
	if !plainName(m.Name) || !plainName(m.Version) {
		return nil, fmt.Errorf("METADATA names no project and version")
	}
	return m, nil
}

// Pin returns the version that METADATA pins a project to in an environment, as
// written behind "==" (or "~=3.9.0" whole where it is a range), or "" where the
// project is not required there.
func (m *Metadata) Pin(e pep508.Environment, projects ...string) string {
	for _, r := range m.Requires {
		if !slices.Contains(projects, r.Name) || !e.Admits(r.Marker) {
			continue
		}
		spec := strings.ReplaceAll(r.Spec.String(), " ", "")
		if v, ok := strings.CutPrefix(spec, "=="); ok && !strings.ContainsAny(v, ",*") {
			return v
		}
		return spec
	}
	return ""
}
