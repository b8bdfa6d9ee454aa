package index

import (
	"strings"

	"envfix/internal/version"
)

// An Environment is what the markers of requirements (PEP 508) ask about.
type Environment struct {
	OS, Arch string // as in package matrix
	Python   string // 3.12
}

// variable returns the value of a marker's variable.
func (e Environment) variable(name string) (string, bool) {
	switch name {
	case "sys_platform":
		return map[string]string{"linux": "linux", "windows": "win32", "macos": "darwin"}[e.OS], true
	case "platform_system":
		return map[string]string{"linux": "Linux", "windows": "Windows", "macos": "Darwin"}[e.OS], true
	case "os_name":
		return map[string]string{"linux": "posix", "windows": "nt", "macos": "posix"}[e.OS], true
	case "platform_machine":
		if e.OS == "windows" {
			return map[string]string{"x86_64": "AMD64", "arm64": "ARM64"}[e.Arch], true
		}
		return e.Arch, true
	case "python_version", "python_full_version", "implementation_version":
		return strings.TrimSuffix(e.Python, "t"), true
	case "platform_python_implementation":
		return "CPython", true
	case "implementation_name":
		return "cpython", true
	case "extra", "platform_release", "platform_version":
		return "", true
	}
	return "", false
}

// Admits evaluates a marker. A marker that cannot be read admits, as if it were
// not there: its requirement is then shown rather than lost.
func (e Environment) Admits(marker string) bool {
	if strings.TrimSpace(marker) == "" {
		return true
	}
	p := &markerParser{env: e, rest: marker}
	ok := p.or(0)
	p.space()
	return ok || p.bad || p.rest != ""
}

type markerParser struct {
	env  Environment
	rest string
	bad  bool
}

func (p *markerParser) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

// word takes a keyword that ends at a word's end.
func (p *markerParser) word(w string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, w)
	if !ok || (rest != "" && isWord(rest[0])) {
		return false
	}
	p.rest = rest
	return true
}

func isWord(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '.'
}

func (p *markerParser) or(depth int) bool {
	v := p.and(depth)
	for !p.bad && p.word("or") {
		w := p.and(depth)
		v = v || w
	}
	return v
}

func (p *markerParser) and(depth int) bool {
	v := p.one(depth)
	for !p.bad && p.word("and") {
		w := p.one(depth)
		v = v && w
	}
	return v
}

func (p *markerParser) one(depth int) bool {
	p.space()
	if rest, ok := strings.CutPrefix(p.rest, "("); ok && depth < 50 {
		p.rest = rest
		v := p.or(depth + 1)
		p.space()
		if p.rest, ok = strings.CutPrefix(p.rest, ")"); !ok {
			p.bad = true
		}
		return v
	}
	left, lv := p.operand()
	op := p.operator()
	right, rv := p.operand()
	if p.bad {
		return false
	}
	return compareMarker(left, op, right, strings.HasPrefix(lv+rv, "python") || strings.HasPrefix(lv+rv, "implementation_version"))
}

// operand returns a value and, for a variable, its name.
func (p *markerParser) operand() (value, variable string) {
	p.space()
	if p.rest == "" {
		p.bad = true
		return "", ""
	}
	if q := p.rest[0]; q == '"' || q == '\'' {
		v, rest, ok := strings.Cut(p.rest[1:], string(q))
		p.rest, p.bad = rest, p.bad || !ok
		return v, ""
	}
	n := 0
	for n < len(p.rest) && isWord(p.rest[n]) {
		n++
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	v, ok := p.env.variable(name)
	p.bad = p.bad || !ok
	return v, name
}

func (p *markerParser) operator() string {
	for _, op := range []string{"not", "in"} {
		if p.word(op) {
			if op == "not" && !p.word("in") {
				p.bad = true
			}
			return op
		}
	}
	p.space()
	for _, op := range []string{"===", "==", "!=", "<=", ">=", "~=", "<", ">"} {
		if rest, ok := strings.CutPrefix(p.rest, op); ok {
			p.rest = rest
			return op
		}
	}
	p.bad = true
	return ""
}

func compareMarker(left, op, right string, versions bool) bool {
	switch op {
	case "in":
		return strings.Contains(right, left)
	case "not":
		return !strings.Contains(right, left)
	}
	if versions {
		v, err := version.ParsePython(left)
		s, err2 := version.ParseSpecifier(op + right)
		if err == nil && err2 == nil {
			return s.Admits(v)
		}
	}
	switch op {
	case "==", "===":
		return left == right
	case "!=":
		return left != right
	case "<":
		return left < right
	case "<=":
		return left <= right
	case ">":
		return left > right
	case ">=":
		return left >= right
	}
	return false
}
