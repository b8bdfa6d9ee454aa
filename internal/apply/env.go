// Package apply carries out a plan. An environment is built aside, proves
// itself, and becomes the one in use by one rename: whatever ends the program on
// the way, the old environment or the new one is there. What happens is in a
// journal, written ahead. Apply decides nothing: it runs the plan's steps.
package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
)

// The layout of the state, beside the environment that it belongs to.
const (
	stateDir = ".envfix"
	gensDir  = stateDir + "/gens"  // the generations, and NAME.json beside each that is complete
	plansDir = stateDir + "/plans" // what was begun, for --resume
	logsDir  = stateDir + "/logs"
	tmpDir   = stateDir + "/tmp" // TMPDIR of the installers
	lockName = stateDir + "/lock"
	nextLink = stateDir + "/next"
)

// An Env is an environment and everything that envfix keeps about it.
type Env struct {
	Dir  string // absolute
	Name string // its last element: what the link is called
	root *os.Root
}

// Open opens the environment dir, which need not exist; its parent must. Nothing
// is created yet.
func Open(dir string) (*Env, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(dir)
	if name == stateDir || name == "/" || name == "." {
		return nil, &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("%s cannot be an environment", dir)}
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, Wrap(err)
	}
	return &Env{Dir: dir, Name: name, root: root}, nil
}

// MakeParent creates the directory in which the environment dir is to be, unless its
// programs could not be found there.
func MakeParent(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil && strings.ContainsRune(dir, os.PathListSeparator) {
		return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("%s holds %q, which parts the directories on PATH: the environment's programs could not be found", dir, os.PathListSeparator),
			Details: []string{"nothing was changed"}, Hints: []string{"rename the directory, or name another place: `--env DIR`"}}
	}
	return Wrap(errors.Join(err, os.MkdirAll(filepath.Dir(dir), 0o755)))
}

// Close closes the environment's directory.
func (e *Env) Close() error { return e.root.Close() }

// path returns the absolute form of a name below the environment's parent.
func (e *Env) path(name string) string { return filepath.Join(filepath.Dir(e.Dir), name) }

// prepare creates the state's directories. They are readable to others, for an
// environment may be shared; logs, plans and temporary files are not.
func (e *Env) prepare() error {
	if err := system.Trusted(filepath.Dir(e.Dir)); err != nil {
		return &fail.Error{Code: fail.Preflight, Text: err.Error(), Err: err,
			Hints: []string{"choose a directory that only you can write: `--env DIR`"}}
	}
	for _, name := range []string{stateDir, gensDir, plansDir, logsDir, tmpDir, lockName, journalName} {
		kind, what := fs.ModeDir, "directory"
		if name == lockName || name == journalName {
			kind, what = 0, "file"
		}
		if info, err := e.root.Lstat(name); err == nil && info.Mode().Type() != kind {
			return e.notOurs(name, what)
		}
		if kind == 0 {
			continue
		}
		mode := say.Either(name == stateDir || name == gensDir, 0o755, fs.FileMode(0o700))
		if err := e.root.MkdirAll(name, mode); err != nil {
			return e.unwritable(err)
		}
		if err := system.Trusted(e.path(name)); err != nil { // what is in it is believed and run
			return &fail.Error{Code: fail.Integrity, Text: err.Error(), Err: err}
		}
		if err := e.root.Chmod(name, mode); err != nil {
			return err
		}
	}
	if _, err := e.root.Lstat(stateDir + "/.gitignore"); gone(err) {
		return system.WriteIn(e.root, stateDir+"/.gitignore", []byte("*\n"), 0o644)
	}
	return nil
}

// unwritable names the directory in which nothing could be written.
func (e *Env) unwritable(err error) error {
	why := storage(err)
	if why == "" {
		return err
	}
	return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("nothing can be written in %s: %s", filepath.Dir(e.Dir), why), Err: err,
		Hints: []string{"make it writable, with space, or name another place for the environment, such as `--env ~/envs/torch`"}}
}

// begin takes the state's lock and opens its journal. end gives both back; it is
// called whatever begin returned.
func (e *Env) begin() (j *journal, end func() error, err error) {
	var lock *system.Lock
	end = func() (err error) {
		if j != nil {
			err = j.close()
		}
		if lock != nil {
			err = errors.Join(err, lock.Release())
		}
		return err
	}
	if err = e.prepare(); err != nil {
		return nil, end, err
	}
	if lock, err = system.TryLock(e.root, lockName); err != nil {
		return nil, end, err
	}
	j, err = openJournal(e.root)
	return j, end, err
}

// notOurs says what lies where envfix keeps its state: a link, a pipe, a file for a directory.
func (e *Env) notOurs(name, what string) error {
	return &fail.Error{Code: fail.Integrity, Text: fmt.Sprintf("%s is not the %s that envfix keeps there", e.path(name), what),
		Hints: []string{fmt.Sprintf("look at it, and move it away (`mv %s %s.old`); then run the command again", e.path(name), e.path(name))}}
}

// A Generation is one complete environment that can be switched to.
type Generation struct {
	ID       string            `json:"id"`
	Env      string            `json:"env"`
	Order    int               `json:"order"` // later ones have greater numbers
	Plan     string            `json:"plan,omitempty"`
	Torch    string            `json:"torch,omitempty"`
	Python   string            `json:"python,omitempty"`
	Packages map[string]string `json:"packages,omitempty"`
	Created  string            `json:"created"`
	Manifest string            `json:"manifest,omitempty"` // sha256 over the RECORD files
	Files    int               `json:"files,omitempty"`
	Adopted  bool              `json:"adopted,omitempty"` // was there before envfix
	Link     string            `json:"link,omitempty"`    // adopted: the link pointed there
	Proved   *Proved           `json:"proved,omitempty"`  // nil: it was not asked to prove itself
	Wish     *plan.Wish        `json:"wish,omitempty"`    // what was asked for that no file says
}

func genPath(id string) string    { return gensDir + "/" + id }
func markerPath(id string) string { return gensDir + "/" + id + ".json" }

// generations returns the complete ones of this environment, oldest first.
func (e *Env) generations() ([]Generation, error) {
	all, err := e.everyGeneration()
	return slices.DeleteFunc(all, func(g Generation) bool { return g.Env != e.Name }), err
}

// everyGeneration returns the complete ones of all environments that share the
// state directory.
func (e *Env) everyGeneration() ([]Generation, error) {
	entries, err := fs.ReadDir(e.root.FS(), gensDir)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Generation
	for _, entry := range entries {
		id, yes := strings.CutSuffix(entry.Name(), ".json")
		if !yes {
			continue
		}
		b, err := e.root.ReadFile(genPath(entry.Name()))
		if err != nil {
			return nil, err
		}
		var g Generation
		if json.Unmarshal(b, &g) != nil || g.ID != id {
			continue // not one that we wrote
		}
		if info, err := e.root.Lstat(genPath(id)); g.Link == "" && (err != nil || !info.IsDir()) {
			continue
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Generation) int { return a.Order - b.Order })
	return out, nil
}

// taken reports whether something has the name of a generation.
func (e *Env) taken(id string) bool {
	_, err := e.root.Lstat(genPath(id))
	return !gone(err)
}

// mark makes a generation complete.
func (e *Env) mark(g Generation) error {
	if g.Wish != nil {
		NoteMade(g.wishMark())
	}
	b, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	return system.WriteIn(e.root, markerPath(g.ID), append(b, '\n'), 0o644)
}

// wishes notes what was asked for of the environment in use, where it is that already.
func (e *Env) wishes(w *plan.Wish) error {
	gens, err := e.generations()
	i := slices.IndexFunc(gens, func(g Generation) bool { return g.ID == e.Current() })
	if i < 0 || err != nil || w != nil && w.Remembered || reflect.DeepEqual(gens[i].Wish, w) {
		return err
	}
	gens[i].Wish = w
	return e.mark(gens[i])
}

// Current returns the id of the generation in use; "" where the environment does
// not exist or is not one of ours.
func (e *Env) Current() string {
	to, err := e.root.Readlink(e.Name)
	if err != nil {
		return ""
	}
	id, yes := strings.CutPrefix(to, gensDir+"/")
	if filepath.IsAbs(to) { // as the scripts of `plan --sh` write it
		id, yes = e.among(to)
	}
	return say.If(yes && !strings.Contains(id, "/"), id)
}

// among is the id of a directory among the generations, as a link names it whole.
func (e *Env) among(to string) (id string, yes bool) {
	to, err := filepath.EvalSymlinks(to)
	if err != nil {
		return "", false
	}
	gens, err := filepath.EvalSymlinks(e.path(gensDir))
	return filepath.Base(to), err == nil && filepath.Dir(to) == gens
}

// forget removes a generation: first what makes it complete, then the rest, so
// that a crash between leaves garbage and not half an environment.
func (e *Env) forget(id string) error {
	return inOrder(
		func() error { return e.drop(markerPath(id)) },
		func() error { return system.SyncDir(e.root, gensDir) },
		point("collect-mid"),
		func() error { return system.RemoveTree(e.root, genPath(id)) })
}

// drop removes a name that may be there.
func (e *Env) drop(name string) error {
	if err := e.root.Remove(name); err != nil && !gone(err) {
		return err
	}
	return nil
}
