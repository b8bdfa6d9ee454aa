// Package team makes, reads and checks the lock of a project's directory: which
// kinds of machine there are, what each gets, which files that is, and whether it
// still is what was asked for. The files' forms are [envfix/internal/lock]'s.
//
// It reads and writes files, runs uv and asks indexes; it prints nothing and reads
// no flags.
package team

import (
	"cmp"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pyproject"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// A Team is a project's directory and what the program around it knows.
type Team struct {
	Dir    string         // where envfix.lock lies or shall lie
	Matrix *matrix.Matrix // the data that builds are chosen with
	Build  string         // this envfix's own version, such as 0.1.0-3-gabc
	Tools  string         // the folder of envfix's own tools, where uv may be

	Tell     func(line string)                  // says what takes a while; nil: nobody listens
	Progress func(done, total int, what string) // is told of each target that begins or is resolved; nil: nobody listens

	// Describe returns the machine and the wishes that a target's description
	// stands for, beginning with the machine h.
	Describe func(h machine.Machine, facts map[string]string) (machine.Machine, resolver.Request, error)

	// Pythons are those of this machine, which targets that name none get first, as
	// uv's own commands take them; nil: nobody looked, and the newest that fits is taken.
	Pythons func() []machine.Python

	// Project reads a requirements file or a pyproject.toml.
	Project func(path string) (*pyproject.Project, error)
}

func (t *Team) tell(line string) {
	if t.Tell != nil {
		t.Tell(line)
	}
}

// clean makes text from outside safe to print in one line.
func clean(s string) string { return text.Clip(s, 400) }

// Release is the least version that can read what a build of envfix writes: the part
// of a described build before the first dash.
func Release(build string) string {
	v, _, _ := strings.Cut(strings.TrimPrefix(build, "v"), "-")
	if _, err := version.ParseDotted(v); err != nil {
		return "0.1.0"
	}
	return v
}

func byName(a, b lock.Target) int { return cmp.Compare(a.Name, b.Name) }
