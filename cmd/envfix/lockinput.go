package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/pep508"
	"envfix/internal/system"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// gatherLockInput reads what a lock is made from: arguments and flags first, then
// envfix.toml, then what the present lock was made from. Files are read anew.
func gatherLockInput(c *cli.Context, dir string, old *lock.Lock) (lock.Input, error) {
	in := lock.Input{SameTorch: c.Bool("same-torch")}
	t, err := readTeam(dir)
	if err != nil {
		return in, err
	}
	in.SameTorch = in.SameTorch || t.SameTorch
	files := c.StringSlice("requirements")
	for _, a := range c.Args().Slice() {
		if err := notAFile(a); err != nil {
			return in, err
		}
		q, err := requirement(a)
		if err != nil {
			return in, err
		}
		in.Requirements = append(in.Requirements, q.Text)
	}
	if in.Targets, err = targetFlags(c); err != nil {
		return in, err
	}
	asked := len(in.Requirements)+len(files) > 0
	if !asked {
		in.Requirements, files = t.Requirements, t.Files
	}
	if len(in.Targets) == 0 {
		for name, facts := range t.Targets {
			in.Targets = append(in.Targets, lock.Target{Name: name, Facts: facts})
		}
	}
	if old != nil {
		in.SameTorch = in.SameTorch || old.Input.SameTorch
		if len(in.Requirements)+len(files) == 0 || c.Bool("upgrade") {
			in.Requirements, files = old.Input.Requirements, sourcePaths(old.Input.Sources)
		}
		if len(in.Targets) == 0 {
			in.Targets = old.Input.Targets
		}
	}
	if in.Sources, err = readSources(dir, files); err != nil {
		return in, err
	}
	for i, t := range in.Targets {
		if facts, err := targetFacts(t.Facts); err == nil {
			in.Targets[i].Facts = joinFacts(facts) // what is wrong is said where targets are parsed
		}
	}
	slices.Sort(in.Requirements)
	slices.SortFunc(in.Targets, func(a, b lock.Target) int { return strings.Compare(a.Name, b.Name) })
	if len(in.Requirements)+len(in.Sources) == 0 {
		in.Requirements = []string{"torch", "torchvision"}
	}
	if len(in.Targets) == 0 {
		return in, &failure{code: exitUsage, text: "a lock needs the kinds of machine that it is for",
			hints: []string{"`envfix lock --target v100=\"gpu=V100 driver=580 os=linux\" --target cpu=\"gpu=none\"`", "or write them under [targets] in " + lock.TeamFile}}
	}
	return in, nil
}

func readTeam(dir string) (lock.Team, error) {
	b, err := readLockFile(filepath.Join(dir, lock.TeamFile))
	if errors.Is(err, os.ErrNotExist) {
		return lock.Team{}, nil
	}
	var t lock.Team
	if err == nil {
		t, err = lock.DecodeTeam(b)
	}
	if err != nil {
		return t, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err,
			hints: []string{"its keys are requirements, files, same-torch and [targets]"}}
	}
	return t, nil
}

// readSources reads the requirements of each file, so that the lock's digest
// covers what they say and not where their comments stand.
func readSources(dir string, files []string) ([]lock.Source, error) {
	var out []lock.Source
	for _, f := range files {
		path := f
		if !filepath.IsAbs(f) {
			path = filepath.Join(dir, f)
		}
		list, err := requirementsFile(path)
		if err != nil {
			return nil, err
		}
		s := lock.Source{Path: filepath.ToSlash(f)}
		for _, q := range list {
			s.Requirements = append(s.Requirements, q.Text)
		}
		slices.Sort(s.Requirements)
		out = append(out, s)
	}
	return out, nil
}

func sourcePaths(sources []lock.Source) []string {
	var out []string
	for _, s := range sources {
		out = append(out, filepath.FromSlash(s.Path))
	}
	return out
}

// inputRequirements parses everything that the lock must hold.
func inputRequirements(in lock.Input) ([]pep508.Requirement, error) {
	texts := slices.Clone(in.Requirements)
	for _, s := range in.Sources {
		texts = append(texts, s.Requirements...)
	}
	var out []pep508.Requirement
	for _, text := range texts {
		q, err := requirement(text)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// readLockFile reads a lock, or another small file of a team.
func readLockFile(path string) ([]byte, error) {
	b, err := system.ReadFile(path, lock.MaxBytes)
	var named *fs.PathError
	if err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return b, err
}
