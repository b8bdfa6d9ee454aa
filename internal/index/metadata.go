package index

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/marker"
)

// Metadata is what is used of a wheel's METADATA file (core metadata).
type Metadata struct {
	Name           string // as written
	Version        string
	RequiresPython string
	Requires       []Require
}

// A Require is one Requires-Dist line.
type Require struct {
	Name   string // normalised
	Extras []string
	Spec   string // "==9.1.0.70", "" any
	Marker string
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
		case "requires-python":
			m.RequiresPython = value
		case "requires-dist":
			if len(m.Requires) == maxRequires {
				return nil, fmt.Errorf("METADATA has more than %d requirements", maxRequires)
			}
			if r, ok := parseRequire(value); ok {
				m.Requires = append(m.Requires, r)
			}
		}
	}
	if !plainName(m.Name) || !plainName(m.Version) {
		return nil, fmt.Errorf("METADATA names no project and version")
	}
	return m, nil
}

// parseRequire takes "nvidia-cudnn-cu12 (==9.1.0.70) ; marker" apart.
func parseRequire(s string) (Require, bool) {
	s, marker, _ := strings.Cut(s, ";")
	s = strings.TrimSpace(s)
	n := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	})
	if n < 0 {
		n = len(s)
	}
	r := Require{Name: machine.NormalName(s[:n]), Marker: strings.TrimSpace(marker)}
	rest := strings.TrimSpace(s[n:])
	if inner, ok := strings.CutPrefix(rest, "["); ok {
		extras, after, _ := strings.Cut(inner, "]")
		for e := range strings.SplitSeq(extras, ",") {
			r.Extras = append(r.Extras, machine.NormalName(strings.TrimSpace(e)))
		}
		rest = strings.TrimSpace(after)
	}
	if inner, ok := strings.CutPrefix(rest, "("); ok {
		rest, _, _ = strings.Cut(inner, ")")
	}
	r.Spec = strings.ReplaceAll(rest, " ", "")
	return r, r.Name != ""
}

// Pin returns the version that METADATA pins a project to in an environment, as
// written behind "==" (or "~=3.9.0" whole where it is a range), or "" where the
// project is not required there.
func (m *Metadata) Pin(e marker.Environment, projects ...string) string {
	for _, r := range m.Requires {
		if !slices.Contains(projects, r.Name) || !e.Admits(r.Marker) {
			continue
		}
		if v, ok := strings.CutPrefix(r.Spec, "=="); ok && !strings.ContainsAny(v, ",*") {
			return v
		}
		return r.Spec
	}
	return ""
}
