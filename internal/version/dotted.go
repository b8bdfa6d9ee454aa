// Package version holds the two version languages that envfix speaks: NVIDIA's
// dotted numbers ([Dotted]) and Python's PEP 440 ([Python]).
//
// They are two types on purpose: their orders differ, and a PyTorch local label
// such as +cu124 is an identity, never an order, so it belongs to neither. This
// package is the only one that imports the two version libraries.
package version

import (
	"fmt"
	"slices"
	"strings"

	hashicorp "github.com/hashicorp/go-version"

	"envfix/internal/text"
)

// A Dotted is a dotted number as NVIDIA and glibc use them: driver 580.65.06,
// CUDA 12.4, cuDNN 9.10.2.21, glibc 2.28. The zero Dotted means "unknown" and
// orders below every other.
type Dotted struct{ v *number }

// A number is a version as go-version reads it, with its groups at hand, without the
// zeros that end them: the library's own Compare writes both versions as text first,
// which was a quarter of the time that a machine takes to resolve.
type number struct {
	*hashicorp.Version
	groups []int64 // of 12.4.0: 12, 4
}

// ParseDotted reads a dotted number: one to six groups of digits. Its error
// names the text.
func ParseDotted(s string) (Dotted, error) {
	if s == "" || len(s) > 40 || strings.Trim(s, "0123456789.") != "" {
		return Dotted{}, fmt.Errorf("%q is not a dotted version number", text.Cut(s, 60))
	}
	v, err := hashicorp.NewVersion(s)
	if err != nil {
		return Dotted{}, fmt.Errorf("%q is not a dotted version number", text.Cut(s, 60))
	}
	groups := v.Segments64()
	for len(groups) > 0 && groups[len(groups)-1] == 0 {
		groups = groups[:len(groups)-1]
	}
	return Dotted{&number{v, groups}}, nil
}

// ReadDotted is ParseDotted for text that may be anything: zero where it is no
// version.
func ReadDotted(s string) Dotted {
	v, _ := ParseDotted(s)
	return v
}

// MustDotted is ParseDotted for literals in tests and embedded data; it panics
// on an error.
func MustDotted(s string) Dotted {
	v, err := ParseDotted(s)
	if err != nil {
		panic(err)
	}
	return v
}

// IsZero reports whether the version is unknown.
func (v Dotted) IsZero() bool { return v.v == nil }

// String returns the number as it was written (580.65.06 keeps its zero), or ""
// when it is unknown.
func (v Dotted) String() string {
	if v.v == nil {
		return ""
	}
	return v.v.Original()
}

// Compare returns -1, 0 or +1 in numeric order, group by group; 12.4 equals
// 12.4.0.
func (v Dotted) Compare(w Dotted) int {
	switch {
	case v.v == nil && w.v == nil:
		return 0
	case v.v == nil:
		return -1
	case w.v == nil:
		return 1
	}
	return slices.Compare(v.v.groups, w.v.groups)
}

// Less reports whether v orders before w.
func (v Dotted) Less(w Dotted) bool { return v.Compare(w) < 0 }

// Group returns the i-th group of digits (0 is the major), or 0 where the number
// is unknown or shorter.
func (v Dotted) Group(i int) int {
	if v.v == nil || i >= len(v.v.groups) {
		return 0
	}
	return int(v.v.groups[i])
}

// Major returns the first group: the branch of a driver, the family of a CUDA.
func (v Dotted) Major() int { return v.Group(0) }

// MajorMinor returns the first two groups, such as "12.4".
func (v Dotted) MajorMinor() string {
	if v.v == nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.Group(0), v.Group(1))
}

// MarshalText writes the number as it was read.
func (v Dotted) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a dotted number; empty text gives the zero Dotted.
func (v *Dotted) UnmarshalText(b []byte) error { return Unmarshal(b, v, ParseDotted) }

// Minor returns the first two groups of a version as it is written: "2.14" of
// "2.14.1+cu126". A version of one group is returned whole.
func Minor(v string) string {
	parts := strings.SplitN(v, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Unmarshal reads a text into a value, as encoding.TextUnmarshaler does; empty text gives
// the zero value.
func Unmarshal[T any](b []byte, to *T, parse func(string) (T, error)) (err error) {
	if *to = *new(T); len(b) > 0 {
		*to, err = parse(string(b))
	}
	return err
}
