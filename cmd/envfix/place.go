package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// defaultEnv is the environment of a project.
const defaultEnv = ".venv"

// A place is the environment that a command is about. All commands find it by one
// rule: the one that --env names; else .venv, where it is here or was; else the
// virtual environment that is activated; else conda's; else .venv, which is to be.
type place struct {
	dir   string
	state string // in words: active, new …
	named bool   // by --env
	conda bool   // an activated environment of conda's, which a plan leaves alone
}

// placeOf is the environment of a command with the flag --env.
func placeOf(c *cli.Context) place {
	if c.IsSet("env") {
		return placeNamed(c.String("env"))
	}
	return placeHere()
}

func placeNamed(dir string) place {
	p := place{dir: dir, named: true, state: "new"}
	switch {
	case sameDir(dir, activeEnv()):
		p.state = "active"
	case isEnvDir(dir):
		p.state = "not active"
	}
	return p
}

// placeHere is the environment of a command that names none.
func placeHere() place {
	if os.Getenv("ENVFIX_ROOT") != "" { // what is activated here is not activated there
		return place{dir: defaultEnv}
	}
	active := activeEnv()
	switch {
	case sameDir(defaultEnv, active):
		return place{dir: defaultEnv, state: "active"}
	case pathExists(defaultEnv) || pathExists(".envfix"):
		p := place{dir: defaultEnv, state: "not active"}
		if to, err := os.Readlink(defaultEnv); err == nil && !pathExists(defaultEnv+"/.") {
			return place{dir: defaultEnv, state: "a link to " + ui.Clean(to) + ", which is not there"}
		}
		if !isEnvDir(defaultEnv) {
			p.state = "new"
		}
		p.state += say.If(isEnvDir(active), "; active is "+ui.Clean(active)+", which `--env` names")
		return p
	case active == "":
		return place{dir: defaultEnv, state: "new"}
	}
	return place{dir: active, state: "active", conda: !pathExists(filepath.Join(active, "pyvenv.cfg"))}
}

// forPlan is the environment that a plan is for: one of conda's is changed only where
// --env names it.
func (p place) forPlan() place {
	if !p.conda || p.named {
		return p
	}
	return place{dir: defaultEnv, state: "new; conda's " + filepath.Base(p.dir) + ", which is active, stays as it is: `--env DIR --manager conda` changes it"}
}

// line is the place in one line.
func (p place) line() string {
	return say.Either(p.state == "", "environment "+ui.Clean(p.dir), fmt.Sprintf("environment %s (%s)", ui.Clean(p.dir), p.state))
}

// activeEnv is the environment that is active in the shell, "" none. Conda's base is
// active in every shell of its users and is meant by nobody.
func activeEnv() string {
	if dir := os.Getenv("VIRTUAL_ENV"); isEnvDir(dir) {
		return nameOf(dir)
	}
	dir := os.Getenv("CONDA_PREFIX")
	return say.If(isEnvDir(dir) && os.Getenv("CONDA_DEFAULT_ENV") != "base" && !pathExists(filepath.Join(dir, "condabin")), dir)
}

// nameOf is the name under which a user knows an environment: `envfix env` activates
// the generation that a name stands for.
func nameOf(dir string) string {
	project, _, ours := strings.Cut(filepath.ToSlash(dir), "/.envfix/gens/")
	if ours {
		entries, _ := os.ReadDir(project) // an unreadable one names nothing
		for _, e := range entries {
			if name := filepath.Join(project, e.Name()); e.Type()&os.ModeSymlink != 0 && sameDir(name, dir) {
				return name
			}
		}
		if name := filepath.Join(project, defaultEnv); isEnvDir(name) { // it stands for another one since
			return name
		}
	}
	return dir
}

func isEnvDir(dir string) bool {
	return dir != "" && (pathExists(filepath.Join(dir, "pyvenv.cfg")) || pathExists(filepath.Join(dir, "conda-meta")))
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// sameDir reports whether two names stand for one directory that is there.
func sameDir(a, b string) bool {
	one, err1 := os.Stat(cmp.Or(a, "\x00"))
	two, err2 := os.Stat(cmp.Or(b, "\x00"))
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// target notes in a plan's target how its environment is meant.
func (p place) target(t *plan.Target) { t.State, t.Named = p.state, p.named }

// bypassed says that a job runs a program of the same name as one of the environment,
// and not that one; "" it does not.
func (p place) bypassed(program string) string {
	_, bin, err := environment(p.dir)
	if err != nil || filepath.Base(program) != program || !pathExists(filepath.Join(bin, program)) {
		return ""
	}
	runs, err := exec.LookPath(program)
	if err != nil || sameDir(filepath.Dir(runs), bin) {
		return ""
	}
	return fmt.Sprintf("%s: this runs %s and not what is in it; `eval \"$(envfix env)\"` puts it into use", p.line(), ui.Clean(runs))
}
