package pep508

import (
	"maps"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/version"
)

// An Environment holds the variables that markers ask about. One that is not known
// is missing.
type Environment map[string]string

// EnvironmentOf describes an environment: its system and architecture in the words of
// package machine, and its CPython, such as 3.12, 3.12.4 or 3.14t; "" is not known.
func EnvironmentOf(os, arch, python string) Environment {
	env := Environment{
		"implementation_name": "cpython", "platform_python_implementation": "CPython", "platform_machine": arch, "extra": "",
		"os_name":         map[string]string{"linux": "posix", "macos": "posix", "windows": "nt"}[os],
		"sys_platform":    map[string]string{"linux": "linux", "macos": "darwin", "windows": "win32"}[os],
		"platform_system": map[string]string{"linux": "Linux", "macos": "Darwin", "windows": "Windows"}[os],
	}
	if os == "windows" {
		env["platform_machine"] = map[string]string{"x86_64": "AMD64", "arm64": "ARM64"}[arch]
	}
	maps.DeleteFunc(env, func(name, value string) bool { return value == "" && name != "extra" })
	python = strings.TrimSuffix(python, "t")
	major, rest, _ := strings.Cut(python, ".")
	minor, _, whole := strings.Cut(rest, ".")
	if _, err := version.ParsePython(python); err != nil || minor == "" {
		return env
	}
	env["python_version"], env["python_full_version"] = major+"."+minor, python
	if !whole {
		env["python_full_version"] += ".0"
	}
	return env
}

// Admits reports whether a requirement with this marker counts in the environment.
// One that is not understood, or speaks of something unknown, counts: the
// installer reads it again.
func (env Environment) Admits(marker string) bool {
	holds, known := env.holds(marker)
	return holds || !known
}

// Surely reports whether a requirement with this marker is known to count in the
// environment, where some extras of its package are installed.
func (env Environment) Surely(marker string, extras ...string) bool {
	if holds, known := env.holds(marker); holds && known {
		return true
	}
	return slices.ContainsFunc(extras, func(extra string) bool {
		with := maps.Clone(env)
		with["extra"] = extra
		holds, known := with.holds(marker)
		return holds && known
	})
}

// holds evaluates a marker. One that is not understood is not known.
func (env Environment) holds(marker string) (holds, known bool) {
	if marker == "" {
		return true, true
	}
	p := &parser{env: env, rest: marker}
	holds, known = p.or()
	return holds, known && p.done()
}

// validMarker reports whether a text has the form of a marker.
func validMarker(text string) bool {
	p := &parser{rest: text}
	p.or()
	return p.done()
}

// A parser reads "a == 'b' and (c or d)". Each level returns whether it holds, and
// whether that is known.
type parser struct {
	env   Environment
	rest  string
	bad   bool
	depth int
}

// done reports whether all of the text was understood.
func (p *parser) done() bool { return !p.bad && strings.TrimSpace(p.rest) == "" }

func (p *parser) or() (holds, known bool) {
	holds, known = p.and()
	for p.word("or") {
		h, k := p.and()
		// what holds is known to hold, whatever the other side is
		holds, known = holds && known || h && k, known && k || holds && known || h && k
	}
	return holds, known
}

func (p *parser) and() (holds, known bool) {
	holds, known = p.term()
	for p.word("and") {
		h, k := p.term()
		no := known && !holds || k && !h
		holds, known = holds && h && !no, known && k || no
	}
	return holds, known
}

func (p *parser) term() (holds, known bool) {
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
	return compare(left, op, right), leftKnown && rightKnown
}

// value is a quoted text or a variable.
func (p *parser) value() (text string, known bool) {
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

func (p *parser) operator() string {
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
	return say.If(p.word("not") && p.word("in"), "not in")
}

// word takes a keyword.
func (p *parser) word(w string) bool {
	rest := strings.TrimSpace(p.rest)
	after, ok := strings.CutPrefix(rest, w)
	if !ok || after != "" && (after[0] == '_' || isAlnum(after[0])) {
		return false
	}
	p.rest = after
	return true
}

// compare compares as versions where both sides are versions, as texts
// otherwise (PEP 508).
func compare(left, op, right string) bool {
	switch op {
	case "in":
		return strings.Contains(right, left)
	case "not in":
		return !strings.Contains(right, left)
	case "===":
		return left == right
	}
	if v, err := version.ParsePython(left); err == nil {
		if s, err := version.ParseSpecifier(op + right); err == nil {
			return s.Admits(v)
		}
	}
	c := strings.Compare(left, right)
	return map[string]bool{"==": c == 0, "!=": c != 0, "<": c < 0, ">": c > 0, "<=": c <= 0, ">=": c >= 0, "~=": c >= 0}[op]
}
