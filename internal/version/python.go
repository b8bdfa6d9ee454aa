package version

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	pep440 "github.com/aquasecurity/go-pep440-version"

	"envfix/internal/text"
)

// A Python is a PEP 440 version, such as 2.14.1, 2.6.0rc1 or 3.12. The zero
// Python means "unknown" and orders below every other.
type Python struct{ p *python }

// python is shared by the copies of a Python, so that a version is parsed once.
type python struct {
	text string
	once sync.Once
	v    pep440.Version
}

func (p *python) version() pep440.Version {
	p.once.Do(func() { p.v, _ = pep440.Parse(p.text) })
	return p.v
}

// ParsePython reads a PEP 440 version. A local label is refused: it is an
// identity, split off by [SplitLocal] first.
func ParsePython(s string) (Python, error) {
	if s == "" || len(s) > 80 || strings.Contains(s, "+") || !strings.Contains("0123456789vV \t", s[:1]) {
		return Python{}, fmt.Errorf("%q is not a Python version (PEP 440)", text.Cut(s, 60))
	}
	if _, plain := plainRelease(s); plain {
		return TrustPython(s), nil
	}
	v, err := pep440.Parse(s)
	if err != nil {
		return Python{}, fmt.Errorf("%q is not a Python version (PEP 440)", text.Cut(s, 60))
	}
	p := &python{text: s, v: v}
	p.once.Do(func() {})
	return Python{p}, nil
}

// TrustPython is ParsePython for text that was parsed before, when it was
// compiled into the program: parsing it again waits until somebody compares.
func TrustPython(s string) Python {
	if s == "" {
		return Python{}
	}
	return Python{&python{text: s}}
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

// Public is the version that s names, without its local label; zero where it names none.
func Public(s string) Python {
	public, _ := SplitLocal(s)
	v, _ := ParsePython(public)
	return v
}

// ComparePublic orders versions as they are written by what [Public] makes of them.
func ComparePublic(a, b string) int { return Public(a).Compare(Public(b)) }

// IsZero reports whether the version is unknown.
func (v Python) IsZero() bool { return v.p == nil }

// String returns the version as it was written.
func (v Python) String() string {
	if v.p == nil {
		return ""
	}
	return v.p.text
}

// Compare returns -1, 0 or +1 in PEP 440 order.
func (v Python) Compare(w Python) int {
	switch {
	case v.p == w.p:
		return 0
	case v.IsZero():
		return -1
	case w.IsZero():
		return 1
	}
	if a, ok := plainRelease(v.p.text); ok {
		if b, ok := plainRelease(w.p.text); ok {
			return slices.Compare(a.groups[:], b.groups[:])
		}
	}
	library.Lock()
	defer library.Unlock()
	return v.p.version().Compare(w.p.version())
}

// library is held while the library compares: it pads the numbers of a release in
// place, so that two comparisons with one version would write the same memory.
var library sync.Mutex

// IsPreRelease reports whether the version is an alpha, beta, release candidate
// or development release.
func (v Python) IsPreRelease() bool {
	if v.IsZero() {
		return false
	}
	_, plain := plainRelease(v.p.text)
	return !plain && v.p.version().IsPreRelease()
}

// MarshalText writes the version as it was read.
func (v Python) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a PEP 440 version; empty text gives the zero Python.
func (v *Python) UnmarshalText(b []byte) error { return Unmarshal(b, v, ParsePython) }

// A Specifier is a PEP 440 version specifier, such as ">=2.6,<2.8". The zero
// Specifier admits every final release.
type Specifier struct{ p *specifier }

type specifier struct {
	text string
	once sync.Once
	s    pep440.Specifiers
	pre  bool // the text itself names a pre-release

	boundsOnce sync.Once
	bounds     []bound
	bounded    bool // bounds are the whole specifier
}

func (p *specifier) parse() error {
	var err error
	p.once.Do(func() {
		p.s, err = pep440.NewSpecifiers(p.text, pep440.WithPreRelease(true))
		p.pre = namesPreRelease(p.text)
	})
	return err
}

// ParseSpecifier reads a comma-separated PEP 440 specifier without local labels.
// Empty text gives the zero Specifier.
func ParseSpecifier(s string) (Specifier, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Specifier{}, nil
	}
	p := &specifier{text: s}
	if len(s) > 200 || p.parse() != nil {
		return Specifier{}, fmt.Errorf("%q is not a version specifier (PEP 440)", text.Cut(s, 60))
	}
	return Specifier{p}, nil
}

// TrustSpecifier is ParseSpecifier for text that was parsed before, when it was
// compiled into the program.
func TrustSpecifier(s string) Specifier {
	if s == "" {
		return Specifier{}
	}
	return Specifier{&specifier{text: s}}
}

func namesPreRelease(spec string) bool {
	if !strings.ContainsAny(spec, "abcdeprvABCDEPRV") {
		return false // alpha, beta, c, dev, pre, preview and rc are all its names
	}
	for part := range strings.SplitSeq(spec, ",") {
		v, err := pep440.Parse(strings.TrimLeft(strings.TrimSpace(part), "=<>!~ "))
		if err == nil && v.IsPreRelease() {
			return true
		}
	}
	return false
}

// NamesPreRelease reports whether the specifier names a pre-release, and so admits them.
func (s Specifier) NamesPreRelease() bool { return s.p != nil && namesPreRelease(s.p.text) }

// IsZero reports whether the specifier admits everything.
func (s Specifier) IsZero() bool { return s.p == nil }

// String returns the specifier as it was written.
func (s Specifier) String() string {
	if s.p == nil {
		return ""
	}
	return s.p.text
}

// Admits reports whether v satisfies the specifier. Pre-releases are admitted
// only where the specifier itself names one (PEP 440, "Handling of
// pre-releases"); they are dropped before the check because "<2.6.0" must not
// admit 2.6.0rc1.
func (s Specifier) Admits(v Python) bool {
	if v.IsZero() {
		return false
	}
	if s.p == nil {
		return !v.IsPreRelease()
	}
	if release, ok := plainRelease(v.p.text); ok {
		if bounds, ok := s.p.plain(); ok {
			return !slices.ContainsFunc(bounds, func(b bound) bool { return !b.admits(release) })
		}
	}
	_ = s.p.parse() // it parsed before, or it admits nothing
	if v.IsPreRelease() && !s.p.pre {
		return false
	}
	library.Lock()
	defer library.Unlock()
	return s.p.s.Check(v.p.version())
}

// MarshalText writes the specifier as it was read.
// AdmitsMinor reports whether a release of a minor of Python, such as 3.12 or 3.14t, is
// admitted; what is no version is.
func (s Specifier) AdmitsMinor(minor string) bool {
	return slices.ContainsFunc([]string{"", ".99"}, func(patch string) bool {
		v, err := ParsePython(strings.TrimSuffix(minor, "t") + patch)
		return err != nil || s.Admits(v)
	})
}

func (s Specifier) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a specifier.
func (s *Specifier) UnmarshalText(b []byte) (err error) {
	*s, err = ParseSpecifier(string(b))
	return err
}
