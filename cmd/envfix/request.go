package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// request reads the wish. described says that the machine is described by flags
// or a file instead of being this one. Every malformed value is a usage error.
func (f wishFlags) request(described bool) (resolver.Request, error) {
	r, err := f.Parse()
	if err != nil {
		return r, err
	}
	r.Described, r.Today = described, today()
	if r.Policy, err = policyHere(); err != nil {
		return r, err
	}
	if r.Requirements, err = f.requirements(); err != nil {
		return r, err
	}
	for _, q := range r.Requirements {
		if isEnvironment(q.From) { // a program such as git is conda's own, however a package of pip's is called
			r.AsNamed = append(r.AsNamed, q.Name)
		}
	}
	r.ProjectPython = f.demands
	switch {
	case f.demands != "":
	case f.project != "" || !described:
		r.ProjectPython = projectPython(cmp.Or(f.project, "."))
	default: // the directory that a question is asked in has no say, a file that is named has
		for _, path := range f.files {
			r.ProjectPython = cmp.Or(r.ProjectPython, pythonOf("", strings.Split(path, "[")[0]))
		}
	}
	return r, nil
}

// policyHere is the policy of the team that this directory is of; nil: it has none. A
// stranger's is named and not followed.
func policyHere() (*resolver.Policy, error) {
	p, stranger, err := team.Policy(".")
	if stranger != "" {
		fmt.Fprintf(stderr(), "envfix: warning: %s belongs to another user, and its [policy] is not followed\n", ui.Clean(stranger))
	}
	return p, err
}

// requirements reads the positionals and the files of -r.
func (f wishFlags) requirements() ([]pep508.Requirement, error) {
	out, err := requirementsOf(f.arguments)
	if err != nil {
		return nil, err
	}
	for _, file := range f.files {
		p, err := projectFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, p.Indexed()...)
	}
	return append(out, f.documented...), nil
}

// requirementsOf are the requirements that arguments are, of which none is a file.
func requirementsOf(arguments []string) ([]pep508.Requirement, error) {
	for _, a := range arguments {
		if err := notAFile(a); err != nil {
			return nil, err
		}
	}
	return describe.Requirements(arguments)
}

// notAFile refuses an argument that names a file, such as requirements.txt: as a
// requirement it would be a package of that name (requirements-txt), which somebody
// may have made for those who mistype.
func notAFile(arg string) error {
	_, suffix, dotted := strings.Cut(arg, ".")
	// ruamel.yaml and discord.py are packages.
	known := dotted && slices.Contains([]string{"txt", "toml", "in", "lock", "md", "cfg"}, suffix)
	if info, err := os.Stat(arg); !known && (err != nil || !info.Mode().IsRegular() || !dotted) {
		return nil
	}
	return fail.Wrong(ui.Clip(arg, 60)+" is the name of a file, not of a package",
		"`-r FILE` reads requirements from a file, or from a pyproject.toml", "a plan that `envfix plan --out` wrote ends in .json")
}

// today is the date that a plan reasons with: releases of torch that came after it are
// left out. ENVFIX_TODAY fixes it, so that a plan can be made again later. A clock that
// stands before the day of the data is not believed.
func today() string {
	if os.Getenv("ENVFIX_TODAY") != "" {
		return clockDay()
	}
	return matrix.EmbeddedHead().Day(clockDay())
}

func clockDay() string {
	return cmp.Or(os.Getenv("ENVFIX_TODAY"), time.Now().UTC().Format("2006-01-02"))
}

// matrixFor loads the compatibility data that a command works with: what the
// program was built with, or the newer release that `envfix matrix update` took.
// A release that is damaged or not trusted any more is not used, and said so.
func matrixFor() *matrix.Matrix {
	m := matrix.Embedded()
	newer, err := installedMatrix(m)
	if err != nil {
		fmt.Fprintf(stderr(), "envfix: warning: the updated matrix is not used: %s\n", ui.Clean(err.Error()))
	}
	if newer != nil {
		m = newer
	}
	return m.Until(today())
}
