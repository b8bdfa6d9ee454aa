// Package place says which environment a command is about, what a shell needs to use it, and how a
// shell or a program is started in it.
package place

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
)

// Default is the environment of a project.
const Default = ".venv"

// A Place is the environment that a command is about. All commands find it by one
// rule: the one that --env names; else .venv, where it is here or was; else the
// virtual environment that is activated; else conda's; else .venv, which is to be.
type Place struct {
	Dir   string
	state string // in words: active, new …
	Named bool   // by --env
	conda bool   // an activated environment of conda's, which a plan leaves alone

	Obstacle string // what comes first, where a file has that name; "" none has
}

// Named is the environment that --env names.
func Named(dir string) Place {
	p := Place{Dir: dir, Named: true}.looked()
	switch {
	case SameDir(dir, Active()):
		p.state = "active"
	case IsEnv(dir):
		p.state = "not active"
	}
	return p
}

// looked is a place without an environment: a new one comes there, if no file has that name.
func (p Place) looked() Place {
	p.state = "new"
	if info, err := os.Lstat(p.Dir); err == nil && info.Mode().IsRegular() {
		p.state = "a file, which is in the way: move it away"
		p.Obstacle = "move " + text.Escape(p.Dir) + " away, which is a file, or name another environment: `envfix apply --env DIR`"
	}
	return p
}

// Here is the environment of a command that names none.
func Here() Place {
	if os.Getenv("ENVFIX_ROOT") != "" { // what is activated here is not activated there
		return Place{Dir: Default}
	}
	active := Active()
	switch {
	case SameDir(Default, active):
		return Place{Dir: Default, state: "active"}
	case Exists(Default) || Exists(".envfix"):
		p := Place{Dir: Default, state: "not active"}
		if to, err := os.Readlink(Default); err == nil && !Exists(Default+"/.") {
			return Place{Dir: Default, state: "a link to " + text.Escape(to) + ", which is not there"}
		}
		if !IsEnv(Default) {
			p = p.looked()
		}
		if other := ofPath(); active == "" && other != "" && !SameDir(other, Default) {
			p.state += "; `python` here is that of " + text.Escape(other) + ", which `--env` names"
		}
		p.state += say.If(IsEnv(active), "; active is "+text.Escape(active)+", which `--env` names")
		return p
	case active == "":
		return Place{Dir: Default, state: "new"}
	}
	return Place{Dir: active, state: "active", conda: !Exists(filepath.Join(active, "pyvenv.cfg"))}
}

// ForPlan is the environment that a plan is for: one of conda's is changed only where
// --env names it.
func (p Place) ForPlan() Place {
	if !p.conda || p.Named {
		return p
	}
	return Place{Dir: Default, state: "new; conda's " + filepath.Base(p.Dir) + ", which is active, stays as it is: `--env DIR --manager conda` changes it"}
}

// Line is the place in one line.
func (p Place) Line() string {
	return say.Either(p.state == "", "environment "+text.Escape(p.Dir), fmt.Sprintf("environment %s (%s)", text.Escape(p.Dir), p.state))
}

// Active is the environment that is active in the shell, "" none. Conda's base is
// active in every shell of its users and is meant by nobody.
func Active() string {
	if dir := os.Getenv("VIRTUAL_ENV"); IsEnv(dir) {
		return nameOf(dir)
	}
	dir := os.Getenv("CONDA_PREFIX")
	return say.If(IsEnv(dir) && os.Getenv("CONDA_DEFAULT_ENV") != "base" && !Exists(filepath.Join(dir, "condabin")), dir)
}

// ofPath is the environment, conda's base among them, whose Python comes first on PATH; "" it is in none.
func ofPath() string {
	program, _ := exec.LookPath("python") // one that is relative is not started by a careful shell, and not meant
	dir := filepath.Dir(filepath.Dir(program))
	return say.If(IsEnv(dir), dir)
}

// nameOf is the name under which a user knows an environment: `envfix env` activates
// the generation that a name stands for.
func nameOf(dir string) string {
	project, _, ours := strings.Cut(filepath.ToSlash(dir), "/.envfix/gens/")
	if ours {
		entries, _ := os.ReadDir(project) // an unreadable one names nothing
		for _, e := range entries {
			if name := filepath.Join(project, e.Name()); e.Type()&os.ModeSymlink != 0 && SameDir(name, dir) {
				return name
			}
		}
		if name := filepath.Join(project, Default); IsEnv(name) { // it stands for another one since
			return name
		}
	}
	return dir
}

// IsEnv reports whether a directory is a virtual environment, or one of conda.
func IsEnv(dir string) bool {
	return dir != "" && (Exists(filepath.Join(dir, "pyvenv.cfg")) || Exists(filepath.Join(dir, "conda-meta")))
}

// Exists reports whether something has that name, a link that leads nowhere included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// SameDir reports whether two names stand for one directory that is there.
func SameDir(a, b string) bool {
	one, err1 := os.Stat(cmp.Or(a, "\x00"))
	two, err2 := os.Stat(cmp.Or(b, "\x00"))
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// Note notes in a plan's target how its environment is meant.
func (p Place) Note(t *plan.Target) { t.State, t.Named, t.Obstacle = p.state, p.Named, p.Obstacle }

// Bypassed says that a job runs a program of the same name as one of the environment,
// and not that one; "" it does not.
func (p Place) Bypassed(program string) string {
	_, bin, err := Environment(p.Dir)
	if err != nil || filepath.Base(program) != program || !Exists(filepath.Join(bin, program)) {
		return ""
	}
	runs, err := exec.LookPath(program)
	if err != nil || SameDir(filepath.Dir(runs), bin) {
		return ""
	}
	return fmt.Sprintf("%s: this runs %s and not what is in it; `eval \"$(envfix env)\"` puts it into use", p.Line(), text.Escape(runs))
}
