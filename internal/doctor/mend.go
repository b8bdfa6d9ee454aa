package doctor

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
)

// rebuild is the Mend of a file of the environment that was examined; what lies
// elsewhere (the user's site-packages, PYTHONPATH) no new environment mends.
func (e *exam) rebuild(file string) Mend {
	if e.Pasted || e.Files == nil || !slices.ContainsFunc(e.Files.Sites,
		func(s string) bool { return strings.HasPrefix(file, s+"/") }) {
		return Mend{}
	}
	return Mend{Rebuild: true}
}

// without is the Mend that takes an entry out of a variable.
func (e *exam) without(variable, entry, why string) Mend {
	if e.Pasted || entry == "" {
		return Mend{}
	}
	f := plan.EnvFix{Variable: variable, Action: "remove", Value: entry, Why: why}
	for _, d := range e.Machine.LibraryDirs {
		if variable == "LD_LIBRARY_PATH" && d.Path == entry {
			f.From = d.From
		}
	}
	return Mend{Fixes: []plan.EnvFix{f}}
}

// loadedMend takes the entry of LD_LIBRARY_PATH out that a library comes from.
// What the environment's own files lead to is mended by building it anew; the
// loader's configuration is the system's.
func (e *exam) loadedMend(l machine.LoadedLibrary) Mend {
	switch l.Via {
	case "LD_LIBRARY_PATH", "LD_PRELOAD":
		return e.without(l.Via, l.Entry, "its "+l.Name+" comes before the one that belongs there")
	case "RPATH", "RUNPATH":
		if l.Wheel != "" {
			return e.rebuild(l.Wheel)
		}
	}
	return Mend{}
}

// pythonPathMend takes the entry of PYTHONPATH out that holds another torch.
func (e *exam) pythonPathMend(p machine.ImportPlace) Mend {
	return e.without("PYTHONPATH", entryOf(e.Machine.Env["PYTHONPATH"], siteOf(p.Path)),
		"its torch would come before the environment's")
}

// entryOf is the entry of a list of directories that names dir, as it stands there.
func entryOf(list, dir string) string {
	for entry := range strings.SplitSeq(list, ":") {
		if entry != "" && path.Clean(entry) == dir {
			return entry
		}
	}
	return ""
}

// siteOf is the directory that holds the package or module at a path.
func siteOf(file string) string {
	if path.Base(file) == "__init__.py" {
		return path.Dir(path.Dir(file))
	}
	return path.Dir(file)
}

// renameFix says how to move a user's own file out of the way of `import torch`.
// It is the user's: envfix never does it.
func (e *exam) renameFix(p machine.ImportPlace) []string {
	old := p.Path
	if path.Base(old) == "__init__.py" {
		old = path.Dir(old)
	}
	words, err := plan.Run{Argv: []string{"mv", old, path.Join(path.Dir(old), "my_"+path.Base(old))}}.Words()
	if err != nil {
		return []string{"rename " + old, "or start Python from another directory"}
	}
	return []string{
		"`" + strings.Join(words, " ") + "`, and remove __pycache__ beside it",
		"or start Python from another directory",
	}
}
