package team

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/pyproject"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// Formats are the forms that a lock is exported in.
var Formats = slices.Insert(lock.Forms(), 2, "uv")

// Export returns the named profile in another tool's form; "" is the only one. The
// form uv is for all profiles together: the whole pyproject.toml.
func (t *Team) Export(format, name string, groups ...string) (text.Quoted, error) {
	var none text.Quoted
	l, err := t.Present()
	if err != nil {
		return none, err
	}
	if format == "uv" {
		return t.exportUV(l, groups)
	}
	if name == "" && len(l.Profiles) == 1 {
		name = l.Profiles[0].Name
	}
	if name == "" {
		return none, fail.Wrong("the lock has several profiles", "name one with `--profile`: "+strings.Join(l.Names(), ", "))
	}
	p, err := l.Profile(name)
	if err != nil {
		return none, fail.Wrap(fail.Usage, err)
	}
	k, err := t.chosen(p, groups)
	if err != nil {
		return none, err
	}
	home, err := filepath.Abs(t.Dir)
	if err != nil {
		return none, fail.Wrap(fail.Usage, err)
	}
	file, err := p.Export(format, home, k)
	return file, fail.Wrap(fail.Usage, err)
}

// chosen are a profile's packages with these groups and extras.
func (t *Team) chosen(p *lock.Profile, groups []string) (*lock.Packages, error) {
	k, err := t.Packages(p)
	if err != nil {
		return nil, err
	}
	if k, err = k.Choose(groups); err != nil {
		return nil, fail.Wrap(fail.Usage, err)
	}
	return k, nil
}

// exportUV returns the project's pyproject.toml, or a new one, with what makes `uv
// sync` install the locked packages. What else stands there stays.
func (t *Team) exportUV(l *lock.Lock, groups []string) (text.Quoted, error) {
	var none text.Quoted
	u, err := l.UVProject(func(p *lock.Profile) (*lock.Packages, error) { return t.chosen(p, groups) })
	if err != nil {
		return none, err
	}
	e := &pyproject.Edit{Name: "pyproject.toml"}
	e.Text, err = ReadFile(t.path("pyproject.toml"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		e.Text = []byte("[project]\nname = \"team\"\nversion = \"0\"\nrequires-python = \"\"\ndependencies = []\n")
	case err != nil:
		return none, fail.Wrap(fail.Usage, err)
	}
	e.Table = []string{"project"}
	if err := e.Set("requires-python", u.Python); err != nil {
		return none, fail.Wrap(fail.Usage, err)
	}
	if err := editUV(e, u); err != nil {
		return none, fail.Wrap(fail.Usage, err)
	}
	head := "# From " + lock.File + ": as pyproject.toml, `uv sync` installs " + strings.Join(u.Defaults, ", ") +
		"; another: `uv sync --no-default-groups --group NAME`\n"
	file := string(e.Text)
	if strings.HasPrefix(file, "# From "+lock.File) {
		_, file, _ = strings.Cut(file, "\n")
	}
	return text.Lines(head+file, 0), nil
}

func editUV(e *pyproject.Edit, u *lock.UVProject) error {
	var errs []error
	set := func(key string, value text.Quoted) { errs = append(errs, e.SetRaw(key, value)) }
	e.Table = []string{"dependency-groups"}
	for _, name := range slices.Sorted(maps.Keys(u.Groups)) {
		set(name, list(u.Groups[name], text.JSON, true))
	}
	e.Table = []string{"tool", "uv"}
	set("default-groups", list(xslices.Once(e.Strings("default-groups"), u.Defaults), text.JSON, false))
	set("environments", list(u.Environments, text.JSON, true))
	group := func(name string) text.Quoted { return text.Form("{ group = %s }", text.JSON(name)) }
	conflict := func(groups []string) text.Quoted { return list(groups, group, false) }
	if len(u.Conflicts) > 0 {
		set("conflicts", list(u.Conflicts, conflict, true))
	}
	e.Table = []string{"tool", "uv", "sources"}
	source := func(s lock.UVSource) text.Quoted {
		return text.Form("{ index = %s, group = %s }", text.JSON(s.Index), text.JSON(s.Group))
	}
	for _, name := range slices.Sorted(maps.Keys(u.Sources)) {
		set(name, list(u.Sources[name], source, true))
	}
	errs = append(errs, text.Each(u.Indexes, func(i lock.UVIndex) error { return e.Index(i.Name, i.URL) })...)
	return errors.Join(errs...)
}

// list writes a list of TOML; a long one has a line for each element.
func list[T any](of []T, write func(T) text.Quoted, long bool) text.Quoted {
	all := text.Each(of, write)
	if long && len(all) > 0 {
		return text.Form("[\n    %s,\n]", text.Join(all, ",\n    "))
	}
	return text.Form("[%s]", text.Join(all, ", "))
}
