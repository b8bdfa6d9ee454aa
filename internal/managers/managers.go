// Package managers is the table of what installs packages: how each is called and what
// it can be given. How each one installs is a file of package installers.
package managers

import "slices"

// The channels of conda that carry pytorch, as a build's index names them.
const (
	CondaForge   = "conda-forge"
	CondaPyTorch = "pytorch"
)

// A Manager is a program that makes an environment, or the kind of project that one
// works on.
type Manager struct {
	Name     string   // as --manager takes it
	Program  string   // what is run
	Channels []string // the channels of conda that it takes packages from; nil: it takes wheels
	File     string   // the project's file that is written; "" it makes an environment
	// NeedsPython: it brings none where none here is the chosen one.
	NeedsPython bool
	// LeavesPython: over an environment whose python leads nowhere it puts no other.
	LeavesPython bool
	Sync         string // the project's own command that installs; "" for an environment
}

var table = []Manager{
	{Name: "uv", Program: "uv"},
	{Name: "pip", Program: "pip", NeedsPython: true, LeavesPython: true},
	{Name: "conda", Program: "conda", Channels: []string{CondaForge, CondaPyTorch}},
	{Name: "mamba", Program: "mamba", Channels: []string{CondaForge, CondaPyTorch}},
	{Name: "micromamba", Program: "micromamba", Channels: []string{CondaForge, CondaPyTorch}},
	{Name: "pixi", Program: "pixi", File: "pixi.toml", Sync: "pixi install", Channels: []string{CondaForge}},
	{Name: "poetry", Program: "poetry", File: "pyproject.toml", Sync: "poetry lock && poetry install"},
}

// Usual makes an environment where nothing else is asked for.
const Usual = "uv"

// Names are what --manager takes.
func Names() []string {
	return names(func(Manager) bool { return true })
}

// Conda are the programs that make conda environments, the plainest first and the
// fastest last.
func Conda() []string {
	return names(func(m Manager) bool { return m.Channels != nil && !m.Project() })
}

// FastestConda is the fastest of those that are here; conda where none is.
func FastestConda(here func(program string) bool) string {
	all := Conda()
	for _, name := range slices.Backward(all) {
		if here(name) {
			return name
		}
	}
	return all[0]
}

// Find returns the manager of a name. ok is false for "" and for a name that is none.
func Find(name string) (m Manager, ok bool) {
	i := slices.IndexFunc(table, func(m Manager) bool { return m.Name == name })
	if i < 0 {
		return Manager{}, false
	}
	return table[i], true
}

// Project reports whether a project's file is written, and nothing installed.
func (m Manager) Project() bool { return m.File != "" }

// MakesConda reports whether it makes a conda environment.
func (m Manager) MakesConda() bool { return m.Channels != nil && !m.Project() }

func names(which func(Manager) bool) []string {
	var out []string
	for _, m := range table {
		if which(m) {
			out = append(out, m.Name)
		}
	}
	return out
}
