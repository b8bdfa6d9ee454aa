package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"envfix/internal/system"
)

// become makes the environment the generation g, by one rename. What was there
// before is kept: a directory that envfix did not make is exchanged with the
// link and becomes a generation itself, a foreign link is written down.
func (e *Env) become(j *journal, g Generation) error {
	if g.Adopted {
		return e.restore(g)
	}
	info, err := e.root.Lstat(e.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return e.adopt(j, g)
	case info.Mode()&fs.ModeSymlink == 0:
		return &Error{Kind: Preflight, Text: fmt.Sprintf("%s is a file, not an environment", e.Dir),
			Hints: []string{"move it away, or name another directory: `--env DIR`"}}
	case e.Current() == "":
		to, err := e.root.Readlink(e.Name)
		if err != nil {
			return err
		}
		a := e.adopted(g)
		a.Link = to
		if err := e.mark(a); err != nil {
			return err
		}
	}
	return system.Link(e.root, genPath(g.ID), nextLink, e.Name)
}

func (e *Env) adopted(next Generation) Generation {
	return Generation{ID: fmt.Sprintf("adopted-%d", next.Order-1), Env: e.Name, Order: next.Order - 1, Adopted: true,
		Created: time.Now().UTC().Format(time.RFC3339)}
}

// adopt puts the link where a real directory is, and the directory among the
// generations. Its scripts name the old place and work again after a rollback,
// which puts it back there.
func (e *Env) adopt(j *journal, g Generation) error {
	a := e.adopted(g)
	if _, err := e.root.Lstat(genPath(a.ID)); err == nil {
		return fmt.Errorf("%s is in the way", e.path(genPath(a.ID)))
	}
	if err := e.mark(a); err != nil {
		return err
	}
	if err := e.root.Symlink(genPath(g.ID), genPath(a.ID)); err != nil {
		return err
	}
	err := system.Exchange(e.root, genPath(a.ID), e.Name)
	if !errors.Is(err, system.ErrNoExchange) {
		return err
	}
	// Two renames, with a moment between in which nothing is there. The journal
	// tells the next run to undo the first.
	if err := j.add(Entry{State: Intent, Env: e.Name, Gen: a.ID, Step: twoRenames}); err != nil {
		return err
	}
	if err := errors.Join(e.root.Remove(genPath(a.ID)), e.root.Rename(e.Name, genPath(a.ID))); err != nil {
		return err
	}
	if err := system.Point("adopt-between"); err != nil {
		return errors.Join(err, e.root.Rename(genPath(a.ID), e.Name))
	}
	return system.Link(e.root, genPath(g.ID), nextLink, e.Name)
}

// twoRenames is the step's name in the journal where exchange is not to be had.
const twoRenames = "adopt-by-two-renames"

// restore puts back what was there before envfix.
func (e *Env) restore(a Generation) error {
	if a.Link != "" {
		if err := system.Link(e.root, a.Link, nextLink, e.Name); err != nil {
			return err
		}
		return e.root.Remove(markerPath(a.ID))
	}
	err := system.Exchange(e.root, genPath(a.ID), e.Name)
	if errors.Is(err, system.ErrNoExchange) {
		err = errors.Join(e.root.Remove(e.Name), e.root.Rename(genPath(a.ID), e.Name))
	}
	if err != nil {
		return err
	}
	return e.dropAdopted(a.ID)
}

// dropAdopted removes what is left where an adopted directory was kept: the link
// that changed places with it.
func (e *Env) dropAdopted(id string) error {
	if info, err := e.root.Lstat(genPath(id)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := e.root.Remove(genPath(id)); err != nil {
			return err
		}
	}
	if err := e.root.Remove(markerPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return system.SyncDir(e.root, filepath.Dir(genPath(id)))
}
