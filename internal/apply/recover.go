package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/system"
)

// recover puts in order what a run left that was cut off. It returns what it did,
// in words. The caller holds the lock.
func (e *Env) recover(j *journal) ([]string, error) {
	back, err := e.backFromTwoRenames(j)
	if err != nil {
		return nil, err
	}
	var said []string
	if back != "" {
		said = append(said, fmt.Sprintf("put %s back, which an earlier run had begun to replace", e.Dir))
	}
	if err := inOrder(func() error { return e.drop(nextLink) }, e.sweep, e.takeIn); err != nil {
		return said, err
	}
	removed, err := e.removeGarbage()
	if err != nil {
		return said, err
	}
	said = append(said, removed...)
	if b := j.unfinished(e.Name); b != nil && !j.system(b.Plan) {
		said = append(said, "an earlier apply was cut off; the environment is as it was before it")
		if e.Current() != "" && e.Current() == b.Gen {
			said[len(said)-1] = "an earlier apply was cut off after it had switched; its environment is in use"
		}
		return said, j.add(Entry{State: Recovered, Plan: b.Plan, Env: e.Name, Gen: b.Gen})
	}
	return said, nil
}

// backFromTwoRenames ends what a run began that was cut off between its two
// renames: the directory of the generation whose id it returns is the environment
// again, as before an adoption, or as a rollback wanted it.
func (e *Env) backFromTwoRenames(j *journal) (string, error) {
	id := ""
	for _, entry := range j.entries {
		switch {
		case entry.Env != e.Name:
		case entry.Step == twoRenames:
			id = entry.Gen
		case entry.State == Switched || entry.State == Rolled:
			id = "" // both were done
		}
	}
	if _, err := e.root.Lstat(e.Name); id == "" || err == nil {
		return "", nil
	} else if !gone(err) {
		return "", err
	}
	if info, err := e.root.Lstat(genPath(id)); err != nil || !info.IsDir() {
		return "", nil
	}
	if err := e.root.Rename(genPath(id), e.Name); err != nil {
		return "", err
	}
	return id, errors.Join(system.SyncDir(e.root, "."), e.dropAdopted(id))
}

// sweep removes temporary files.
func (e *Env) sweep() error {
	for _, dir := range []string{".", stateDir, gensDir, plansDir} {
		entries, err := fs.ReadDir(e.root.FS(), dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".envfix-tmp-") {
				if err := e.root.Remove(path.Join(dir, entry.Name())); err != nil {
					return err
				}
			}
		}
	}
	if err := system.RemoveTree(e.root, tmpDir); err != nil {
		return err
	}
	return e.root.Mkdir(tmpDir, 0o700)
}

// takeIn makes generations of directories among them that a link beside uses and that no
// apply completed: the scripts of `plan --sh` make such. They are somebody's environments.
func (e *Env) takeIn() error {
	entries, err := fs.ReadDir(e.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink == 0 {
			continue
		}
		id, ours := e.among(e.path(entry.Name()))
		if _, err := e.root.Lstat(markerPath(id)); !ours || !gone(err) {
			continue
		}
		all, err := e.everyGeneration()
		if err != nil {
			return err
		}
		g := Generation{ID: id, Env: entry.Name(), Order: 1, Created: time.Now().UTC().Format(time.RFC3339)}
		if len(all) > 0 {
			g.Order += all[len(all)-1].Order
		}
		torch, _ := fs.Glob(e.root.FS(), genPath(id)+"/lib/python3*/site-packages/torch-*.dist-info") // the pattern is well-formed
		for _, dir := range torch {
			g.Torch = strings.TrimSuffix(strings.TrimPrefix(path.Base(dir), "torch-"), ".dist-info")
		}
		if err := e.mark(g); err != nil {
			return err
		}
	}
	return nil
}

// removeGarbage removes generations that were never completed: whoever built
// them is gone, for we hold the lock. Those that a process still uses stay, and
// those that cannot be removed. It returns what it did, in words.
func (e *Env) removeGarbage() (said []string, err error) {
	entries, err := fs.ReadDir(e.root.FS(), gensDir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, isMarker := strings.CutSuffix(entry.Name(), ".json")
		if isMarker {
			if err := e.dropEmptyMarker(id); err != nil {
				return said, err
			}
			continue
		}
		_, err := e.root.Lstat(markerPath(id))
		adoption := entry.Type()&fs.ModeSymlink != 0 // that did not happen
		if err == nil && !adoption || id == e.Current() || !system.SeesProcesses() || len(system.Users(e.path(genPath(id)))) > 0 {
			continue
		}
		if err := system.RemoveTree(e.root, genPath(id)); err != nil {
			said = append(said, e.stays(id, err))
			continue
		}
		if adoption {
			if err := e.drop(markerPath(id)); err != nil {
				return said, err
			}
		}
		said = append(said, fmt.Sprintf("removed the unfinished environment %s", id))
	}
	return said, nil
}

// stays says that a generation is left where it is: root's files in it, as a `sudo
// pip` makes them, must not hold up what else is to be done.
func (e *Env) stays(id string, err error) string {
	return fmt.Sprintf("the environment %s cannot be removed: %v; `sudo rm -r %s` does it", id, err, e.path(genPath(id)))
}

// dropEmptyMarker removes a marker whose directory never came.
func (e *Env) dropEmptyMarker(id string) error {
	gens, err := e.everyGeneration()
	if err != nil || slices.ContainsFunc(gens, func(g Generation) bool { return g.ID == id }) {
		return err
	}
	if _, err := e.root.Lstat(genPath(id)); !gone(err) {
		return err
	}
	return e.drop(markerPath(id))
}

// unfinished returns the beginning of the last plan for an environment that has
// no end.
func (j *journal) unfinished(env string) (open *Entry) {
	for i, e := range j.entries {
		if e.Env != env {
			continue
		}
		switch {
		case e.State == Begin:
			open = &j.entries[i]
		case ended(e.State):
			open = nil
		}
	}
	return open
}

// system reports whether a step of the system half of a plan was begun: such a
// plan is carried on or given up, never forgotten.
func (j *journal) system(plan string) bool {
	return slices.ContainsFunc(j.entries, func(e Entry) bool {
		return e.Plan == plan && (e.State == Waiting || e.State == Intent && strings.HasPrefix(e.Note, rootNote))
	})
}

// rootNote marks the steps of the system half in the journal.
const rootNote = "root"
