package variables

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/say"
)

// An Assignment is one line of a file that gives a list variable entries.
type Assignment struct {
	Variable string
	Value    string
	dirs     []string // cleaned, in their order; those with an unknown part are left out
	Text     string   // the line without its comment
	Line     int      // from 1
}

// The languages that set variables.
const (
	ShellText   = "shell"   // sh, bash, zsh; also NAME=value of /etc/environment and environment.d
	fishText    = "fish"    // set -gx NAME a b; csh's setenv NAME a:b
	tclText     = "tcl"     // module files of Environment Modules
	luaText     = "lua"     // module files of Lmod
	systemdText = "systemd" // Environment= of units
)

var (
	shellAssign = lazy.Regexp(`(?:^|[\s;&|(])([A-Za-z_][A-Za-z0-9_]*)\+?=("(?:[^"\\]|\\.)*"|'[^']*'|[^\s;&|)]*)`)
	fishAssign  = lazy.Regexp(`^\s*(?:set\s+(?:-{1,2}\w+\s+)+|setenv\s+)([A-Za-z_][A-Za-z0-9_]*)\s+(.*)$`)
	tclPath     = lazy.Regexp(`^\s*(?:prepend-path|append-path|setenv|pushenv)\s+(?:(?:-d|--delim)[= ]\S+\s+)?([A-Za-z_]\w*)\s+(.+)$`)
	tclSet      = lazy.Regexp(`^\s*set\s+([A-Za-z_]\w*)\s+(\S+|"[^"]*")\s*$`)
	tclJoin     = lazy.Regexp(`\[\s*file\s+join\s+([^\]]*)\]`)
	luaPath     = lazy.Regexp(`^\s*(?:prepend_path|append_path|setenv|pushenv)\s*\(\s*["']([A-Za-z_]\w*)["']\s*,\s*(.+)\)\s*;?\s*$`)
	luaSet      = lazy.Regexp(`^\s*(?:local\s+)?([A-Za-z_]\w*)\s*=\s*(.+?)\s*;?\s*$`)
	luaJoin     = lazy.Regexp(`^pathJoin\s*\((.*)\)$`)
	reference   = lazy.Regexp(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)((?::?[-+=?])[^{}]*(?:\{[^{}]*\}[^{}]*)*)?\}|([A-Za-z_][A-Za-z0-9_]*)|(\())`)
)

// unknown stands in a value for what cannot be told without running a program. No
// path holds a NUL.
const unknown = "\x00"

// Assignments reads the lines of a file that set a variable. Variables are
// replaced by what the file gave them before, else by known; nothing is run, so
// what a program prints is unknown.
func Assignments(text, language string, known func(string) string) []Assignment {
	vars := map[string]string{}
	value := func(name string) string {
		if v, ok := vars[name]; ok {
			return v
		}
		return known(name)
	}
	var out []Assignment
	lines := strings.Split(text, "\n")
	ours := false
	for i := 0; i < len(lines); i++ {
		first, line := i, lines[i]
		switch { // what envfix wrote takes entries out
		case strings.HasPrefix(line, "# >>> envfix "):
			ours = true
		case strings.HasPrefix(line, "# <<< envfix "):
			ours = false
		}
		if ours {
			continue
		}
		for strings.HasSuffix(line, "\\") && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, "\\") + strings.TrimSpace(lines[i])
		}
		line = uncommented(line, language)
		for _, p := range pairs(line, language, value) {
			vars[p[0]] = p[1]
			a := Assignment{Variable: p[0], Value: p[1], Text: line, Line: first + 1}
			for dir := range strings.SplitSeq(p[1], ":") {
				if path.IsAbs(dir) && !strings.Contains(dir, unknown) {
					a.dirs = append(a.dirs, path.Clean(dir))
				}
			}
			out = append(out, a)
		}
	}
	return out
}

func uncommented(line, language string) string {
	if language == luaText {
		code, _, _ := strings.Cut(line, "--")
		return code
	}
	if strings.HasPrefix(strings.TrimSpace(line), "#") || language == systemdText && strings.HasPrefix(line, ";") {
		return ""
	}
	if i := strings.Index(line, " #"); i >= 0 {
		return line[:i]
	}
	return line
}

// pairs are the names and values that a line sets.
func pairs(line, language string, value func(string) string) (out [][2]string) {
	set := func(read func(string, func(string) string) string, forms ...*regexp.Regexp) [][2]string {
		for _, form := range forms {
			if m := form.FindStringSubmatch(line); m != nil {
				return [][2]string{{m[1], read(m[2], value)}}
			}
		}
		return nil
	}
	switch language {
	case fishText:
		if m := fishAssign().FindStringSubmatch(line); m != nil {
			out = append(out, [2]string{m[1], strings.Join(strings.Fields(expand(unquoted(m[2]), m[1], value)), ":")})
		}
	case tclText:
		return set(tclValue, tclPath(), tclSet())
	case luaText:
		return set(luaValue, luaPath(), luaSet())
	case systemdText:
		list, ok := strings.CutPrefix(strings.TrimSpace(line), "Environment=")
		if !ok {
			return nil
		}
		for _, word := range words(list) {
			if name, v, ok := strings.Cut(word, "="); ok {
				out = append(out, [2]string{name, v})
			}
		}
	default:
		for _, m := range shellAssign().FindAllStringSubmatch(line, 20) {
			v := m[2]
			if !strings.HasPrefix(v, "'") {
				v = expand(unquoted(v), m[1], value)
			}
			out = append(out, [2]string{m[1], unquoted(v)})
		}
	}
	return out
}

// expand replaces references to variables. The variable that is being set stands
// for nothing: what it had before is not of this line.
func expand(s, self string, value func(string) string) string {
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		s = "$HOME/" + rest
	}
	s = strings.ReplaceAll(s, ":~/", ":$HOME/")
	if strings.Contains(s, "`") {
		return unknown
	}
	return reference().ReplaceAllStringFunc(s, func(ref string) string {
		m := reference().FindStringSubmatch(ref)
		name := m[1] + m[3]
		switch {
		case m[4] != "": // $(a program)
			return unknown
		case name == self:
			return ""
		}
		v := value(name)
		if _, fallback, ok := strings.Cut(m[2], "-"); ok && v == "" {
			v = expand(fallback, self, value)
		}
		return say.Either(v == "" && !strings.Contains(m[2], "+"), unknown, v)
	})
}

func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// words splits a line at blanks outside of quotes, which are taken away.
func words(line string) (out []string) {
	var b strings.Builder
	quote, any := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, any = r, true
		case r == ' ' || r == '\t':
			if any || b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			any = false
		default:
			b.WriteRune(r)
		}
	}
	if any || b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

func tclValue(s string, value func(string) string) string {
	s = tclJoin().ReplaceAllStringFunc(unquoted(s), func(call string) string {
		return path.Join(strings.Fields(tclJoin().FindStringSubmatch(call)[1])...)
	})
	if strings.Contains(s, "[") {
		return unknown
	}
	if w := words(s); len(w) > 0 { // of "prepend-path NAME a b" the first is enough for most
		s = strings.Join(w, ":")
	}
	return expand(s, "", value)
}

// luaValue is a string, a variable, pathJoin(…) of them, or several joined by "..".
func luaValue(s string, value func(string) string) string {
	s = strings.TrimSpace(s)
	if m := luaJoin().FindStringSubmatch(s); m != nil {
		parts := strings.Split(m[1], ",")
		for i := range parts {
			parts[i] = luaValue(parts[i], value)
		}
		return say.Either(slices.Contains(parts, ""), unknown, path.Join(parts...))
	}
	var b strings.Builder
	for part := range strings.SplitSeq(s, "..") {
		part = strings.TrimSpace(part)
		if q := unquoted(part); q != part {
			b.WriteString(q)
		} else if v := value(part); v != "" {
			b.WriteString(v)
		} else {
			b.WriteString(unknown)
		}
	}
	return b.String()
}
