package resolver

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/version"
)

// A markerEnv holds the variables of environment markers (PEP 508) that describe
// a machine. A variable that is not known is missing.
type markerEnv map[string]string

// markersOf describes a machine and the Python that is asked for or active.
func markersOf(h machine.Machine, r Request) markerEnv {
	p := h.Platform
	env := markerEnv{
		"implementation_name": "cpython", "platform_python_implementation": "CPython", "platform_machine": p.Arch, "extra": "",
		"os_name":         map[string]string{"linux": "posix", "macos": "posix", "windows": "nt"}[p.OS],
		"sys_platform":    map[string]string{"linux": "linux", "macos": "darwin", "windows": "win32"}[p.OS],
		"platform_system": map[string]string{"linux": "Linux", "macos": "Darwin", "windows": "Windows"}[p.OS],
	}
	if p.OS == "windows" {
		env["platform_machine"] = map[string]string{"x86_64": "AMD64", "arm64": "ARM64"}[p.Arch]
	}
	python := r.Python
	for _, y := range h.Pythons {
		if python == "" && y.Active {
			python = y.Version
		}
	}
	if v, err := parsePy(python); err == nil {
		v.free = false
		env["python_version"] = v.String()
		env["python_full_version"] = v.String() + ".0"
		if strings.Count(python, ".") == 2 {
			env["python_full_version"] = strings.TrimSuffix(python, "t")
		}
	}
	return env
}

// admits reports whether a requirement with this marker counts on the machine.
// One that is not understood, or speaks of something unknown, counts: the
// installer reads it again.
func (env markerEnv) admits(marker string) bool {
	if marker == "" {
		return true
	}
	p := &markerParser{env: env, rest: marker}
	holds, known := p.or()
	return holds || !known || !p.done()
}

// isMarker reports whether a text has the form of an environment marker.
func isMarker(text string) bool {
	p := &markerParser{rest: text}
	p.or()
	return p.done()
}

// done reports whether all of the text was understood.
func (p *markerParser) done() bool { return !p.bad && strings.TrimSpace(p.rest) == "" }

// markerParser reads "a == 'b' and (c or d)". Each level returns whether it
// holds, and whether that is known.
type markerParser struct {
	env   markerEnv
	rest  string
	bad   bool
	depth int
}

func (p *markerParser) or() (holds, known bool) {
	holds, known = p.and()
	for p.word("or") {
		h, k := p.and()
		// what holds is known to hold, whatever the other side is
		holds, known = holds && known || h && k, known && k || holds && known || h && k
	}
	return holds, known
}

func (p *markerParser) and() (holds, known bool) {
	holds, known = p.term()
	for p.word("and") {
		h, k := p.term()
		no := known && !holds || k && !h
		holds, known = holds && h && !no, known && k || no
	}
	return holds, known
}

func (p *markerParser) term() (holds, known bool) {
	p.rest = strings.TrimSpace(p.rest)
	if p.depth++; p.depth > 50 {
		p.bad = true
		return false, false
	}
	if after, ok := strings.CutPrefix(p.rest, "("); ok {
		p.rest = after
		holds, known = p.or()
		p.rest = strings.TrimSpace(p.rest)
		if after, ok = strings.CutPrefix(p.rest, ")"); !ok {
			p.bad = true
		}
		p.rest = after
		return holds, known
	}
	left, leftKnown := p.value()
	op := p.operator()
	right, rightKnown := p.value()
	if op == "" || p.bad {
		p.bad = true
		return false, false
	}
	return compareMarker(left, op, right), leftKnown && rightKnown
}

// value is a quoted text or a variable.
func (p *markerParser) value() (text string, known bool) {
	p.rest = strings.TrimSpace(p.rest)
	if p.rest == "" {
		p.bad = true
		return "", false
	}
	if quote := p.rest[0]; quote == '\'' || quote == '"' {
		text, after, ok := strings.Cut(p.rest[1:], string(quote))
		p.bad = p.bad || !ok
		p.rest = after
		return text, true
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r != '_' && r != '.' && (r < 'a' || r > 'z') }) // os.name, as old metadata has it
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	p.bad = p.bad || name == ""
	text, known = p.env[name]
	return text, known
}

func (p *markerParser) operator() string {
	p.rest = strings.TrimSpace(p.rest)
	for _, op := range []string{"===", "==", "!=", "<=", ">=", "~=", "<", ">"} {
		if after, ok := strings.CutPrefix(p.rest, op); ok {
			p.rest = after
			return op
		}
	}
	if p.word("in") {
		return "in"
	}
	if p.word("not") && p.word("in") {
		return "not in"
	}
	return ""
}

// word takes a keyword.
func (p *markerParser) word(w string) bool {
	rest := strings.TrimSpace(p.rest)
	after, ok := strings.CutPrefix(rest, w)
	if !ok || after != "" && (isAlnum(after[0]) || after[0] == '_') {
		return false
	}
	p.rest = after
	return true
}

// compareMarker compares as versions where both sides are versions, as texts
// otherwise (PEP 508).
func compareMarker(left, op, right string) bool {
	switch op {
	case "in":
		return strings.Contains(right, left)
	case "not in":
		return !strings.Contains(right, left)
	case "===":
		return left == right
	}
	v, err1 := version.ParsePython(left)
	s, err2 := version.ParseSpecifier(op + right)
	if err1 == nil && err2 == nil {
		return s.Admits(v)
	}
	switch op {
	case "==":
		return left == right
	case "!=":
		return left != right
	case "<":
		return left < right
	case ">":
		return left > right
	case "<=":
		return left <= right
	}
	return left >= right
}
