package apply

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// preflight refuses what cannot end well before anything is begun: too little
// space for what the plan says it receives and keeps.
func (r *run) preflight(ctx context.Context) error {
	if err := inOrder(r.env.place, func() error { return r.preflightSystem(ctx) }, func() error { return programs(r.plan.Steps) }); err != nil {
		return err
	}
	asked := make(chan error, 1) // while the disk is asked
	go func() { asked <- r.reachable(ctx) }()
	for _, n := range r.needs(r.plan.Steps) {
		if err := n.met(); err != nil {
			return err
		}
	}
	return <-asked
}

// programs refuses a plan that starts by its name alone a program that is not here: a
// plan for a described machine takes its installer as given.
func programs(steps []plan.Step) error {
	for _, s := range steps {
		if s.Run == nil || s.Root || len(s.Run.Argv) == 0 || strings.ContainsAny(s.Run.Argv[0], `/\{`) {
			continue
		}
		if _, err := system.Resolve(s.Run.Argv[:1], false); err != nil {
			return &fail.Error{Code: fail.Failed, Text: err.Error(), Details: []string{"nothing was changed"}, Err: err,
				Hints: []string{fmt.Sprintf("install %s, or choose another installer (`--manager`)", s.Run.Argv[0])}}
		}
	}
	return nil
}

// A need is what a plan takes on one file system.
type need struct {
	dir   string // on it
	what  []string
	bytes int64
}

// perFile is what a file of an environment takes on average: torch 2.15 with its
// libraries is 26,000 files in 5.5 GB.
const perFile = 210_000

// met reports what is missing for n. The tenth more is what file systems lose.
func (n need) met() error {
	if n.bytes == 0 {
		return nil
	}
	bytes := n.bytes + n.bytes/10
	hints := []string{"make space, or name a place with more: `--env DIR` for the environment, XDG_CACHE_HOME (UV_CACHE_DIR, where it is set) for the caches"}
	free, files, err := system.Free(n.dir)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%s (%s)", n.dir, strings.Join(n.what, ", "))
	if uint64(bytes) > free {
		return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("%s has %s free, and the plan needs about %s there", where, size(int64(free)), size(bytes)), Hints: hints}
	}
	if need := uint64(bytes/perFile) + 100; files < need {
		return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("%s has room for %d more files (inodes), and the plan needs about %d", where, files, need), Hints: hints}
	}
	if err := system.Reserve(n.dir, bytes); err != nil {
		return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("%s: %s: the plan needs about %s there", where, storage(err), size(bytes)), Hints: hints, Err: err}
	}
	return nil
}

// needs adds up what steps take, for each file system once.
//
// pip keeps each wheel that it received in TMPDIR until all are installed, a copy
// in its cache, and unpacks into the environment. uv unpacks into its cache, and
// links from there into an environment on the same file system; it copies into one
// on another (measured with pip 23.2 and uv 0.13.9; of pip's cache its
// documentation speaks). TMPDIR is ours, beside the environment.
func (r *run) needs(steps []plan.Step) (all []need) {
	add := func(dir, what string, bytes int64) { all = needed(all, dir, what, bytes) }
	target, cache := filepath.Dir(r.env.Dir), cacheDir(uvCache)
	for _, s := range steps {
		if s.Root {
			continue
		}
		to, what := target, "the environment"
		if s.Run != nil && strings.Contains(strings.Join(s.Run.Argv, "\x00"), "{tools}/") && !strings.Contains(strings.Join(s.Run.Argv, "\x00"), gen) {
			to, what = existing(r.Tools), "envfix's tools"
		}
		uv := s.Run != nil && strings.HasPrefix(filepath.Base(s.Run.Argv[0]), "uv")
		switch {
		case uv && cache != "" && !system.SameDisk(cache, to):
			add(cache, "uv's cache", s.Disk)
		case !uv && !r.plan.Target.Offline:
			add(target, "TMPDIR", s.Bytes)
			add(cacheDir(""), "pip's cache", s.Bytes) // `pip --isolated` reads no variable
		}
		add(to, what, s.Disk)
	}
	return all
}

// needed adds bytes for something in dir to what is needed of its disk.
func needed(all []need, dir, what string, bytes int64) []need {
	if bytes == 0 || dir == "" {
		return all
	}
	i := slices.IndexFunc(all, func(n need) bool { return n.dir == dir || system.SameDisk(n.dir, dir) })
	if i < 0 {
		return append(all, need{dir, []string{what}, bytes})
	}
	all[i].bytes += bytes
	if !strings.Contains(strings.Join(all[i].what, ","), what) {
		all[i].what = append(all[i].what, what)
	}
	return all
}

// uvCache names uv's cache where it is not the user's.
const uvCache = "UV_CACHE_DIR"

// gen stands for the environment that is built, in the steps of a plan.
const gen = "{gen}"

// cacheDir is where an installer keeps what it received, or what of its path is there: the
// user's cache, where the variable names no other.
func cacheDir(variable string) string {
	dir, _ := os.UserCacheDir()
	return existing(cmp.Or(os.Getenv(variable), dir))
}

func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d kB", (n+999)/1000)
}
