package machine

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// An SM is a compute capability, such as 9.0. The zero SM is unknown.
type SM struct{ Major, Minor int }

// ParseSM reads "9.0", "sm_90", "compute_120" or "90". Its error names the text.
func ParseSM(s string) (SM, error) {
	bad := fmt.Errorf("%q is not a compute capability such as 8.6 or sm_86", text.Cut(s, 60))
	t := strings.TrimPrefix(strings.TrimPrefix(s, "sm_"), "compute_")
	major, minor, dotted := strings.Cut(t, ".")
	if !dotted {
		if len(t) < 2 {
			return SM{}, bad
		}
		major, minor = t[:len(t)-1], t[len(t)-1:]
	}
	a, err := strconv.ParseUint(major, 10, 8)
	if err != nil || a == 0 || a > 30 {
		return SM{}, bad
	}
	b, err := strconv.ParseUint(minor, 10, 8)
	if err != nil || b > 9 || len(minor) != 1 {
		return SM{}, bad
	}
	return SM{int(a), int(b)}, nil
}

// MustSM is ParseSM for literals in tests; it panics on an error.
func MustSM(s string) SM {
	sm, err := ParseSM(s)
	if err != nil {
		panic(err)
	}
	return sm
}

// IsZero reports whether the capability is unknown.
func (s SM) IsZero() bool { return s == SM{} }

// String returns "9.0", or "" when unknown.
func (s SM) String() string {
	return say.If(!s.IsZero(), fmt.Sprintf("%d.%d", s.Major, s.Minor))
}

// Code returns "90", the number as cubins carry it.
func (s SM) Code() string { return fmt.Sprintf("%d%d", s.Major, s.Minor) }

// Compare orders capabilities: 7.5 before 8.0 before 12.0.
func (s SM) Compare(t SM) int {
	return cmp.Or(s.Major-t.Major, s.Minor-t.Minor)
}

// Less reports whether s orders before t.
func (s SM) Less(t SM) bool { return s.Compare(t) < 0 }

// MarshalText writes "9.0".
func (s SM) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSM does; empty text gives the zero SM.
func (s *SM) UnmarshalText(b []byte) error { return version.Unmarshal(b, s, ParseSM) }
