package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
)

// environmentRules look at the files of an environment; a paste has none.
var environmentRules = []rule{
	{[]string{"PY013", "PY004"}, "where `import torch` looks", (*exam).shadowed},
	{[]string{"PY011"}, "the metadata of torch's packages and their files", (*exam).halfInstalled},
	{[]string{"PY014"}, "directories whose name begins with ~", (*exam).leftovers},
	{[]string{"PY010", "PY011", "LD003", "PY007", "PY009", "PY042", "PY043"}, "what the packages require of each other, RECORD and the disk", (*exam).installed},
	{[]string{"IDX003", "PY027"}, "the processor and the Python that torch's libraries are for", (*exam).foreignFiles},
	{[]string{"LD001", "LD002", "LD010", "LD006"}, "the files that the dynamic loader takes", (*exam).loaded},
	{[]string{"DRV008"}, "the libcuda that the dynamic loader takes", (*exam).driverStub},
}

func fact(format string, args ...any) read.Evidence {
	return read.Evidence{Text: fmt.Sprintf(format, args...)}
}

// shadowed: `import torch` takes another file than the environment's package.
func (e *exam) shadowed() {
	if e.Files == nil || len(e.Files.Imports) == 0 {
		return
	}
	first := e.Files.Imports[0]
	i := slices.IndexFunc(e.Files.Imports, func(p machine.ImportPlace) bool { return p.Place == machine.InEnvironment })
	said := fact("`import torch` takes %s", first.Path)
	var second read.Evidence
	if i > 0 {
		second = fact("the environment has %s", e.Files.Imports[i].Path)
	}
	switch {
	case strings.HasSuffix(first.Path, "/torch.py"), first.Place == machine.InWorkingDir && i > 0:
		e.find("PY013", proven, said, second).
			says("%s stands in %s and hides the torch package", first.Path, first.Place).
			fix(e.renameFix(first)...).
			explains("PY011", "PY002")
	case i <= 0:
	case first.Place == machine.InPythonPath:
		e.find("PY004", proven, append(fromOrigins(first.Origins, siteOf(first.Path)), said, second)...).
			says("PYTHONPATH brings another torch before the environment's: %s", path.Dir(first.Path)).
			fix(outOf("PYTHONPATH", siteOf(first.Path), first.Origins)...).
			mend(e.pythonPathMend(first))
	case first.Place == machine.InUserSite:
		e.find("PY004", proven, said, second).
			says("the user's site-packages bring another torch before the environment's: %s", path.Dir(first.Path)).
			fix("`python -m pip uninstall --user torch`", "or `export PYTHONNOUSERSITE=1`").
			mend(Mend{Fixes: []plan.EnvFix{{
				Variable: "PYTHONNOUSERSITE", Action: "set", Value: "1",
				Why: "the user's site-packages hold another torch",
			}}})
	}
}

// halfInstalled: several entries of one package, or an entry that does not fit
// the files.
func (e *exam) halfInstalled() {
	if e.Files == nil {
		return
	}
	byPlace := map[string]machine.DistFiles{}
	for _, d := range e.Files.Dists {
		place := path.Dir(d.Info) + "/" + d.Name
		if o, twice := byPlace[place]; twice {
			e.find("PY011", proven, fact("%s", o.Info), fact("%s", d.Info)).
				says("%s is there twice in one directory: %s and %s", d.Name, o.Version, d.Version).
				fix(fmt.Sprintf("`pip uninstall -y %s` until nothing is left, then install it again", d.Name)).
				mend(e.rebuild(d.Info)).
				explains("LD003", "PY010", "PY007", "PY001")
		}
		byPlace[place] = d
		if d.Module == "" {
			continue
		}
		have, label := version.SplitLocal(d.Module)
		listed, listedLabel := version.SplitLocal(d.Version)
		if have != listed || listedLabel != "" && label != listedLabel {
			e.find("PY011", proven, fact("torch/version.py: %s", d.Module), fact("%s", d.Info)).
				says("torch's files are %s, and its metadata says %s: one was replaced without the other",
					d.Module, d.Version).
				fix("`pip uninstall -y torch`, until it says that there is none; then install it again", "{torch}").
				mend(e.rebuild(d.Info)).
				explains("PY010", "LD003", "PY001", "PY007")
		}
	}
}

// leftovers: what pip could not remove.
func (e *exam) leftovers() {
	if e.Files == nil || len(e.Files.Leftovers) == 0 {
		return
	}
	var said []read.Evidence
	var fix []string
	for _, l := range e.Files.Leftovers {
		said = append(said, fact("%s", l))
		fix = append(fix, "remove the directory "+l)
	}
	e.find("PY014", trifle+5, said...).
		text("an upgrade broke off and left " + path.Base(e.Files.Leftovers[0])).
		fix(fix...).
		mend(e.rebuild(e.Files.Leftovers[0]))
}

// foreignFiles: torch's libraries are for another processor or Python.
func (e *exam) foreignFiles() {
	if e.Files == nil {
		return
	}
	for _, f := range e.Files.Foreign {
		if strings.HasPrefix(f.Want, "cpython-") {
			e.find("PY027", proven, fact("%s", f.Path)).
				says("torch is built for %s, and the interpreter is %s", f.Is, f.Want).
				mend(e.rebuild(f.Path)).
				severity(know.Error)
			continue
		}
		e.find("IDX003", proven, fact("%s: %s", f.Path, f.Is)).
			says("torch's libraries are for %s, and this Python is for %s", f.Is, f.Want).
			fix(
				"`pip install --force-reinstall --no-deps "+e.torchAgain()+"` on this machine; packages cannot be copied from another",
			).
			mend(e.rebuild(f.Path)).
			explains("PY011", "PY010")
	}
}
