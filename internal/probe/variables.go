package probe

import (
	"bytes"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

// tracked are the variables whose setting is looked for.
var tracked = lazy.Regexp("^(?:" + machine.OneValue + ")$")

// shellVariables reads what is set of them, and where: in this shell, or by a file that every
// Python of the environment runs when it starts.
func shellVariables(h *sysroot.Host, sites []string) []machine.Variable {
	var out []machine.Variable
	from := &origins{h: h}
	for name, value := range h.Env {
		if tracked().MatchString(name) && !envSecret().MatchString(name) && len(value) < 4096 {
			out = append(out, machine.Variable{Name: name, Value: Redact(value), Origins: from.ofValue(name, value)})
		}
	}
	slices.SortFunc(out, func(a, b machine.Variable) int { return strings.Compare(a.Name, b.Name) })
	return append(out, atStart(h, sites)...)
}

// A line of Python that sets a variable whatever happens: it is not indented.
var environLine = lazy.Regexp(`(?m)(?:^|^import [\w, ]+; *)os\.(?:environ\[ *["'](\w+)["'] *\] *= *|putenv\( *["'](\w+)["'] *, *|environ\.setdefault\( *["'](\w+)["'] *, *)["']([^"'\n]*)["']`)

// environSets are the variables that code of Python sets; text is what sets one that has no
// value alone.
func environSets(code []byte) []assignment {
	var out []assignment
	for _, m := range environLine().FindAllSubmatchIndex(code, 20) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text.Printable(string(code[m[2*i]:m[2*i+1]]))
		}
		out = append(out, assignment{variable: group(1) + group(2) + group(3), value: group(4), text: group(3), line: 1 + bytes.Count(code[:m[0]], []byte("\n"))})
	}
	return out
}

// ofValue returns where a variable gets a value, the most particular place first.
func (o *origins) ofValue(variable, value string) []machine.Origin {
	var out []machine.Origin
	for _, l := range o.read(variable) {
		at := machine.Origin{Kind: l.kind, Name: text.Printable(l.name), File: text.Printable(l.file), Line: l.line}
		if l.value == value && len(out) < 8 && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	if at := ownState(o.h, variable, func(v string, set bool) bool { return set && v == value }); len(out) == 0 && at.Kind != "" {
		out = append(out, at)
	}
	return out
}
