package version

import (
	"fmt"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// A Python is a PEP 440 version, such as 2.14.1, 2.6.0rc1 or 3.12. The zero
// Python means "unknown" and orders below every other.
type Python struct {
	v    pep440.Version
	text string
}

// ParsePython reads a PEP 440 version. A local label is refused: it is an
// identity, split off by [SplitLocal] first.
func ParsePython(s string) (Python, error) {
	if s == "" || len(s) > 80 || strings.Contains(s, "+") {
		return Python{}, fmt.Errorf("%q is not a Python version (PEP 440)", clip(s))
	}
	v, err := pep440.Parse(s)
	if err != nil {
		return Python{}, fmt.Errorf("%q is not a Python version (PEP 440)", clip(s))
	}
	return Python{v, s}, nil
}

// MustPython is ParsePython for literals in tests and embedded data; it panics
// on an error.
func MustPython(s string) Python {
	v, err := ParsePython(s)
	if err != nil {
		panic(err)
	}
	return v
}

// SplitLocal splits "2.9.1+cu126" into "2.9.1" and "cu126". The label is "" where
// there is none.
func SplitLocal(s string) (public, label string) {
	public, label, _ = strings.Cut(s, "+")
	return public, label
}

// IsZero reports whether the version is unknown.
func (v Python) IsZero() bool { return v.text == "" }

// String returns the version as it was written.
func (v Python) String() string { return v.text }

// Compare returns -1, 0 or +1 in PEP 440 order.
func (v Python) Compare(w Python) int {
	switch {
	case v.IsZero() && w.IsZero():
		return 0
	case v.IsZero():
		return -1
	case w.IsZero():
		return 1
	}
	return v.v.Compare(w.v)
}

// IsPreRelease reports whether the version is an alpha, beta, release candidate
// or development release.
func (v Python) IsPreRelease() bool { return !v.IsZero() && v.v.IsPreRelease() }

// MarshalText writes the version as it was read.
func (v Python) MarshalText() ([]byte, error) { return []byte(v.text), nil }

// UnmarshalText reads a PEP 440 version; empty text gives the zero Python.
func (v *Python) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*v = Python{}
		return nil
	}
	*v, err = ParsePython(string(b))
	return err
}

// A Specifier is a PEP 440 version specifier, such as ">=2.6,<2.8". The zero
// Specifier admits every final release.
type Specifier struct {
	s    pep440.Specifiers
	text string
	pre  bool // the text itself names a pre-release
}

// ParseSpecifier reads a comma-separated PEP 440 specifier without local labels.
// Empty text gives the zero Specifier.
func ParseSpecifier(s string) (Specifier, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Specifier{}, nil
	}
	if len(s) > 200 {
		return Specifier{}, fmt.Errorf("%q is not a version specifier (PEP 440)", clip(s))
	}
	p, err := pep440.NewSpecifiers(s, pep440.WithPreRelease(true))
	if err != nil {
		return Specifier{}, fmt.Errorf("%q is not a version specifier (PEP 440)", clip(s))
	}
	return Specifier{s: p, text: s, pre: namesPreRelease(s)}, nil
}

func namesPreRelease(spec string) bool {
	for part := range strings.SplitSeq(spec, ",") {
		v, err := pep440.Parse(strings.TrimLeft(strings.TrimSpace(part), "=<>!~ "))
		if err == nil && v.IsPreRelease() {
			return true
		}
	}
	return false
}

// IsZero reports whether the specifier admits everything.
func (s Specifier) IsZero() bool { return s.text == "" }

// String returns the specifier as it was written.
func (s Specifier) String() string { return s.text }

// Admits reports whether v satisfies the specifier. Pre-releases are admitted
// only where the specifier itself names one (PEP 440, "Handling of
// pre-releases"); they are dropped before the check because "<2.6.0" must not
// admit 2.6.0rc1.
func (s Specifier) Admits(v Python) bool {
	if v.IsZero() {
		return false
	}
	if v.IsPreRelease() && !s.pre {
		return false
	}
	return s.text == "" || s.s.Check(v.v)
}

// MarshalText writes the specifier as it was read.
func (s Specifier) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// UnmarshalText reads a specifier.
func (s *Specifier) UnmarshalText(b []byte) (err error) {
	*s, err = ParseSpecifier(string(b))
	return err
}
