package main

import (
	"envfix/internal/fail"
	"envfix/internal/managers"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wishFiles say what a project wants, the one that is followed first.
var wishFiles = []string{"requirements.txt", "pyproject.toml", "environment.yml", "environment.yaml"}

// otherFiles say it too, in words that envfix does not follow.
var otherFiles = []string{"Pipfile", "setup.py"}

// project follows what the project in a directory says, where one is an argument
// (`envfix plan .`): its requirements, its Python, its environment, and its uv.lock.
func (f *planFlags) project(named bool) error {
	i := slices.IndexFunc(f.wish.arguments, isDir)
	if i < 0 {
		return nil
	}
	dir := f.wish.arguments[i]
	f.wish.arguments = slices.Delete(slices.Clone(f.wish.arguments), i, i+1)
	f.wish.project = dir
	if !named {
		f.target.place = placeHere()
		if f.target.env = filepath.Join(dir, defaultEnv); f.target.env != defaultEnv {
			f.target.place = placeNamed(f.target.env)
		}
		f.machine.env = f.target.env
	}
	here := func(name string) bool { return isFile(filepath.Join(dir, name)) }
	if project, ok := managers.ProjectBy(here); ok && here(project.File) && f.target.manager == "" {
		f.target.manager, f.wish.Manager = project.Name, project.Name
		return nil
	}
	if pixiFile(dir) != "" && f.target.manager == "" {
		f.target.manager, f.wish.Manager = "pixi", "pixi"
		if len(f.wish.arguments) == 0 { // what else the project wants, it says itself
			f.wish.arguments = []string{"torch"}
		}
		return nil
	}
	if j := slices.IndexFunc(wishFiles, here); j >= 0 {
		f.wish.files = append(f.wish.files, filepath.Join(dir, wishFiles[j]))
		return nil
	}
	e := &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("%s holds neither %s", dir, strings.Join(wishFiles[:3], " nor ")),
		Hints: []string{"`envfix plan` without it plans for torch alone"}}
	if j := slices.IndexFunc(otherFiles, here); j >= 0 {
		e.Details = []string{otherFiles[j] + " is there, and envfix does not read it: name its packages, such as `envfix plan torch torchvision`"}
	}
	return e
}

// unfollowed says that a project's wishes lie here and were not asked for; "" there
// are none, or other wishes were named.
func (f planFlags) unfollowed() string {
	if len(f.wish.arguments)+len(f.wish.files) > 0 || f.wish.project != "" {
		return ""
	}
	for _, name := range wishFiles {
		if isFile(name) {
			return fmt.Sprintf("found %s: `envfix plan .` follows it, and so does `-r %s`", name, name)
		}
	}
	return ""
}

func isDir(arg string) bool {
	info, err := os.Stat(arg)
	// A bare word is a package, whatever directory is called so: torch in its clone.
	return err == nil && info.IsDir() && (arg == "." || arg == ".." || strings.ContainsAny(arg, `/\`))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
