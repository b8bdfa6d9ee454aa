package installers

import (
	"slices"
	"strings"
	"unicode"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

// activate adds the lines to the environment's own activate script that take out
// of variables what would replace torch or its libraries: they act only where
// this environment is active.
func (b *builder) activate() {
	var lines, names []string
	for _, f := range b.fixes {
		line := activateLine(f)
		if line == "" || slices.Contains(lines, line) {
			continue
		}
		lines = append(lines, line)
		names = xslices.Add(names, f.Variable)
	}
	if len(lines) == 0 || b.h.Platform.OS == "windows" {
		return
	}
	path := say.Either(b.isConda(), gen+"/etc/conda/activate.d/envfix.sh", gen+"/bin/activate") // `conda activate` reads what lies there
	s := plan.Step{
		ID:    "activate",
		Title: "keep shadowing libraries out where the environment is active",
		Why:   "LD_LIBRARY_PATH is searched before torch's own libraries",
		Block: &plan.Block{Path: path, Name: "envfix", Lines: lines},
	}
	if names[0] != "LD_LIBRARY_PATH" || len(names) > 1 {
		s.Title, s.Why = "mend "+strings.Join(names, ", ")+" where the environment is active", "what they name would come before what belongs there"
	}
	b.add(s)
}

// Activated is what the activate script makes of a variable's value.
func Activated(variable, value string, fixes []plan.EnvFix) string {
	for _, f := range fixes {
		switch {
		case f.Variable != variable || activateLine(f) == "":
		case f.Action == "set":
			value = f.Value
		case ownValue().MatchString(variable):
			value = ""
		default:
			entries := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(separators(variable), r) })
			value = strings.Join(slices.DeleteFunc(entries, func(e string) bool { return e == f.Value }), ":")
		}
	}
	return value
}

// separators are what stands between the entries of a variable.
func separators(variable string) string {
	return say.Either(variable == "LD_PRELOAD", ": ", ":") // ld.so(8)
}

// isConda reports whether the steps work on a conda environment.
func (b *builder) isConda() bool {
	if m, _ := managers.Find(b.t.Manager); m.MakesConda() {
		return true
	}
	return (b.t.InPlace || len(b.steps) == 0) && b.inEnvironment("conda") // else a virtual environment is built
}

// activateLine is the line of a POSIX shell for one change; "" for what the
// script leaves alone: PATH, which the script sets itself, and a choice of GPUs.
func activateLine(f plan.EnvFix) string {
	if strings.ContainsFunc(f.Value, func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) }) {
		return "" // left to `envfix env`, which quotes for the shell at hand
	}
	switch f.Variable {
	case "LD_LIBRARY_PATH", "PYTHONPATH", "LD_PRELOAD":
	case "PYTHONHOME":
		return say.If(f.Action == "remove", "unset PYTHONHOME")
	case "PYTHONPLATLIBDIR":
		return say.If(f.Action == "remove", unsetLine(f))
	case "PYTHONNOUSERSITE":
		return "export PYTHONNOUSERSITE='" + f.Value + "'"
	default:
		return ""
	}
	if f.Action != "remove" {
		return ""
	}
	v, breaks := f.Variable, separators(f.Variable)
	lines := strings.Repeat(`\n`, len(breaks))
	return v + `=$(printf %s "${` + v + `-}" | tr '` + breaks + `' '` + lines + `' | { grep -Fxv -- '` + f.Value + `' || :; } | paste -sd: -)`
}

// profileLine is the line of a POSIX shell that undoes what a profile of the user's own
// sets: an entry of a list, or a variable that has one value, where it is still that.
func profileLine(f plan.EnvFix) string {
	if line := activateLine(f); line != "" || f.Action != "remove" || !ownValue().MatchString(f.Variable) || strings.ContainsFunc(f.Value, func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) }) {
		return line
	}
	return unsetLine(f)
}

// unsetLine unsets a variable where it is still what it was.
func unsetLine(f plan.EnvFix) string {
	return `[ "${` + f.Variable + `-}" != '` + f.Value + `' ] || unset ` + f.Variable
}

// ownValue matches the variables that one value decides.
var ownValue = lazy.Regexp("^(?:" + machine.OneValue + ")$")

// Unset reports whether a plan's steps take a variable that has one value out of a profile.
func Unset(steps []plan.Step, f plan.EnvFix) bool {
	line := profileLine(f)
	return line != "" && activateLine(f) == "" && slices.ContainsFunc(steps, func(s plan.Step) bool {
		return s.Block != nil && s.Block.Name == ProfileBlock && slices.Contains(s.Block.Lines, line)
	})
}
