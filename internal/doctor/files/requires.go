package files

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// A trouble is one package that is not as its own metadata, or another's, says.
type trouble struct {
	check    string
	proof    evidence.Proof
	said     []evidence.Quote
	text     string
	again    string // what an installer is asked for: "name==1.2"
	file     string // of the environment, for the mending
	fetch    string // a package that a cache must not give again
	soft     bool   // a newer one, which is compatible
	own      bool   // perhaps somebody's own change, which nothing undoes unasked
	conda    []string
	imported bool // torch was imported for this examination
}

// installed compares what is there with what the packages say of each other and of
// themselves, as `pip check` does; what torch needs comes first, and one command mends it.
func installed(e *evidence.Evidence, out *evidence.Findings) {
	first := map[string]machine.DistFiles{} // the copy of each that is used
	for _, d := range e.Files.Dists {
		if _, seen := first[d.Name]; !seen &&
			slices.ContainsFunc(e.Files.Sites, func(s string) bool { return strings.HasPrefix(d.Info, s+"/") }) {
			first[d.Name] = d
		}
	}
	var others []unmet
	var all []trouble
	ofTorch, asked := needsOf(first, "torch"), map[string]bool{}
	for _, u := range unmetOf(e, first) {
		switch {
		case u.pinned() && (ofTorch[u.of.Name] || u.of.Name == "torch"):
			if u.have.Name != "" || u.of.Name == "torch" || !asked[u.Name] { // torch names the version
				all = append(all, u.trouble(e))
			}
			asked[u.Name] = true
		case u.of.Installer == "conda" || strings.HasPrefix(u.of.Info, "/usr/lib/python3/"):
			// their own managers see to them, by other names
		case u.Name == "torch" && e.Torch.Version == "" && slices.Contains(companions, u.of.Name): // that there is none is told by itself
		default:
			others = append(others, u)
		}
	}
	again(e, out, append(all, incomplete(e, first, ofTorch)...))
	conflicts(e, out, others, ofTorch)
}

// again makes findings of the troubles: each check's own, with one command for all.
func again(e *evidence.Evidence, out *evidence.Findings, all []trouble) {
	var specs []string
	for _, t := range all {
		if t.conda == nil && !slices.Contains(specs, t.again) {
			specs = append(specs, t.again)
		}
	}
	words := strings.Join(specs, " ")
	command := "`pip install --force-reinstall " + say.If(!strings.Contains(words, "["), "--no-deps ") + words + evidence.IndexOf(specs) + "`"
	for _, check := range []string{"PY010", "LD003", "PY009", "PY011", "PY027"} {
		of := xslices.Filter(all, func(t trouble) bool { return t.check == check })
		if len(of) == 0 {
			continue
		}
		var texts []string
		var said []evidence.Quote
		var fetch, lone []string
		for _, t := range of {
			texts, said, fetch = append(texts, t.text), append(said, t.said...), append(fetch, say.All(t.fetch)...)
			lone = append(lone, say.All(say.If(t.conda != nil, t.again))...)
		}
		mend, fix := e.Repair().Rebuild(of[0].file), of[0].conda
		if mend.Rebuild {
			mend.Fetch, mend.Again = fetch, append(lone, xslices.Filter(specs, func(string) bool { return fix != nil })...)
		}
		if fix == nil {
			fix = []string{command}
		}
		f := out.Find(check, of[0].proof, said...).Say(evidence.Listed(texts)).Do(fix...).As(evidence.Error)
		if slices.ContainsFunc(of, func(t trouble) bool { return !t.own }) {
			f.Mends(mend)
		}
		if !slices.ContainsFunc(of, func(t trouble) bool { return !t.soft }) {
			f.As(evidence.Warning)
		}
	}
}

// incomplete: files that RECORD lists are missing, or libraries have other sizes.
func incomplete(e *evidence.Evidence, first map[string]machine.DistFiles, ofTorch map[string]bool) (out []trouble) {
	for _, d := range e.Files.Dists {
		used, here := first[d.Name]
		others := strings.HasPrefix(d.Name, "nvidia-") && ofTorch["torch"] && len(ofTorch) > 2 && !ofTorch[d.Name]
		if others || here && used.Info != d.Info { // of another torch, which nothing asks for, or a copy that is not imported
			continue
		}
		ours := ofTorch[d.Name] || slices.ContainsFunc(d.Requires, func(line string) bool { r, err := pep508.Parse(line, ""); return err == nil && r.Name == "torch" })
		t := trouble{check: "PY011", proof: evidence.Likely, again: d.Name + "==" + d.Version, file: d.Info}
		if d.Installer == "conda" || d.Name == "torch" && e.Conda().Made() {
			t.conda = e.Conda().Again(d)
		}
		if t.imported = e.Imported != nil && e.Imported.Torch != ""; t.imported && d.Name == "torch" {
			d.Rewritten = nil // Python ran what it does now
		}
		if t.of(d, ours); t.text != "" {
			out = append(out, t)
		}
	}
	return out
}

// of says what is wrong with the files of a package, if anything is; ours: it is torch, or
// needs it.
func (t *trouble) of(d machine.DistFiles, ours bool) {
	switch {
	case strings.Contains(d.ABI, "_") && ours:
		t.check, t.proof = "PY027", evidence.Proven.Exact()
		t.said = []evidence.Quote{evidence.Fact("%s/WHEEL: %s", d.Info, d.ABI)}
		t.text = fmt.Sprintf("%s %s is for another system or processor, %s: the environment was made elsewhere", d.Name, d.Version, d.ABI)
	case d.Barred != "":
		t.check, t.proof = "PY010", evidence.Proven
		t.conda = []string{"`sudo chmod -R a+rX " + d.Barred + "`", "or an environment of your own: `envfix apply --env DIR`"}
		t.said = []evidence.Quote{evidence.Fact("%s: permission denied", d.Barred)}
		t.text = fmt.Sprintf("this user may not read all of %s %s (%d files): %s is closed to others", d.Name, d.Version, d.Absent, d.Barred)
	case d.Absent > 0:
		t.check, t.proof = "PY010", evidence.Proven
		lacks := say.Either(d.Files == 0, "the list of its files is missing", fmt.Sprintf("%d of its %d files are missing", d.Absent, d.Files))
		t.text = fmt.Sprintf("%s %s is not whole: %s", d.Name, d.Version, lacks) +
			say.With(", links to ", d.Link, ", which is not there"+say.If(strings.Contains(d.Link, "/archive-v"), ": an installer's cache that was cleaned"))
		t.said = text.Each(d.Missing[:min(2, len(d.Missing))], func(f string) evidence.Quote { return evidence.Fact("missing: %s", f) })
	case d.Gone != "" && ours:
		t.check, t.proof, t.conda = "PY010", evidence.Proven, []string{
			"bring " + d.Gone + " back (a disk that is not mounted?), or `pip install -e DIR` where it is now",
			"or its wheel: `pip install --force-reinstall --no-deps " + t.again + "`",
		}
		t.said = []evidence.Quote{evidence.Fact("%s/direct_url.json", d.Info)}
		t.text = fmt.Sprintf("%s %s is installed in place from %s, which is not there: Python does not find it", d.Name, d.Version, d.Gone)
	case d.ABI != "" && ours:
		t.check, t.proof = "PY027", evidence.Proven
		t.said = []evidence.Quote{evidence.Fact("%s/WHEEL: %s", d.Info, d.ABI)}
		t.text = fmt.Sprintf("%s %s is for another Python: its machine code is %s", d.Name, d.Version, d.ABI)
	case d.Backend != "":
		t.check, t.proof = "PY010", evidence.Proven
		t.conda = []string{"`pip uninstall -y " + d.Name + "`, where nothing needs it; else `pip install --force-reinstall --no-deps " + t.again + "`",
			"or `export TORCH_DEVICE_BACKEND_AUTOLOAD=0`"}
		t.said = []evidence.Quote{evidence.Fact("%s/entry_points.txt: [torch.backends] %s", d.Info, d.Backend)}
		t.text = fmt.Sprintf("torch loads %s for %s %s when it is imported, and there is no such module: `import torch` fails", d.Backend, d.Name, d.Version)
	case d.Record != "":
		t.conda = []string{"`" + text.Command("rm", "-r", d.Info) + "`, then `pip install --no-deps " + t.again + evidence.IndexOf([]string{t.again}) +
			"`: with such a list uv and pip refuse to replace it"}
		t.said = []evidence.Quote{evidence.Fact("%s/RECORD", d.Info)}
		t.text = fmt.Sprintf("%s %s was not installed to its end: its RECORD is %s", d.Name, d.Version, d.Record)
	case len(d.Resized) > 0, len(d.Rewritten) > 0 && len(d.Cut) == 0:
		t.changed(d)
	case len(d.Cut) > 0:
		t.proof, t.conda = evidence.Proven, []string{"`" + text.Command(append([]string{"rm"}, d.Cut...)...) + "`: Python compiles it again",
			"or `pip install --force-reinstall --no-deps " + t.again + "`"}
		t.said = []evidence.Quote{evidence.Fact("%s", d.Cut[0])}
		t.text = fmt.Sprintf("byte code of %s %s is cut off, %s: importing it fails (EOFError: marshal data too short)", d.Name, d.Version, path.Base(d.Cut[0]))
	case len(d.Closed) > 0:
		t.soft, t.conda = true, []string{
			"`" + text.Command(append([]string{"chmod", "+x"}, d.Closed...)...) + "`",
			"or `pip install --force-reinstall --no-deps " + t.again + "`",
		}
		t.said = []evidence.Quote{evidence.Fact("%s may not be started", d.Closed[0])}
		t.text = fmt.Sprintf("programs of %s %s have lost the right to be started, such as %s: what compiles with them fails (torch.compile)",
			d.Name, d.Version, path.Base(d.Closed[0]))
	}
}

// changed says which file of a package is not the one that was installed.
func (t *trouble) changed(d machine.DistFiles) {
	short := func(file string) string { return strings.TrimPrefix(file, path.Dir(d.Info)+"/") }
	if len(d.Resized) == 0 {
		t.soft, t.own, t.proof, t.conda = true, true, evidence.Hint, []string{"as it was: `pip install --force-reinstall --no-deps " + t.again + "`"}
		if !t.imported {
			t.conda = append([]string{"`envfix doctor --import` has Python say whether it works"}, t.conda...)
		}
		t.said = text.Each(d.Rewritten[:min(2, len(d.Rewritten))], func(f string) evidence.Quote { return evidence.Fact("%s", f) })
		t.text = fmt.Sprintf("%s of %s %s was changed after it was installed, and what it does now was not looked at", short(d.Rewritten[0]), d.Name, d.Version)
		return
	}
	if d.Installer == "uv" {
		t.fetch = d.Name // written to in place: uv's cache shares the file by a hard link
	}
	t.said = []evidence.Quote{evidence.Fact("%s", d.Resized[0])}
	t.text = fmt.Sprintf("libraries of %s %s have other sizes than its RECORD says: they are of another version, or cut off", d.Name, d.Version)
	if d.Damaged {
		t.text = fmt.Sprintf("%s of %s %s was written to after it was installed, and is not what its RECORD says: it is damaged, or of another build",
			short(d.Resized[0]), d.Name, d.Version)
	}
	if strings.HasSuffix(d.Resized[0], ".py") || path.Base(d.Resized[0]) == "METADATA" {
		t.text = fmt.Sprintf("%s of %s %s is empty, cut off, or holds what Python does not read: the disk was full, the power went, or somebody changed it",
			short(d.Resized[0]), d.Name, d.Version)
	}
}

// An unmet is a requirement of an installed package that is not met.
type unmet struct {
	of   machine.DistFiles
	line string
	pep508.Requirement
	have machine.DistFiles // Name "": it is not there
}

// ofRelease are the packages that are of torch's own release.
var ofRelease = lazy.Regexp(`^(nvidia-.*|cuda-toolkit|triton|pytorch-triton.*)$`)

// pinned reports whether it is torch that asks, itself or through NVIDIA's packages.
func (u unmet) pinned() bool {
	return (u.of.Name == "torch" || ofRelease().MatchString(u.of.Name)) && ofRelease().MatchString(u.Name)
}

// offersTorch matches what a package takes torch for that works with other frameworks too, as
// transformers: of a torch that it does not take it says so at most, and does without.
var offersTorch = lazy.Regexp(`^torch[ (<>=!~][^;]*;\s*extra == ["']torch["']$`)

// unmetOf lists them all; an extra counts where another package asks for it.
func unmetOf(e *evidence.Evidence, first map[string]machine.DistFiles) (out []unmet) {
	done := map[string]bool{}
	var look func(d machine.DistFiles, extras []string, depth int)
	look = func(d machine.DistFiles, extras []string, depth int) {
		for _, line := range d.Requires {
			asked := extras
			if _, marker, _ := strings.Cut(line, ";"); len(extras) == 0 && strings.Contains(marker, "extra") {
				if !offersTorch().MatchString(line) || first["torch"].Name == "" {
					continue // nobody asked for that
				}
				asked = []string{"torch"}
			}
			r, err := pep508.Parse(line, "")
			if err != nil || r.URL != "" || done[d.Name+" "+line] {
				continue
			}
			have, there := presentOf(e, first, r.Name)
			met := there && admits(r.Spec, evidence.Public(cmp.Or(have.Module, have.Version)))
			switch { // a marker is read last: it costs the most, and most are met
			case met && (len(r.Extras) == 0 || depth >= 4), !counts(e, r.Marker, asked):
			case met:
				look(have, r.Extras, depth+1)
			default:
				done[d.Name+" "+line] = true
				out = append(out, unmet{d, line, r, have})
			}
		}
	}
	for _, d := range xslices.First(e.Files.Dists, func(d machine.DistFiles) bool { return d.Name == "torch" }) {
		if first[d.Name].Info == d.Info {
			look(d, nil, 0)
		}
	}
	return out
}

// presentOf is what is there of a package: its files, or else what a list of packages says.
func presentOf(e *evidence.Evidence, first map[string]machine.DistFiles, name string) (have machine.DistFiles, there bool) {
	if have, there = first[name]; there {
		return have, true
	}
	if other := e.Installed(name); other != nil {
		return machine.DistFiles{Name: name, Version: other.Version}, true
	}
	return have, false
}

// trouble is what a pin of torch's that is not met is.
func (u unmet) trouble(e *evidence.Evidence) trouble {
	wants := strings.TrimLeft(u.Spec.String(), "=~ ")
	t := trouble{check: "PY010", proof: evidence.Proven, file: u.of.Info, again: u.Name + u.Spec.String(), said: []evidence.Quote{evidence.Fact("%s/METADATA: %s", u.of.Info, u.line)}}
	if u.have.Name == "" && len(u.Extras) > 0 {
		t.again = u.Name + "[" + strings.Join(u.Extras, ",") + "]" + u.Spec.String() // they bring the rest
	}
	if strings.ContainsAny(t.again, "<>*,;! [") {
		t.again = `"` + t.again + `"`
	}
	if u.have.Name == "" {
		t.text = fmt.Sprintf("%s is missing; %s %s needs it", u.Name, u.of.Name, u.of.Version)
		if file := loadedOf(e, u.Name); file != "" {
			t.soft, t.proof, t.said = true, evidence.Hint, append(t.said, evidence.Fact("%s is taken", file))
			t.text = fmt.Sprintf("%s has no dist-info, and its library is here: torch loads it, and pip and uv do not know of it", u.Name)
		}
		return t
	}
	t.check, t.file = "LD003", u.have.Info
	t.said = append([]evidence.Quote{evidence.Fact("%s", u.have.Info)}, t.said...)
	t.text = fmt.Sprintf("%s is %s, and %s %s was built with %s", u.Name, u.have.Version, u.of.Name, u.of.Version, wants)
	if strings.Contains(u.Name, "triton") {
		t.check = "PY009"
		return t
	}
	if evidence.Newer(u.have.Version, strings.TrimRight(wants, ".*")) {
		t.soft, t.proof = true, evidence.Likely
	}
	return t
}

// loadedOf is the file of the environment that the loader takes for the library of one of
// NVIDIA's packages: nvidia-cufft-cu12 brings libcufft.so.11. "": none.
func loadedOf(e *evidence.Evidence, name string) string {
	stem, _, _ := strings.Cut(strings.TrimPrefix(name, "nvidia-"), "-cu1")
	stem = "lib" + strings.NewReplacer("cuda-runtime", "cudart", "cuda-", "").Replace(stem) + ".so"
	l, _ := xslices.Find(e.Files.Loaded, func(l machine.LoadedLibrary) bool {
		return l.Wheel == "" && strings.HasPrefix(strings.ToLower(l.Name), stem) &&
			slices.ContainsFunc(e.Files.Sites, func(s string) bool { return strings.HasPrefix(l.Path, s+"/") })
	})
	return l.Path
}

// conflicts are the requirements that are not torch's own: of a package that wants another
// torch, of what torch needs to be imported, and of all others together.
func conflicts(e *evidence.Evidence, out *evidence.Findings, all []unmet, ofTorch map[string]bool) {
	var rest []string
	var lacks evidence.Found // of what torch imports: one way out
	var again string
	for _, u := range all {
		have, text, said := u.told()
		companion := slices.Contains(companions, u.of.Name)
		switch {
		case companion && u.Name == "torch" && have != "":
			fix := e.Pair().Fix()
			switch {
			case fix == nil:
				fix = []string{"`pip install --force-reinstall " + u.of.Name + "` of torch's release, from the index of torch"}
			case !strings.Contains(fix[0], u.of.Name):
				fix = []string{"torch " + e.Torch.Named() + " has no " + u.of.Name + ": `pip uninstall -y " + u.of.Name + "`, where nothing needs it",
					"else `envfix plan " + u.of.Name + "` names a torch that has one"}
			}
			out.Find("PY007", evidence.Proven, said...).Say(text).Do(fix...).Mends(e.Repair().Rebuild(u.of.Info))
		case slices.Contains(companions, u.Name) || u.Name == "torch" || u.Name == "triton":
			f := out.Find("PY042", evidence.Proven, said...).Say(text).
				Do(fmt.Sprintf("`pip install --upgrade %s %s`: a release of %s for the torch that is here, if there is one", u.of.Name, e.Repair().TorchAgain(), u.of.Name),
					fmt.Sprintf("or keep it, in an environment of its own: `uv venv other && uv pip install --python other %s==%s` brings the torch that it wants", u.of.Name, u.of.Version))
			if offersTorch().MatchString(u.line) {
				f.Says("%s: it works without it (\"PyTorch was not found\"), or fails", text).As(evidence.Warning)
			}
		case companion, ofTorch[u.of.Name] && ofTorch[u.Name]:
			f := out.Find(say.Either(companion, "PY042", "PY043"), evidence.Likely, said...).Mends(e.Repair().Rebuild(u.of.Info)).
				Say(text + ": " + say.Either(companion, u.of.Name, "torch") + " imports it")
			if u.Name == "setuptools" && have == "" { // `import torch` of 2.15 goes without it
				f.Say(text + ": torch.compile and torch.utils.cpp_extension use it").As(evidence.Warning).Proof = evidence.Likely.Loose()
			}
			again += fmt.Sprintf(" \"%s%s\"", u.Name, u.Spec)
			lacks = append(lacks, f)
		default:
			rest = append(rest, text)
		}
	}
	for _, f := range lacks {
		f.Do("`pip install" + again + "`")
	}
	if len(rest) > 0 {
		more := say.If(len(rest) > 1, fmt.Sprintf("; %d more packages do not have what they ask for", len(rest)-1))
		out.Find("PY042", evidence.Trifle).Say(rest[0] + more).Do("`pip check` lists all such; torch does not depend on it").As(evidence.Note).Of("none")
	}
}

var companions = []string{"torchvision", "torchaudio"}

// told says what is wanted and what is there; have is "" where nothing is.
func (u unmet) told() (have, words string, said []evidence.Quote) {
	have = cmp.Or(u.have.Module, u.have.Version)
	words = fmt.Sprintf("%s %s wants %s%s, and ", u.of.Name, u.of.Version, u.Name, u.Spec)
	said = []evidence.Quote{evidence.Fact("%s/METADATA: %s", u.of.Info, u.line)}
	if have == "" {
		return have, words + "it is not installed", said
	}
	return have, words + u.Name + " is " + have, append(said, evidence.Fact("%s", cmp.Or(u.have.Info, u.Name+" "+have)))
}

// needsOf are the packages that one needs to be imported, itself among them; NumPy is
// looked for by torch without being asked for.
func needsOf(first map[string]machine.DistFiles, name string) map[string]bool {
	return xslices.Reach(func(name string) []string {
		always := func(r pep508.Requirement) bool { return !strings.Contains(r.Marker, "extra") }
		return pep508.Names(xslices.Filter(pep508.Read(first[name].Requires, ""), always))
	}, name, "numpy")
}

// counts reports whether a requirement's marker surely holds: a requirement that
// may not hold is none to find missing.
func counts(e *evidence.Evidence, marker string, extras []string) bool {
	p, python := e.Machine.Platform, ""
	for _, y := range e.Machine.Pythons {
		if y.Active {
			python = y.Version
		}
	}
	return pep508.EnvironmentOf(p.OS, p.Arch, python).Surely(marker, extras...)
}

// admits reports whether a version is within a specifier, one before a release too; what
// cannot be read is.
func admits(spec version.Specifier, v string) bool {
	have := evidence.PythonVersion(v)
	return have.IsZero() || spec.IsZero() || have.IsPreRelease() || spec.Admits(have)
}
