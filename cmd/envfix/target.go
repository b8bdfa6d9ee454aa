package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/probe"
	"envfix/internal/project"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// where is the target that the flags of a plan name, on the machine h.
func (f planFlags) where(h machine.Machine) (plan.Target, error) {
	t := f.target.Target
	t.Dir, t.Manager, t.InPlace = f.target.env, f.wish.Manager, t.InPlace || h.Platform.OS != "linux"
	if !f.machine.elsewhere() {
		f.target.place.ForPlan().Note(&t)
	}
	if err := f.carry(h, &t); err != nil {
		return t, err
	}
	for _, pair := range t.Mirrors {
		if err := describe.Mirror(pair); err != nil {
			return t, err
		}
	}
	manager, _ := managers.Find(t.Manager)
	for _, path := range f.wish.Files {
		if p, err := project.Read(path); err == nil && (manager.Channels == nil || manager.MakesConda()) { // an error was reported when the request was read
			t.Places = append(t.Places, p.Repositories()...)
		}
	}
	if t.Below = text.Each(f.wish.Below(), pep508.Requirement.Line); !manager.Project() && !t.Edit {
		return t, nil
	}
	t.ProjectFile = cmp.Or(manager.File, "pyproject.toml")
	if manager.Project() && manager.Channels != nil { // it may lie in either, and the plan names which
		t.ProjectFile = cmp.Or(project.PixiFile(filepath.Dir(t.Dir)), manager.File)
	}
	content, err := system.ReadFile(filepath.Join(say.Either(f.wish.Home != "", f.wish.Dir, filepath.Dir(t.Dir)), t.ProjectFile), 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.Edit:
		return t, fail.Wrong("`--edit` writes into the project's own file, and there is no "+t.ProjectFile, "without it the environment is made")
	case t.Edit && strings.Contains(string(content), "\n[tool.pdm"):
		return t, fail.Wrong("`--edit` writes into no project of PDM's", "without it the environment is made")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return t, fail.Wrap(fail.Usage, err, "`--manager uv` installs without a project")
	}
	t.Project = content
	return t, nil
}

// carry reads what the environment holds that is replaced, and what of it shall be
// left behind.
func (f planFlags) carry(h machine.Machine, t *plan.Target) error {
	var err error
	if t.Drop, err = packageNames("drop", t.Drop); err != nil {
		return err
	}
	if t.FromIndex, err = packageNames("from-index", t.FromIndex); err != nil {
		return err
	}
	for _, path := range f.wish.Files {
		if p, err := project.Read(path); err == nil && p.Hashed { // an error was reported when the request was read
			t.Listed = path
		}
	}
	if f.machine.facts == "" && elsewhere(h) && f.machine.mode != carriesOut {
		return nil // what lies here is not there
	}
	if f.machine.facts != "" && f.machine.mode != carriesOut {
		if slices.ContainsFunc(h.Pythons, func(p machine.Python) bool { return p.Active && p.Source == "venv" }) {
			t.Held = machine.HeldFrom(h)
		}
		return nil
	}
	t.Held = probe.Held(probeOptions(t.Dir))
	return nil
}

// packageNames are the normal names that a flag lists.
func packageNames(flag string, names []string) (out []string, err error) {
	for _, name := range names {
		q, err := pep508.Parse(name, "")
		if err != nil || q.Name != machine.NormalName(name) {
			return nil, describe.BadValue(flag, name, "write the name of a package alone, such as `--"+flag+" xformers`")
		}
		out = append(out, q.Name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// syncWarning says that a project's own lock will undo a plan that does not follow it; ""
// there is none.
func (f planFlags) syncWarning(t plan.Target) string {
	m, _ := managers.Find(t.Manager)
	i := slices.IndexFunc(pyproject.OwnLocks, func(name string) bool { return project.IsFile(filepath.Join(filepath.Dir(t.Dir), name)) })
	if t.Held == nil || i < 0 || f.wish.Lock != nil || m.Project() {
		return ""
	}
	return fmt.Sprintf("%s lies beside %s: what syncs with it puts back what it says; `envfix plan .` follows it", pyproject.OwnLocks[i], t.Dir)
}

// elsewhere reports whether h runs another operating system than this machine.
func elsewhere(h machine.Machine) bool {
	here, _ := machine.NormalPlatform(runtime.GOOS, "")
	return h.Platform.OS != here
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
