package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"

	"envfix/internal/clone"
	"envfix/internal/fail"
	"envfix/internal/place"
	"envfix/internal/project"
	"envfix/internal/ui"
)

// repository brings a repository that is named by its address here, and puts its folder
// in the argument's place: one of the cache where a plan is shown, ./NAME where it is
// carried out.
func (f *planFlags) repository(ctx context.Context, as mode) error {
	for i, arg := range f.wish.Arguments {
		a, ok, err := clone.Parse(arg)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		dir := "." + string(filepath.Separator) + a.Name
		_, err = os.Lstat(dir)
		switch {
		case as == carriesOut && err == nil:
			return &fail.Error{Code: fail.Usage, Text: dir + " is here already, and stays as it is", Hints: []string{"`envfix apply " + dir + "` sets up what is in it"}}
		case as != carriesOut:
			cache, err := os.UserCacheDir()
			if err != nil {
				return err
			}
			sum := sha256.Sum256([]byte(a.URL + "@" + a.Commit))
			f.wish.Home = dir
			dir = filepath.Join(cache, "envfix", "repositories", hex.EncodeToString(sum[:8]), a.Name)
		}
		if !f.target.Offline {
			if isTerminal(stderr()) {
				io.WriteString(stderr(), "envfix: git brings "+ui.Clean(a.URL)+"\n")
			}
			if err := a.To(ctx, dir); err != nil {
				return err
			}
		} else if !project.IsDir(dir) {
			return fail.Wrong("`--offline` brings no repository here")
		}
		f.wish.Arguments = slices.Clone(f.wish.Arguments)
		f.wish.Arguments[i] = dir
	}
	return nil
}

// project follows what the project in a directory says, where one is an argument
// (`envfix plan .`), into its own environment where none is named.
func (f *planFlags) project(named bool) error {
	i := slices.IndexFunc(f.wish.Arguments, func(arg string) bool { dir, _ := project.Extras(arg); return project.IsDir(dir) })
	if i < 0 {
		return nil
	}
	var dir string
	dir, f.wish.Extras = project.Extras(f.wish.Arguments[i])
	f.wish.Arguments = slices.Delete(slices.Clone(f.wish.Arguments), i, i+1)
	if !named {
		f.target.place = place.Here()
		if f.target.env = filepath.Join(cmp.Or(f.wish.Home, dir), place.Default); f.target.env != place.Default {
			f.target.place = place.Named(f.target.env)
		}
		f.machine.env = f.target.env
	}
	return f.wish.Follow(dir, &f.target.Target, f.machine.elsewhere())
}
