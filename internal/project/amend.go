package project

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/xslices"
)

// Amend writes into the list of a project what else it asks for, or takes packages out of it.
// Whatever else stands there stays. It returns what undoes that.
func Amend(file string, asked []string, remove bool) (undo func() error, err error) {
	before, err := ReadFile(file)
	if err != nil {
		return nil, err
	}
	e := &pyproject.Edit{Text: before, Name: file, Table: []string{"project"}}
	for _, written := range asked {
		q, err := describe.Requirement(written)
		if err != nil {
			return nil, err
		}
		change := say.Either(filepath.Base(file) == "pyproject.toml", amendTable, amendLines)
		if err := change(e, q, remove); err != nil {
			return nil, fail.Wrap(fail.Failed, err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	return func() error { return system.WriteFile(file, before, info.Mode().Perm()) }, system.WriteFile(file, e.Text, info.Mode().Perm())
}

// amendTable is Amend for one package in the dependencies of [project].
func amendTable(e *pyproject.Edit, q pep508.Requirement, remove bool) error {
	have := e.Strings("dependencies")
	if slices.Contains(e.Strings("dynamic"), "dependencies") || len(have) == 0 && !bytes.Contains(e.Text, []byte("[project]")) {
		return fail.New(fail.Failed, e.Name+" has its dependencies elsewhere", "change them there, then `envfix apply .`")
	}
	was, there := xslices.Find(have, func(line string) bool { return asksFor(line, q.Name) })
	if there {
		if err := e.Drop("dependencies", was); err != nil || remove {
			return err
		}
	} else if remove {
		return fail.Wrong(e.Name + " does not ask for " + q.Name)
	}
	return e.Add("dependencies", q.Line())
}

// amendLines is Amend for one package in a list for pip.
func amendLines(e *pyproject.Edit, q pep508.Requirement, remove bool) error {
	if bytes.Contains(e.Text, []byte("--hash=")) {
		return fail.New(fail.Failed, e.Name+" was compiled, with hashes", "change what it is made from, then `envfix apply .`")
	}
	var out []string
	there := false
	for line := range strings.Lines(strings.TrimSuffix(string(e.Text), "\n")) {
		if there = there || asksFor(line, q.Name); !asksFor(line, q.Name) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	if remove && !there {
		return fail.Wrong(e.Name + " does not ask for " + q.Name)
	} else if !remove {
		out = append(out, q.Line())
	}
	e.Text = []byte(strings.Join(append(out, ""), "\n"))
	return nil
}

// asksFor reports whether a line of a list asks for a package.
func asksFor(line, name string) bool {
	line, _, _ = strings.Cut(line, " #")
	q, err := pep508.Parse(strings.TrimSpace(line), "")
	return err == nil && q.Name == name
}
