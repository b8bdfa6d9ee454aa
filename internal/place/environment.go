package place

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"
)

// Environment returns the environment that name stands for now, and its
// directory of programs. The link is resolved: a shell stays with the environment
// that it was started with, also after the next switch.
func Environment(name string) (dir, bin string, err error) {
	missing := func(err error) error {
		makes := []string{"envfix", "apply"}
		if name != Default {
			makes = append(makes, "--env", name)
		}
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s is not an environment", text.Escape(name)), Err: err,
			Hints: []string{"`" + text.Escape(text.Command(makes...)) + "` makes it"}}
	}
	dir, err = filepath.Abs(name)
	if err != nil {
		return "", "", missing(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", missing(err)
	}
	for _, python := range []string{"bin/python", "Scripts/python", "Scripts/python.exe", "python.exe"} {
		if _, err := os.Stat(filepath.Join(dir, python)); err == nil {
			return dir, filepath.Dir(filepath.Join(dir, python)), nil
		}
	}
	return "", "", missing(nil)
}

// wslLibraries is where WSL puts the Windows driver's programs and libraries.
const wslLibraries = "/usr/lib/wsl/lib"

// Assignments is what a shell needs for the environment in dir.
func Assignments(h machine.Machine, dir, bin string, fixes []plan.EnvFix) []ui.Assignment {
	sep := string(os.PathListSeparator)
	path := strings.Split(os.Getenv("PATH"), sep)
	kind := say.Either(Exists(filepath.Join(dir, "pyvenv.cfg")), "VIRTUAL_ENV", "CONDA_PREFIX")
	out := []ui.Assignment{{Name: kind, Value: dir}}
	first := []string{bin}
	if h.Platform.Environment == machine.WSL2 && !slices.Contains(path, wslLibraries) {
		first = append(first, wslLibraries) // nvidia-smi lies there
	}
	if path[0] != bin {
		out = append(out, ui.Assignment{Name: "PATH", Value: strings.Join(first, sep), Kind: ui.Prepend})
	}
	var done []string
	for _, f := range fixes {
		if slices.Contains(done, f.Variable) {
			continue
		}
		done = append(done, f.Variable)
		a := ui.Assignment{Name: f.Variable, Value: f.Value}
		if f.Action == "remove" {
			a.Value = installers.Without(os.Getenv(f.Variable), sep, f.Variable, fixes)
			if a.Value == "" {
				a.Kind = ui.Unset
			}
		}
		out = append(out, a)
	}
	return out
}

// Assign changes our own environment as a shell would.
func Assign(a ui.Assignment) error {
	switch a.Kind {
	case ui.Unset:
		return os.Unsetenv(a.Name)
	case ui.Prepend:
		if old := os.Getenv(a.Name); old != "" { // an empty element would be the working directory
			a.Value += string(os.PathListSeparator) + old
		}
	}
	return os.Setenv(a.Name, a.Value)
}
