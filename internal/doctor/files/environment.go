package files

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// shadowed: `import torch` takes another file than the environment's package.
func shadowed(e *evidence.Evidence, out *evidence.Findings) {
	if len(e.Files.Imports) == 0 {
		return
	}
	first := e.Files.Imports[0]
	i := slices.IndexFunc(e.Files.Imports, func(p machine.ImportPlace) bool { return p.Place == machine.InEnvironment })
	said := evidence.Fact("`import torch` takes %s", first.Path)
	var second evidence.Quote
	if i > 0 {
		second = evidence.Fact("the environment has %s", e.Files.Imports[i].Path)
	}
	switch {
	case strings.HasSuffix(first.Path, "/torch.py"), first.Place == machine.InWorkingDir && i > 0:
		out.Find("PY013", evidence.Proven, said, second).
			Says("%s stands in %s and hides the torch package", first.Path, first.Place).
			Do(renameFix(first)...)
	case i <= 0:
	case first.Place == machine.InPythonPath:
		out.Find("PY004", evidence.Proven, append(evidence.FromOrigins(first.Origins, first.Site()), said, second)...).
			Says("PYTHONPATH brings another torch before the environment's: %s", path.Dir(first.Path)).
			Do(evidence.OutOf("PYTHONPATH", first.Site(), first.Origins)...).
			Mends(pythonPathMend(e, first))
	case first.Place == machine.InStartFile:
		dir := first.Site()
		out.Find("PY004", evidence.Proven, append(evidence.FromOrigins(first.Origins, dir), said, second)...).
			Says("%s puts %s before the environment's packages: `import torch` takes the torch from there", first.Origins[0].Place(), dir).
			Do(evidence.RemoveFrom(first.Origins[0], "", dir), "or `envfix apply` builds the environment anew, without that file")
	case first.Place == machine.InUserSite:
		out.Find("PY004", evidence.Proven, said, second).
			Says("the user's site-packages bring another torch before the environment's: %s", path.Dir(first.Path)).
			Do("`python -m pip uninstall --user torch`", "or `export PYTHONNOUSERSITE=1`").
			Mends(e.Repair().Set("PYTHONNOUSERSITE", "1", "the user's site-packages hold another torch"))
	}
}

// unimportable: torch is listed and no package of it is on Python's path, or a part of the
// package is there and nothing lists it.
func unimportable(e *evidence.Evidence, out *evidence.Findings) {
	if e.Pasted {
		return
	}
	here := slices.IndexFunc(e.Files.Imports, func(p machine.ImportPlace) bool { return p.Place == machine.InEnvironment })
	torch, dir := "torch", ""
	var said []evidence.Quote
	for _, l := range e.Files.Leftovers {
		said = append(said, evidence.Fact("%s", l))
		if v, ok := strings.CutPrefix(path.Base(l), "~orch-"); ok {
			torch, dir = "torch=="+strings.TrimSuffix(v, ".dist-info"), l
		}
	}
	if here >= 0 {
		dir = path.Dir(e.Files.Imports[here].Path)
		said = append([]evidence.Quote{evidence.Fact("%s: no version.py and no dist-info", dir)}, said...)
	}
	if e.Torch.Version == "" && dir != "" {
		out.Find("PY011", evidence.Proven.Exact(), said...).
			Says("%s is all that is left of torch: an installation or an upgrade broke off there", dir).
			Do("`pip install --force-reinstall --no-deps "+torch+"` brings it whole", "`envfix apply` chooses the build that fits this machine").
			Mends(e.Repair().Rebuild(dir)).Explaining("PY002", "PY014", "PY042")
	}
	for _, d := range e.Files.Dists {
		if d.Name != "torch" || len(e.Files.Imports) > 0 || d.Files == 0 || d.Absent > 0 {
			continue
		}
		said := []evidence.Quote{evidence.Fact("%s", d.Info)}
		way := "compile it again where its sources are, or `envfix apply`"
		gone := slices.Clone(e.Files.Gone)
		if d.Gone != "" {
			gone = append(gone, machine.ImportPlace{Path: d.Gone, Origins: []machine.Origin{{File: d.Info + "/direct_url.json"}}})
		}
		for _, g := range gone {
			said = append(said, evidence.Fact("%s names %s, which is not there", g.Origins[0].Place(), g.Path))
			way = "bring " + g.Path + " back (a disk that is not mounted?), or `envfix apply` builds the environment with a torch of its own"
		}
		out.Find("PY010", evidence.Proven.Exact(), said...).
			Says("torch %s is listed, and its package is in no directory of Python's path: `import torch` fails", d.Version).
			Do(way)
	}
}

// hiddenModules: a file of the project's is imported in place of what torch wants.
func hiddenModules(e *evidence.Evidence, out *evidence.Findings) {
	for _, p := range e.Files.Shadows {
		name, _, _ := strings.Cut(path.Base(strings.TrimSuffix(p.Path, "/__init__.py")), ".")
		if p.Version != "" && p.Tag == "" && !unfitting(e, machine.NormalName(name), p.Version) {
			continue
		}
		f := out.Find("PY013", evidence.Likely, evidence.Fact("`import torch` takes %s for the module %s", p.Path, name)).
			Says("%s stands in %s and hides Python's or torch's own module %s: `import torch` fails, or does what it should not", p.Path, p.Place, name).
			Do(renameFix(p)...).
			Explaining("PY011")
		if p.Tag != "" {
			f.Says("%s stands in %s before the environment's %s and is compiled for another Python, %s: `import %s` fails", p.Path, p.Place, name, p.Tag, name)
		}
		if p.Place == machine.InStartFile {
			f.Says("%s puts %s first, and its module %s hides Python's or torch's own: `import torch` fails, or does what it should not", p.Origins[0].Place(), p.Site(), name).
				Do(evidence.RemoveFrom(p.Origins[0], "", p.Site()), "or `envfix apply` builds the environment anew, without that file")
		}
		if p.Place == machine.InPythonPath {
			f.Do(evidence.OutOf(p.Place, p.Site(), p.Origins)...).Mends(pythonPathMend(e, p))
		}
		if p.Place == machine.InUserSite {
			f.Says("%s %s lies in the user's site-packages, %s, and goes before the environment's: it is not one that torch %s works with",
				name, p.Version, p.Site(), e.Torch.Named()).
				Do("`export PYTHONNOUSERSITE=1`", "or `python -m pip uninstall "+name+"`, with the Python that it was installed for").
				Mends(e.Repair().Set("PYTHONNOUSERSITE", "1", "the user's site-packages hold another "+name))
		}
		return
	}
}

// unfitting reports whether a package asks for another version of one.
func unfitting(e *evidence.Evidence, name, version string) bool {
	return name == "numpy" && e.NewNumPy(version) || slices.ContainsFunc(e.Files.Dists, func(d machine.DistFiles) bool {
		return slices.ContainsFunc(d.Requires, func(line string) bool {
			r, err := pep508.Parse(line, "")
			return err == nil && r.Name == name && counts(e, r.Marker, nil) && !admits(r.Spec, version)
		})
	})
}

// halfInstalled: several entries of one package, or an entry that does not fit
// the files.
func halfInstalled(e *evidence.Evidence, out *evidence.Findings) {
	byPlace := map[string]machine.DistFiles{}
	for _, d := range e.Files.Dists {
		place := path.Dir(d.Info) + "/" + d.Name
		if o, twice := byPlace[place]; twice {
			out.Find("PY011", evidence.Proven, evidence.Fact("%s", o.Info), evidence.Fact("%s", d.Info)).
				Says("%s is there twice in one directory: %s and %s", d.Name, o.Version, d.Version).
				Mends(onceAgain(e, d)).
				Do(untilGone(e, d)...)
		}
		byPlace[place] = d
		if d.Module == "" {
			continue
		}
		have, label := version.SplitLocal(d.Module)
		listed, listedLabel := version.SplitLocal(d.Version)
		if have != listed || listedLabel != "" && label != listedLabel {
			out.Find("PY011", evidence.Proven, evidence.Fact("torch/version.py: %s", d.Module), evidence.Fact("%s", d.Info)).
				Says("torch's files are %s, and its metadata says %s: one was replaced without the other",
					d.Module, d.Version).
				Mends(onceAgain(e, d)).
				Do(untilGone(e, d)...)
		}
	}
}

// onceAgain brings the version whose files are there, in place of all that is listed of it.
func onceAgain(e *evidence.Evidence, d machine.DistFiles) evidence.Mend {
	m := e.Repair().Rebuild(d.Info)
	if m.Rebuild {
		m.Again = []string{d.Name + "==" + there(e, d)}
	}
	return m
}

// there is the version whose files are there, however often and as what the package is listed:
// torch's own word, with the label that its index has it by where it is listed with one.
func there(e *evidence.Evidence, d machine.DistFiles) string {
	var listed []string
	said := d.Module
	for _, o := range e.Files.Dists {
		if o.Name == d.Name {
			listed, said = append(listed, o.Version), cmp.Or(said, o.Module)
		}
	}
	public, label := version.SplitLocal(cmp.Or(said, d.Version))
	return public + say.If(!slices.Contains(listed, public), say.With("+", label, ""))
}

// untilGone is how what is there twice is taken away, and comes again in the version whose
// files are there.
func untilGone(e *evidence.Evidence, d machine.DistFiles) []string {
	specs := []string{d.Name + "==" + there(e, d)}
	if d.Name == "torch" {
		for _, name := range []string{"torchvision", "torchaudio"} {
			if p := e.Installed(name); p != nil {
				public, _ := version.SplitLocal(p.Version)
				specs = append(specs, name+"=="+public)
			}
		}
	}
	return []string{fmt.Sprintf("`pip uninstall -y %s` until it says that there is none, then `pip install %s%s`",
		d.Name, strings.Join(specs, " "), evidence.IndexOf(specs))}
}

// leftovers: what pip could not remove.
func leftovers(e *evidence.Evidence, out *evidence.Findings) {
	if len(e.Files.Leftovers) == 0 {
		return
	}
	said := text.Each(e.Files.Leftovers, func(l string) evidence.Quote { return evidence.Fact("%s", l) })
	fix := text.Each(e.Files.Leftovers, func(l string) string { return "remove the directory " + l })
	out.Find("PY014", evidence.Trifle.Exact(), said...).
		Say("an upgrade broke off and left " + path.Base(e.Files.Leftovers[0])).
		Do(fix...).
		Mends(evidence.Mend{Sweep: e.Repair().Rebuild(e.Files.Leftovers[0]).Rebuild})
}
