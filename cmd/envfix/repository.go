package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"

	"envfix/internal/clone"
	"envfix/internal/fail"
	"envfix/internal/ui"
)

// repository brings a repository that is named by its address here, and puts its folder
// in the argument's place: one of the cache where a plan is shown, ./NAME where it is
// carried out.
func (f *planFlags) repository(ctx context.Context, as mode) error {
	for i, arg := range f.wish.arguments {
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
			f.wish.home = dir
			dir = filepath.Join(cache, "envfix", "repositories", hex.EncodeToString(sum[:8]), a.Name)
		}
		if !f.target.Offline {
			if isTerminal(stderr()) {
				io.WriteString(stderr(), "envfix: git brings "+ui.Clean(a.URL)+"\n")
			}
			if err := a.To(ctx, dir); err != nil {
				return err
			}
		} else if !isDir(dir) {
			return fail.Wrong("`--offline` brings no repository here")
		}
		f.wish.arguments = slices.Clone(f.wish.arguments)
		f.wish.arguments[i] = dir
	}
	return nil
}
