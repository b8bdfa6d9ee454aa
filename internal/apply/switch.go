package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"envfix/internal/fail"
	"envfix/internal/system"
)

// become makes the environment the generation g, by one rename. What was there
// before is kept: a directory that envfix did not make is exchanged with the
// link and becomes a generation itself, a foreign link is written down.
func (e *Env) become(j *journal, g Generation) error {
	if g.Adopted {
		return e.restore(j, g)
	}
	info, err := e.root.Lstat(e.Name)
	switch {
	case gone(err):
	case err != nil:
		return err
	case info.IsDir():
		return e.adopt(j, g)
	case info.Mode()&fs.ModeSymlink == 0:
		return e.inTheWay()
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
	err := inOrder(
		func() error { return e.mark(a) },
		func() error { return e.root.Symlink(genPath(g.ID), genPath(a.ID)) },
		func() error { return system.Exchange(e.root, genPath(a.ID), e.Name) })
	if !errors.Is(err, system.ErrNoExchange) {
		return err
	}
	return inOrder(
		func() error { return e.root.Remove(genPath(a.ID)) },
		func() error { return e.makeLink(g.ID) },
		func() error { return e.twice(j, a.ID, [2]string{e.Name, genPath(a.ID)}, [2]string{nextLink, e.Name}) })
}

// makeLink makes the link to a generation durable that will become the
// environment.
func (e *Env) makeLink(id string) error {
	return inOrder(
		func() error { return e.drop(nextLink) },
		func() error { return e.root.Symlink(genPath(id), nextLink) },
		func() error { return errors.Join(system.SyncDir(e.root, stateDir), system.SyncDir(e.root, ".")) })
}

// twice renames twice where two names cannot be exchanged at once: on NFS, and on
// kernels and in sandboxes without that call. Between the two there is no
// environment; everything else is made durable before, so that this is as short as
// it can be. The journal tells the next run to end what it finds begun: to put the
// directory of the generation id where the environment is to be.
func (e *Env) twice(j *journal, id string, first, second [2]string) error {
	if err := inOrder(
		func() error { return j.add(Entry{State: Intent, Env: e.Name, Gen: id, Step: twoRenames}) },
		point(twoRenames+":before"),
		func() error { return e.root.Rename(first[0], first[1]) }); err != nil {
		return err
	}
	err := inOrder(point(twoRenames+":between"), func() error { return e.root.Rename(second[0], second[1]) })
	if err != nil {
		return errors.Join(err, e.root.Rename(first[1], first[0]))
	}
	err = system.Point(twoRenames + ":after")
	for _, dir := range []string{".", stateDir, gensDir} {
		err = errors.Join(err, system.SyncDir(e.root, dir))
	}
	return err
}

// twoRenames is the step's name in the journal where exchange is not to be had.
const twoRenames = "two-renames"

// restore puts back what was there before envfix.
func (e *Env) restore(j *journal, a Generation) error {
	if a.Link != "" {
		if err := system.Link(e.root, a.Link, nextLink, e.Name); err != nil {
			return err
		}
		return e.root.Remove(markerPath(a.ID))
	}
	err := system.Exchange(e.root, genPath(a.ID), e.Name)
	if errors.Is(err, system.ErrNoExchange) {
		err = inOrder(
			func() error { return e.drop(nextLink) },
			func() error { return e.twice(j, a.ID, [2]string{e.Name, nextLink}, [2]string{genPath(a.ID), e.Name}) },
			func() error { return e.root.Remove(nextLink) })
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
	if err := e.drop(markerPath(id)); err != nil {
		return err
	}
	return system.SyncDir(e.root, filepath.Dir(genPath(id)))
}

func (e *Env) inTheWay() error {
	return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("%s is a file, not an environment", e.Dir),
		Hints: []string{"move it away, or name another directory: `--env DIR`"}}
}

// place refuses what no environment can take the place of, before gigabytes are
// received for it.
func (e *Env) place() error {
	info, err := e.root.Lstat(e.Name)
	if err != nil || info.IsDir() || info.Mode()&fs.ModeSymlink != 0 {
		return nil // a directory that cannot be looked at is told where it is used
	}
	return e.inTheWay()
}
