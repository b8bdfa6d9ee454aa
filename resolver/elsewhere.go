package resolver

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// Wheels that are published elsewhere than on the default index: a project's release
// files, its own index, a page of links. They are named; one is installed, by its URL
// and hash, only with the user's word (`--allow-url`) and only where its hash was seen.

// manylinux228 is the glibc from which PyTorch's Linux wheels have the new C++ ABI: 2.6
// of cu126 and everything since 2.7 (release notes of 2.6 and 2.7).
var manylinux228 = sync.OnceValue(func() version.Dotted { return version.MustDotted("2.28") })

// An offer is one wheel, or a page of them, for one build.
type offer struct {
	row     matrix.Elsewhere
	version string
	cuda    string
}

// manyOf are the kinds of places that hold wheels of many releases, and pip's arguments.
var manyOf = map[string]struct{ what, args string }{"index": {"an index", "--index-url %s --no-deps"}, "find-links": {"a page", "--no-deps -f %s"}}

// places are where wheels of a package are published for a build, whatever the release.
func (q packages) places(name string, b *matrix.Build) []offer {
	var out []offer
	minor := version.Minor(b.Release.Torch.String())
	for _, e := range q.a.p.elsewhere(name) {
		if e.URL == "" || !xslices.Admits(e.Torch, minor) || !xslices.Admits(e.Pythons, q.a.py.String()) ||
			e.ABI != "" && e.ABI != "both" && e.ABI != abiOf(b) || len(e.Archs) > 0 && len(archsFor(e.Archs, q.a.gpus, false)) == 0 {
			continue
		}
		if cuda := matchCUDA(e.CUDA, b); cuda != "" {
			out = append(out, offer{row: e, cuda: cuda})
		}
	}
	return out
}

// of are what places have of one release for a build; the hashed ones first.
func (q packages) of(places []offer, v version.Python, b *matrix.Build) []offer {
	var out []offer
	for _, o := range places {
		if v.IsZero() && strings.Contains(o.row.URL+o.row.Pin, "{version}") || !v.IsZero() && !q.a.p.cache.admits(o.row.Versions, v) ||
			len(o.row.Torch) == 0 && (!q.pinAdmits(o.row.Package, v, b.Release.Torch) || q.a.unmetNeed(o.row.Package, v, b) != "") {
			continue
		}
		o.version = v.String()
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b offer) int { return boolInt(b.row.SHA256 != "") - boolInt(a.row.SHA256 != "") })
	return out
}

// pinAdmits reports whether a torch is what a release's wheels on the default index ask for:
// those of another CUDA and of another system are made of the same source.
func (q packages) pinAdmits(name string, v, torch version.Python) bool {
	rows := xslices.Filter(q.a.p.cache.byPackage()[name], func(e *matrix.Extension) bool { return e.Version.Compare(v) == 0 && !e.Torch.IsZero() })
	return len(rows) == 0 || slices.ContainsFunc(rows, func(e *matrix.Extension) bool { return q.a.p.cache.admits(e.Torch, torch) })
}

// matchCUDA is the entry of a list that a build's CUDA is: its label or its major; ""
// none is. An empty list admits every build with CUDA.
func matchCUDA(list []string, b *matrix.Build) string {
	if b.CUDA.IsZero() {
		if slices.Contains(list, b.Label) {
			return b.Label
		}
		return ""
	}
	label, major := "cu"+strings.ReplaceAll(b.CUDA.MajorMinor(), ".", ""), fmt.Sprint(b.CUDA.Major())
	if len(list) == 0 {
		return label
	}
	c, _ := xslices.Find(list, func(c string) bool { return c == label || c == major })
	return c
}

func abiOf(b *matrix.Build) string {
	return say.Either(b.Glibc.Less(manylinux228()), "FALSE", "TRUE")
}

// Unbuildable says that neither a package's wheels elsewhere nor its sources hold code for
// some GPU; "" they do, or nothing is known of them.
func Unbuildable(rows []matrix.Elsewhere, gpus []machine.GPU) string {
	known := xslices.Filter(rows, func(e matrix.Elsewhere) bool { return len(e.Archs) > 0 })
	if len(gpus) == 0 || len(known) == 0 || slices.ContainsFunc(known, func(e matrix.Elsewhere) bool { return len(archsFor(e.Archs, gpus, true)) > 0 }) {
		return ""
	}
	without := xslices.Filter(gpus, func(g machine.GPU) bool { return len(archsFor(known[0].Archs, []machine.GPU{g}, true)) == 0 })
	return fmt.Sprintf("%s has no code for %s, and cannot be built for it: it begins with %s",
		known[0].Package, gpuNames(without), strings.Join(known[0].Archs, ", "))
}

// archsFor are those of a list that GPUs need, each GPU's own or the newest older one of
// its major; none where some GPU has none. What is built is built for a GPU that stands
// between two of the list as well.
func archsFor(archs []string, gpus []machine.GPU, built bool) []string {
	var out []string
	for _, g := range gpus {
		best, found, older, newer := machine.SM{}, "", false, false
		for _, a := range archs {
			sm, _ := machine.ParseSM(a)
			older, newer = older || sm.Less(g.SM), newer || g.SM.Less(sm)
			if sm.Major == g.SM.Major && !g.SM.Less(sm) && (found == "" || best.Less(sm)) {
				best, found = sm, a
			}
		}
		switch {
		case found == "" && built && older && newer:
			found = g.SM.String()
		case found == "":
			return nil
		}
		out = xslices.Add(out, found)
	}
	return out
}

// url is the address of an offer for a build.
func (o offer) url(q *attempt, b *matrix.Build) string { return o.fill(o.row.URL, q, b) }

// fill puts what a build is into the rule of a name.
func (o offer) fill(rule string, q *attempt, b *matrix.Build) string {
	minor := version.Minor(b.Release.Torch.String())
	short := strings.ReplaceAll(minor, ".", "")
	return strings.NewReplacer("{version}", o.version, "{torch}", minor, "{release}", minor+".0", "{cuda}", o.cuda, "{dotted}", b.CUDA.MajorMinor(), "{short}", short, "{digits}", short+"0",
		"{exact}", b.Release.Torch.String(), "{abi}", abiOf(b), "{python}", "cp"+strings.ReplaceAll(q.py.String(), ".", ""), "{arch}", b.Arch,
		"{system}", say.Either(b.OS == "windows", "win_amd64", b.OS+"_"+b.Arch)).Replace(rule)
}

// byWord is the wheel that the user's word admits for a release: one file whose hash was
// seen; "" there is none, or no word.
func (q packages) byWord(r pep508.Requirement, v version.Python, b *matrix.Build) string {
	if !slices.Contains(q.a.p.req.AllowURL, r.Name) {
		return ""
	}
	if list := q.of(q.places(r.Name, b), v, b); len(list) > 0 && list[0].row.SHA256 != "" {
		return list[0].url(q.a, b) + "#sha256=" + list[0].row.SHA256
	}
	return ""
}

// publishedElsewhere says for every requested package that the default index has no
// wheel of where one is, or which torch has one, or how to build it.
func (s advice) publishedElsewhere(o *outcome) []string {
	var out []string
	names := s.unserved()
	for _, r := range s.p.req.packages {
		rows := s.p.places(r.Name)
		switch {
		case !slices.Contains(names, r.Name) || o.Choice != nil && o.Choice.URLs[r.Name] != "":
		case slices.ContainsFunc(rows, func(e matrix.Elsewhere) bool { return e.Alone }):
			gpus := xslices.Filter(s.p.vendor(machine.NVIDIA), func(machine.GPU) bool { return s.p.req.accel() != cpu })
			for _, e := range rows {
				out = append(out, s.p.frameworks().wayAlone(r, e, gpus)...)
			}
		default:
			out = append(out, s.besideTorch(r, rows, s.p.without(names...))...)
		}
	}
	return onOnePage(out, names)
}

// newerElsewhere says where newer releases are published of packages that fall far behind:
// what only goes with the one that was chosen is not asked for.
func (s advice) newerElsewhere(o *outcome) (out []string) {
	for _, e := range o.q.packages().extensions(o.build) {
		if len(o.q.remarks().farBehind(e, o.build)) == 0 {
			continue
		}
		asked := s.p.with(func(x *Request) {
			x.Requirements = slices.DeleteFunc(x.Requirements, func(r pep508.Requirement) bool { return r.From == OfOthers })
			for i := range x.Requirements {
				if r := &x.Requirements[i]; r.Name == e.name {
					r.Spec = version.TrustSpecifier(strings.TrimPrefix(r.Spec.String()+",>"+e.row.Version.String(), ","))
				}
			}
		})
		if asked != nil {
			out = append(out, asked.advice().publishedElsewhere(o)...)
		}
	}
	return out
}

// besideTorch says where a package is published for the torch that is chosen without it.
func (s advice) besideTorch(r pep508.Requirement, rows []matrix.Elsewhere, without *problem) []string {
	if without == nil {
		return nil
	}
	q, b := without.chooser().here()
	if b == nil {
		return nil
	}
	open := q // what other torches have
	if u := without.with(func(x *Request) { x.Requirements = unpinnedTorch(x.Requirements) }); u != nil && s.p.req.torchText() != "" &&
		slices.ContainsFunc(rows, func(e matrix.Elsewhere) bool { return len(e.Torch) > 0 }) {
		open = u.ask(q.accel, q.gpus, q.drv, q.py)
	}
	found := q.packages().whereIs(r, b, rows, open)
	if label := strings.Join(rows[0].CUDA, " "); len(found) == 0 && isCUDA(label) && s.p.req.Build == "" { // of a build that is chosen by its name alone
		if u := without.with(func(x *Request) { x.Build = label }); u != nil {
			if q, b := u.chooser().here(); b != nil {
				return q.packages().whereIs(r, b, rows, q)
			}
		}
	}
	return found
}

// unserved are the packages of a request that are published elsewhere, too, and that the
// default index alone does not serve: their places are of one torch.
func (s advice) unserved() []string {
	var names []string
	for _, r := range s.p.req.packages {
		if len(s.p.places(r.Name)) > 0 {
			names = append(names, r.Name)
		}
	}
	if len(names) < 2 {
		return names
	}
	return xslices.Filter(names, func(name string) bool {
		t := s.p.without(xslices.Filter(names, func(n string) bool { return n != name })...)
		if t == nil {
			return true
		}
		_, b := t.chooser().here()
		return b == nil
	})
}

// here is the best build for the GPUs that are here, or where there are none or none is
// wished for, for the CPU.
func (s chooser) here() (*attempt, *matrix.Build) {
	if len(s.p.vendor(machine.NVIDIA)) == 0 || s.p.req.accel() == cpu {
		return s.try(cpu, nil, driver{})
	}
	return s.try(cuda, s.p.vendor(machine.NVIDIA), s.p.installed())
}

// onOnePage says once what is said of several packages that one page has.
func onOnePage(lines, names []string) []string {
	const name = "\x00"
	of := map[string][]string{} // of a line that stands for several
	for i, line := range lines {
		for _, n := range names {
			if rest, is := strings.CutPrefix(line, n+" has a page"); is {
				lines[i] = name + " has a page" + strings.Replace(rest, n, name, 1)
				of[lines[i]] = append(of[lines[i]], n)
				break
			}
		}
	}
	return text.Each(xslices.Once(lines), func(line string) string { return strings.ReplaceAll(line, name, strings.Join(of[line], " ")) })
}

// whereIs describes what is published of a package for a build, else for the newest
// build that has something, else how it is built. open is the question that admits
// other torches.
func (q packages) whereIs(r pep508.Requirement, chosen *matrix.Build, rows []matrix.Elsewhere, open *attempt) []string {
	versions := q.versionsAsked(r)
	line := func(b *matrix.Build) string { return q.published(r.Name, versions, b) }
	found, near := line(chosen), ""
	var other *matrix.Build
	if found == "" {
		says := func(b *matrix.Build) bool { return line(b) != "" } // to write the line costs more than to see whether it passes
		other = q.a.best(says)                                      // another build may serve the same request
		if other == nil && !r.Spec.IsZero() {                       // or another release the same torch
			near = say.With("another release: ", q.published(r.Name, q.versionsAsked(pep508.Requirement{Name: r.Name}), chosen), "")
		}
		if other == nil && near == "" {
			other = open.best(says)
		}
	}
	out := slices.DeleteFunc([]string{found, near}, func(line string) bool { return line == "" })
	if other != nil {
		ask := fmt.Sprintf("`--build %s`", other.Label)
		if m := version.Minor(other.Release.Torch.String()); m != version.Minor(chosen.Release.Torch.String()) {
			ask = fmt.Sprintf("`torch==%s.*` and %s", m, ask)
		}
		out = append(out, fmt.Sprintf("%s has wheels for %s, none that is known for %s: %s, then %s",
			r.Name, torchName(other), torchName(chosen), ask, line(other)))
	}
	for _, e := range rows {
		if e.Build != "" && found == "" && (len(e.CUDA) == 0 || chosen.CUDA.IsZero() == slices.Contains(e.CUDA, chosen.Label)) {
			return append(out, q.buildText(r, e, chosen))
		}
	}
	return out
}

// published is how the newest release of a package that has a file with a hash for a build
// is installed, else the newest that has a place; "" none has.
func (q packages) published(name string, versions []version.Python, b *matrix.Build) (first string) {
	places := q.places(name, b)
	for i, v := range versions {
		list := q.of(places, v, b)
		if len(list) > 0 && list[0].row.SHA256 != "" {
			return q.command(name, list[0], b)
		}
		if len(list) > 0 && first == "" {
			first = q.command(name, list[0], b)
			if i > 0 && !v.IsZero() && q.a.p.onlySource(pep508.Requirement{Name: name}) != nil {
				first += fmt.Sprintf("; the newer %s has none that is known, and would be built", versions[0])
			}
		}
	}
	return first
}

// versionsAsked are the releases of a package that a requirement admits, newest first;
// where none is known the one that it names, else one zero version.
func (q packages) versionsAsked(r pep508.Requirement) []version.Python {
	out := q.a.p.releasesOf(r)
	v, _ := version.ParsePython(strings.TrimPrefix(r.Spec.String(), "=="))
	if len(out) == 0 || r.Spec.IsZero() {
		out = append(out, v) // zero where it names none: a page may have what the default index has not
	}
	return out
}

// command is how an offer is installed, and what is known of it.
func (q packages) command(name string, o offer, b *matrix.Build) string {
	url, ask := o.url(q.a, b), name
	if o.row.Pin != "" {
		ask += "==" + o.fill(o.row.Pin, q.a, b)
	}
	of, many := manyOf[o.row.Kind]
	switch {
	case o.row.SHA256 != "":
		return fmt.Sprintf("%s %s is published elsewhere for %s: %s (sha256 %s); `--allow-url %s` installs exactly that file",
			name, o.version, torchName(b), url, o.row.SHA256, name)
	case many:
		return fmt.Sprintf("%s has %s of its own: `pip install %s %s` beside %s (not proven: nobody read its wheels)",
			name, of.what, ask, fmt.Sprintf(of.args, url), torchName(b))
	}
	return fmt.Sprintf("%s %s is built for %s by its project: `pip install --no-deps %s` (not proven: nobody saw the file or its hash)",
		name, o.version, torchName(b), url)
}

// buildText is how a package is built for the GPUs in use.
func (q packages) buildText(r pep508.Requirement, e matrix.Elsewhere, b *matrix.Build) string {
	name := r.Name
	if why := Unbuildable([]matrix.Elsewhere{e}, q.a.gpus); why != "" {
		return why
	}
	archs := archsFor(e.Archs, q.a.gpus, true)
	codes := text.Each(archs, func(a string) string { return strings.ReplaceAll(a, ".", "") })
	text := strings.NewReplacer("{archs}", strings.Join(codes, ";"), "{list}", strings.Join(archs, ";")).Replace(e.Build)
	newest := ""
	if v, err := version.ParsePython(strings.TrimPrefix(r.Spec.String(), "==")); err == nil {
		text = strings.Replace(text, "pip install "+name, "pip install "+name+"=="+v.String(), 1)
		newest = say.If(strings.Contains(text, "git+"), "; that is its newest source, not "+v.String())
	}
	toolkit := say.If(!b.CUDA.IsZero(), "the CUDA toolkit "+b.CUDA.MajorMinor()+", then ")
	s := fmt.Sprintf("source build of %s beside %s: %s`%s`", name, torchName(b), toolkit, text) + newest
	s += say.If(e.Kind == "build" && e.Note != "", "; "+e.Note)
	s += say.With(" (", e.Cost, ")")
	return s
}
