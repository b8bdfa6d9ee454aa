package ui

import (
	"slices"
	"strings"

	"envfix/internal/text"
)

// Shells are the languages that [Assignments] writes.
var shells = []string{"sh", "fish", "powershell"}

// IsShell reports whether [Assignments] knows a shell.
func IsShell(name string) bool { return slices.Contains(shells, name) }

// An Assignment is one change of the environment of a shell.
type Assignment struct {
	Name  string
	Value string // of the variable, or what is put before it
	Kind  Kind
}

// Kind says what an Assignment does.
type Kind int

// The kinds.
const (
	Set     Kind = iota
	Unset        // Value does not count
	Prepend      // to a list such as PATH
)

// Assignments are the lines that a shell evaluates; its error names a value that the shell
// cannot be given.
func Assignments(shell string, all []Assignment) text.Quoted {
	var d text.Doc
	for _, a := range all {
		d.Add("%s\n", assignment(shell, a))
	}
	return d.Quoted()
}

func assignment(shell string, a Assignment) text.Quoted {
	name := text.Word(a.Name)
	switch shell {
	case "fish":
		v := text.Fish(a.Value)
		switch {
		case a.Kind == Unset:
			return text.Form("set -e %s", name)
		case a.Kind == Prepend:
			return text.Form("set -gx %[1]s %[2]s $%[1]s", name, v)
		case strings.HasSuffix(a.Name, "PATH"):
			// fish keeps variables of that name as lists
			return text.Form("set -gx %s (string split : -- %s)", name, v)
		}
		return text.Form("set -gx %s %s", name, v)
	case "powershell":
		v := text.PowerShell(a.Value)
		switch a.Kind {
		case Unset:
			return text.Form("Remove-Item -ErrorAction SilentlyContinue Env:%s", name)
		case Prepend:
			return text.Form("$env:%[1]s = %[2]s + [IO.Path]::PathSeparator + $env:%[1]s", name, v)
		}
		return text.Form("$env:%s = %s", name, v)
	}
	v := text.POSIX(a.Value)
	switch a.Kind {
	case Unset:
		return text.Form("unset %s", name)
	case Prepend:
		return text.Form(`export %[1]s=%[2]s"${%[1]s:+:$%[1]s}"`, name, v)
	}
	return text.Form("export %s=%s", name, v)
}
