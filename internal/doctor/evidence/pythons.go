package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/version"
)

// Active is the Python in use, as major.minor.
func (e Python) Active() string {
	for _, p := range e.Machine.Pythons {
		if parts := strings.Split(p.Version, "."); len(parts) >= 2 {
			return parts[0] + "." + parts[1]
		}
	}
	return ""
}

// Out reports whether a release has no wheel for a Python.
func (e Python) Out(v, python string) bool {
	m, old := e.Matrix, e.Limit("python-3.10")
	py := PythonVersion(python)
	want := PythonVersion(strings.TrimSuffix(v, ".*"))
	switch {
	case py.IsZero():
		return false
	case py.Compare(PythonVersion(old.Value)) >= 0 && old.Before(want):
		return true
	case m == nil:
		return false
	}
	lowest, highest := e.builtFor(v)
	return !highest.IsZero() && (py.Compare(highest) > 0 || py.Compare(lowest) < 0)
}

// builtFor are the oldest and the newest Python that a torch, or any, has builds for here.
func (e Python) builtFor(v string) (lowest, highest version.Python) {
	for _, r := range e.Matrix.Releases {
		if v != "" && r.Torch.String() != v && !strings.HasPrefix(r.Torch.String(), v+".") {
			continue
		}
		for _, b := range r.Builds {
			if b.OS != "" && b.OS != e.Machine.Platform.OS {
				continue
			}
			if lowest.IsZero() || b.PythonMin.Compare(lowest) < 0 {
				lowest = b.PythonMin
			}
			if b.PythonMax.Compare(highest) > 0 {
				highest = b.PythonMax
			}
		}
	}
	return lowest, highest
}

// Fix names the newest Python that a torch has wheels for, and the oldest torch
// that the list of what was found has for this Python.
func (e Python) Fix(v string) []string {
	ways := e.For(v)
	if v == "" && e.Matrix != nil && len(e.Matrix.Releases) > 0 {
		return e.anyFix()
	}
	switch python := e.Active(); {
	case len(e.Offered) > 0 && v != "" && PythonVersion(v).Compare(PythonVersion(read.Public(e.Offered[0]))) < 0:
		ways = append(ways,
			fmt.Sprintf("or a newer torch: for this Python there is torch %s and newer", read.Public(e.Offered[0])))
	case python != "" && v != "":
		ways = append(ways, "or a newer torch, which this Python has: `envfix plan`")
	default:
		ways = append(ways, "`envfix plan` names the torch for this Python")
	}
	return e.withIndex(ways, v)
}

// withIndex puts the command with PyTorch's own index where a build with a label was asked
// for and no index was named: the default one has no such builds, whatever the Python.
func (e Python) withIndex(ways []string, v string) []string {
	_, label, _ := e.Wanted().Torch()
	if label == "" || v == "" || !e.Did.Index.IsZero() || e.Machine.Platform.OS == "macos" {
		return ways
	}
	command := "`pip install torch==" + v + "+" + label + " --index-url https://download.pytorch.org/whl/" + label + "`: builds named +" + label +
		" are on PyTorch's own index alone"
	if len(e.Offered) > 0 && PythonVersion(v).Compare(PythonVersion(read.Public(e.Offered[0]))) < 0 && len(ways) > 0 {
		return slices.Insert(ways, 1, "and there: "+command) // the Python has to be another one first
	}
	return slices.Insert(ways, 0, command)
}

// anyFix is what to do where any torch will do: which Python is asked, where
// nothing says it, and one that the last releases all have wheels for.
func (e Python) anyFix() []string {
	var ways []string
	settled, oldest := e.Settled()
	if e.Active() == "" && oldest != "" {
		ways = append(ways, fmt.Sprintf("`python -c \"import struct, sys; print(sys.version, struct.calcsize('P') * 8)\"` says which Python asks: "+
			"it has to be %s to %s, and of 64 bits", oldest, settled))
	}
	if settled != "" {
		ways = append(ways, fmt.Sprintf("a Python that torch has wheels for: `uv venv --python %s`", settled))
	}
	return append(ways, "`envfix why torch` says which torch each Python has")
}

// Settled are the newest Python that the last releases all have wheels for (what
// was out for a year is what other packages have, too) and the oldest that any has.
func (e Python) Settled() (newest, oldest string) {
	const minors = 5
	var most, least version.Python
	system, seen := cmp.Or(e.Machine.Platform.OS, "linux"), map[string]bool{}
	for _, r := range e.Matrix.Releases { // newest first
		if seen[minorOf(r.Torch)] = true; len(seen) > minors {
			break
		}
		for _, b := range r.Builds {
			if b.OS != system || !strings.HasPrefix(b.Label, "cu") && system != "macos" {
				continue
			}
			if most.IsZero() || b.PythonMax.Compare(most) < 0 {
				most = b.PythonMax
			}
			if least.IsZero() || b.PythonMin.Compare(least) < 0 {
				least = b.PythonMin
			}
		}
	}
	return most.String(), least.String()
}

func minorOf(v version.Python) string {
	parts := strings.SplitN(v.String(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// For is how to get the newest Python that a release has wheels for.
func (e Python) For(v string) []string {
	newest := e.newest(v)
	if newest == "" {
		return nil
	}
	return []string{fmt.Sprintf("a Python that torch %s has: `uv venv --python %s`, or conda: `conda create -n torch python=%s`",
		v, newest, newest)}
}

// older is the Python before one: 3.10 of 3.11.
func older(v version.Python) string {
	major, minor, _ := strings.Cut(v.String(), ".")
	if n := read.Atoi(minor); n > 0 {
		return fmt.Sprintf("%s.%d", major, n-1)
	}
	return ""
}

// newest is the newest Python that a release has wheels for; "" not known.
func (e Python) newest(v string) string {
	if e.Matrix != nil {
		if r, ok := e.Matrix.Release(v); ok {
			newest, now := version.Python{}, PythonVersion(e.Active())
			system := cmp.Or(e.Machine.Platform.OS, "linux")
			for _, b := range r.Builds { // that all its builds have
				if b.OS == system && (newest.IsZero() || b.PythonMax.Compare(newest) < 0) {
					newest = b.PythonMax
				}
			}
			if newest.IsZero() || !SameMinor(newest.String(), now.String()) {
				return newest.String()
			}
			return older(newest) // this one was just refused
		}
	}
	parts := strings.SplitN(v, ".", 3)
	for _, row := range e.Limit("newest-python").Values { // torch 1.13: 3.10
		if f := strings.Fields(row); len(parts) > 1 && len(f) == 2 && f[0] == parts[0]+"."+parts[1] {
			return f[1]
		}
	}
	return ""
}
