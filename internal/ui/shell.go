package ui

import (
	"fmt"
	"strings"

	"envfix/internal/text"
)

// Shells are the languages that [Assignments] writes.
var shells = []string{"sh", "fish", "powershell"}

// IsShell reports whether [Assignments] knows a shell.
func IsShell(name string) bool {
	for _, s := range shells {
		if s == name {
			return true
		}
	}
	return false
}

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

// Assignments returns the lines that a shell evaluates. Its error names a value
// that the shell cannot be given.
func Assignments(shell string, all []Assignment) (string, error) {
	var b strings.Builder
	for _, a := range all {
		line, err := assignment(shell, a)
		if err != nil {
			return "", err
		}
		b.WriteString(line + "\n")
	}
	return b.String(), nil
}

func assignment(shell string, a Assignment) (string, error) {
	switch shell {
	case "fish":
		v, err := text.Fish(a.Value)
		switch {
		case err != nil:
			return "", err
		case a.Kind == Unset:
			return "set -e " + a.Name, nil
		case a.Kind == Prepend:
			return fmt.Sprintf("set -gx %s %s $%s", a.Name, v, a.Name), nil
		case strings.HasSuffix(a.Name, "PATH"):
			// fish keeps variables of that name as lists
			return fmt.Sprintf("set -gx %s (string split : -- %s)", a.Name, v), nil
		}
		return fmt.Sprintf("set -gx %s %s", a.Name, v), nil
	case "powershell":
		v, err := text.PowerShell(a.Value)
		if err != nil {
			return "", err
		}
		switch a.Kind {
		case Unset:
			return "Remove-Item -ErrorAction SilentlyContinue Env:" + a.Name, nil
		case Prepend:
			return fmt.Sprintf("$env:%s = %s + [IO.Path]::PathSeparator + $env:%s", a.Name, v, a.Name), nil
		}
		return fmt.Sprintf("$env:%s = %s", a.Name, v), nil
	}
	v, err := text.POSIX(a.Value)
	if err != nil {
		return "", err
	}
	switch a.Kind {
	case Unset:
		return "unset " + a.Name, nil
	case Prepend:
		return fmt.Sprintf(`export %s=%s"${%s:+:$%s}"`, a.Name, v, a.Name, a.Name), nil
	}
	return fmt.Sprintf("export %s=%s", a.Name, v), nil
}
