package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A py is a CPython minor version as wheels are built for it. The zero py is
// unknown.
type py struct {
	minor int // of Python 3; 0: unknown
	major int
	free  bool // free-threaded: "3.14t"
}

// parsePy reads "3.12", "3.12.4" or "3.14t".
func parsePy(s string) (py, error) {
	t, free := strings.CutSuffix(s, "t")
	first, rest, _ := strings.Cut(t, ".")
	second, patch, _ := strings.Cut(rest, ".")
	major, err1 := strconv.ParseUint(first, 10, 8)
	minor, err2 := strconv.ParseUint(second, 10, 8)
	if err1 != nil || err2 != nil || major == 0 || len(s) > 20 || strings.Trim(patch, "0123456789abcr+") != "" {
		return py{}, fmt.Errorf("%q is not a Python version such as 3.12 or 3.14t", text.Cut(s, 80))
	}
	return py{major: int(major), minor: int(minor), free: free}, nil
}

func (p py) String() string {
	if p.major == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", p.major, p.minor) + say.If(p.free, "t")
}

func (p py) compare(o py) int {
	return cmp.Or(p.major-o.major, p.minor-o.minor)
}

func pyOf(v version.Python) py {
	p, _ := parsePy(v.String())
	return p
}

// within reports whether a wheel exists for p. Free-threaded interpreters take
// their own wheels only.
func (p py) within(low, high py, free []string) bool {
	if p.free {
		return slices.Contains(free, p.String())
	}
	return (low.major == 0 || p.compare(low) >= 0) && (high.major == 0 || p.compare(high) <= 0)
}

// fits reports whether a requires-python specifier admits p; a text that is none
// admits everything, since pip would have refused it.
func (p py) fits(spec string) bool {
	s, err := version.ParseSpecifier(spec)
	return err != nil || s.AdmitsMinor(fmt.Sprintf("%d.%d", p.major, p.minor))
}

// pythons lists the interpreters to try, the preferred first: --python; else the
// active environment's; else those found that the project admits, newest first;
// else those that uv can bring, which are those that some build is made for.
func (s *problem) pythons() []py {
	if s.req.Python != "" {
		p, _ := parsePy(s.req.Python)
		return []py{p}
	}
	var found []py
	for _, i := range s.h.Pythons {
		p, err := parsePy(i.Version)
		if err != nil {
			continue
		}
		p.free = p.free || i.FreeThreaded
		if i.Active {
			return []py{p}
		}
		if s.projectAdmits(p) && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b py) int {
		return cmp.Or(b.compare(a), boolInt(a.free)-boolInt(b.free)) // the ordinary build before the free-threaded one
	})
	return xslices.Once(found, xslices.Filter(s.cache.every(), s.projectAdmits))
}

// projectAdmits applies requires-python (">=3.11") or the content of a
// .python-version file ("3.12").
func (s *problem) projectAdmits(p py) bool {
	pin := s.req.ProjectPython
	if want, err := parsePy(pin); err == nil {
		return want == p
	}
	return p.fits(pin)
}

// Behind is how many releases before the newest Python the usual one is: what people install
// beside torch has wheels for it.
const Behind = 2

// everyPython are those that some build is made for: the usual one, then the newest first.
func everyPython(m *matrix.Matrix) []py {
	var low, high py
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			if l := pyOf(b.PythonMin); l.major == 3 && (low.major == 0 || l.compare(low) < 0) {
				low = l
			}
			if h := pyOf(b.PythonMax); h.major == 3 && h.compare(high) > 0 {
				high = h
			}
		}
	}
	var out []py
	for n := high.minor; n >= low.minor && high.major == 3; n-- {
		out = append(out, py{major: 3, minor: n})
	}
	if usual := high.minor - Behind; usual >= low.minor && high.major == 3 {
		out = slices.Insert(slices.Delete(out, Behind, Behind+1), 0, py{major: 3, minor: usual})
	}
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
