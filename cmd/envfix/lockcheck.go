package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// lockCheck says whether the lock in the working directory is what `envfix lock`
// would choose today, as far as that can be told without a network: the input, the
// matrix, each profile's choice, and the bytes of each pylock file.
func lockCheck(c *cli.Context, m *matrix.Matrix, old *lock.Lock) error {
	if old == nil {
		return noLock()
	}
	stale, err := staleness(c, m, old)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		err = writeJSON(c.App.Writer, struct {
			Format  int      `json:"format"`
			Current bool     `json:"current"`
			Stale   []string `json:"stale"`
		}{1, len(stale) == 0, append([]string{}, stale...)})
		if err == nil && len(stale) > 0 {
			err = &failure{code: exitPending}
		}
		return err
	case len(stale) == 0:
		_, err = fmt.Fprintf(c.App.Writer, "%s is current: %s, matrix %s\n", lock.File, count(len(old.Profiles), "profile"), old.Matrix.Version)
		return err
	}
	return &failure{code: exitPending, text: lock.File + " is stale", details: stale, hints: []string{"`envfix lock` writes it anew, `envfix lock --upgrade-matrix` also chooses torch anew"}}
}

func staleness(c *cli.Context, m *matrix.Matrix, old *lock.Lock) ([]string, error) {
	in, err := gatherLockInput(c, ".", old)
	if err != nil {
		return nil, err
	}
	stale := inputChanges(old.Input, in)
	if old.Matrix.SHA256 != m.SHA256 {
		stale = append(stale, fmt.Sprintf("matrix: made from %s, this envfix has %s", ui.Clean(old.Matrix.Version), m.Version))
	}
	for _, p := range old.Profiles {
		b, err := readLockFile(p.Pylock.File)
		switch {
		case errors.Is(err, os.ErrNotExist):
			stale = append(stale, "profile "+p.Name+": "+p.Pylock.File+" is missing")
		case err != nil:
			return nil, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
		case lock.Sum(b) != p.Pylock.SHA256:
			stale = append(stale, "profile "+p.Name+": "+p.Pylock.File+" is not the file that the lock pins")
		}
	}
	if len(stale) > 0 && !slices.Equal(old.Input.Targets, in.Targets) {
		return stale, nil // other targets: there is nothing to compare choices with
	}
	drafts, err := lockDrafts(c, m, in, nil)
	if err != nil {
		return append(stale, "profiles: "+err.Error()), nil
	}
	for _, d := range drafts {
		if p, err := old.Profile(d.profile.Name); err == nil {
			stale = append(stale, profileChanges(*p, d.profile)...)
		}
	}
	return stale, nil
}

// inputChanges names what was asked for then and is not asked for now.
func inputChanges(old, now lock.Input) []string {
	var out []string
	lines := func(in lock.Input) []string {
		var l []string
		for _, r := range in.Requirements {
			l = append(l, "requirement "+r)
		}
		for _, s := range in.Sources {
			for _, r := range s.Requirements {
				l = append(l, s.Path+": requirement "+r)
			}
		}
		for _, t := range in.Targets {
			l = append(l, "target "+t.Name+": "+t.Facts)
		}
		if in.SameTorch {
			l = append(l, "same-torch")
		}
		return l
	}
	was, is := lines(old), lines(now)
	for _, l := range was {
		if !slices.Contains(is, l) {
			out = append(out, "input: no longer "+ui.Clean(l))
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			out = append(out, "input: now "+ui.Clean(l))
		}
	}
	return out
}

func profileChanges(old, now lock.Profile) []string {
	var out []string
	change := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("profile %s: %s %s → %s", old.Name, what, ui.Clean(a), ui.Clean(b)))
		}
	}
	// The label of a default-index build is known only from its wheel.
	if comparePublic(old.Torch, now.Torch) != 0 {
		change("torch", old.Torch, now.Torch)
	}
	change("build", old.Build, now.Build)
	change("Python", old.Python, now.Python)
	change("driver", old.Match.Driver, now.Match.Driver)
	change("compute capabilities", strings.Join(old.Match.SMs, " "), strings.Join(now.Match.SMs, " "))
	return out
}

// lockHome returns the nearest directory at or above dir that holds an
// envfix.lock, "" where none does.
func lockHome(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, lock.File)); err == nil && info.Mode().IsRegular() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
