package project

import (
	"bytes"
	"errors"
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

// Keep returns what puts files of a project back as they are; one that is not there goes.
func Keep(files []string) (undo func() error, err error) {
	undo = func() error { return nil }
	for _, file := range files {
		back, rest := func() error { return os.RemoveAll(file) }, undo
		if info, err := os.Stat(file); err == nil {
			before, err := readBounded(file, pyproject.MaxOwnLock)
			if err != nil {
				return nil, err
			}
			back = func() error { return system.WriteFile(file, before, info.Mode().Perm()) }
		}
		undo = func() error { return errors.Join(back(), rest()) }
	}
	return undo, nil
}

// KeptBy reports whether a program keeps the list of a project, and its lock: the lock is
// there, or the list stands in the program's own table or file.
func KeptBy(file, lock, program string) bool {
	content, err := ReadFile(file)
	return IsFile(lock) || file == program+".toml" || err == nil && bytes.Contains(content, []byte("[tool."+program+".dependencies]"))
}

// Amend writes into the list of a project what else it asks for, or takes packages out of it.
// Whatever else stands there stays.
func Amend(file string, asked []string, remove bool) error {
	change, known := map[string]func(*pyproject.Edit, pep508.Requirement, bool) error{".toml": amendTable, ".txt": amendLines}[filepath.Ext(file)]
	if !known {
		return fail.New(fail.Failed, file+" is no list that envfix writes into", "change it there, then `envfix apply .`")
	}
	before, err := ReadFile(file)
	if err != nil {
		return err
	}
	e := &pyproject.Edit{Text: before, Name: file, Table: []string{"project"}}
	for _, written := range asked {
		q, err := describe.Requirement(written)
		if err != nil {
			return err
		}
		if err := change(e, q, remove); err != nil {
			return fail.Wrap(fail.Failed, err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return system.WriteFile(file, e.Text, info.Mode().Perm())
}

// amendTable is Amend for one package in the dependencies of [project].
func amendTable(e *pyproject.Edit, q pep508.Requirement, remove bool) error {
	have := e.Strings("dependencies")
	if slices.Contains(e.Strings("dynamic"), "dependencies") || len(have) == 0 && !bytes.Contains(e.Text, []byte("[project]")) {
		return fail.New(fail.Failed, e.Name+" has its dependencies elsewhere", "change them there, then `envfix apply .`")
	}
	was := xslices.Filter(have, func(line string) bool { return pep508.AsksFor(line, q.Name) })
	for _, line := range was {
		if err := e.Drop("dependencies", line); err != nil {
			return err
		}
	}
	switch {
	case !remove:
		return e.Add("dependencies", q.Line())
	case len(was) == 0:
		return fail.Wrong(e.Name + " does not ask for " + q.Name)
	}
	return nil
}

// amendLines is Amend for one package in a list for pip.
func amendLines(e *pyproject.Edit, q pep508.Requirement, remove bool) error {
	if bytes.Contains(e.Text, []byte("--hash=")) {
		return fail.New(fail.Failed, e.Name+" was compiled, with hashes", "change what it is made from, then `envfix apply .`")
	}
	have := slices.Collect(strings.Lines(say.If(len(e.Text) > 0, strings.TrimSuffix(string(e.Text), "\n")+"\n")))
	left := slices.DeleteFunc(slices.Clone(have), func(line string) bool { return pep508.AsksFor(line, q.Name) })
	switch {
	case !remove:
		left = append(left, q.Line()+"\n")
	case len(left) == len(have):
		return fail.Wrong(e.Name + " does not ask for " + q.Name)
	}
	e.Text = []byte(strings.Join(left, ""))
	return nil
}
