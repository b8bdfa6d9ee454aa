package variables

import (
	"bytes"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// Tracked are the variables whose setting is looked for.
var Tracked = lazy.Regexp("^(?:" + machine.OneValue + ")$")

// OfShell reads what is set of them in this shell, and where.
func OfShell(h *sysroot.Host) []machine.Variable {
	var out []machine.Variable
	from := &Origins{Host: h}
	for name, value := range h.Env {
		if Tracked().MatchString(name) && !envSecret().MatchString(name) && len(value) < 4096 {
			out = append(out, machine.Variable{Name: name, Value: Redact(value), Origins: from.ofValue(name, value)})
		}
	}
	slices.SortFunc(out, func(a, b machine.Variable) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// A line of Python that sets a variable whatever happens: it is not indented.
var environLine = lazy.Regexp(`(?m)(?:^|^import [\w, ]+; *)os\.(?:environ\[ *["'](\w+)["'] *\] *= *|putenv\( *["'](\w+)["'] *, *|environ\.setdefault\( *["'](\w+)["'] *, *)["']([^"'\n]*)["']`)

// InPython are the variables that code of Python sets; text is what sets one that has no
// value alone.
func InPython(code []byte) []Assignment {
	var out []Assignment
	for _, m := range environLine().FindAllSubmatchIndex(code, 20) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text.Printable(string(code[m[2*i]:m[2*i+1]]))
		}
		out = append(out, Assignment{Variable: group(1) + group(2) + group(3), Value: group(4), Text: group(3), Line: 1 + bytes.Count(code[:m[0]], []byte("\n"))})
	}
	return out
}

// ofValue returns where a variable gets a value, the most particular place first.
func (o *Origins) ofValue(variable, value string) []machine.Origin {
	var out []machine.Origin
	for _, l := range o.read(variable) {
		at := machine.Origin{Kind: l.kind, Name: text.Printable(l.name), File: text.Printable(l.file), Line: l.Line}
		if l.Value == value && len(out) < 8 && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	if at := ownState(o.Host, variable, func(v string, set bool) bool { return set && v == value }); len(out) == 0 && at.Kind != "" {
		out = append(out, at)
	}
	return out
}
