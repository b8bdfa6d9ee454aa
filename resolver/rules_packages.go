package resolver

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// companionsRule: torchvision, torchaudio and every package with GPU code exist
// for this torch, build and Python, and load beside it. torchaudio compares CUDA
// major.minor at import and torchvision the major, and neither says so in its
// metadata.
func companionsRule(q *attempt, b *matrix.Build) *Reason {
	if isConda(b) {
		return nil // the channel's own packages; its solver knows them
	}
	for _, name := range companions {
		reqs, asked := q.p.req.asked[name]
		if !asked {
			continue
		}
		v, ok := q.p.companion(b, name)
		switch {
		case !ok:
			return q.no(b.Source, "no %s loads beside it", name)
		case !q.p.admits(reqs, v):
			return q.no(b.Release.Source, "goes with %s %s, and you asked for %s", name, v, texts(reqs))
		}
	}
	for i, e := range q.p.req.packages {
		if why := q.refused(i, e, b); why != nil {
			return why
		}
	}
	return nil
}

func companionsWord(q *attempt, b *matrix.Build) string {
	if b.Framework != nil {
		return q.fits().frameworkWord(b)
	}
	var parts []string
	for _, name := range companions {
		if _, asked := q.p.req.asked[name]; asked {
			if v, ok := q.p.companion(b, name); ok && channelOf(b) != "" {
				parts = append(parts, name+" of the same index")
			} else if ok {
				parts = append(parts, name+" "+v.String())
			}
		}
	}
	for _, e := range q.packages().extensions(b) {
		if e.row != nil {
			parts = append(parts, e.name+" "+e.row.Version.String())
		}
	}
	if len(parts) == 0 {
		return "nothing else was asked for"
	}
	verb := say.Either(len(parts) == 1, " loads", " load")
	return strings.Join(parts, ", ") + verb + " beside it"
}

// companion returns the version of a companion that loads beside a build. The
// last torchaudio (2.11.0) serves later releases of torch too, but only where its
// own release had a build of that label.
func (s *problem) companion(b *matrix.Build, name string) (version.Python, bool) {
	v, ok := b.Companion(name)
	if !ok || name != "torchaudio" || v.Compare(b.Release.Torch) == 0 {
		return v, ok
	}
	origin, known := s.m.Release(v.String())
	if !known {
		return v, ok
	}
	_, built := origin.Build(b.Label, b.OS, b.Arch)
	return v, built
}

func texts(reqs []pep508.Requirement) string {
	out := text.Each(reqs, func(r pep508.Requirement) string { return r.Text })
	return text.Cut(strings.Join(out, ", "), 80)
}

// An extension is a requested package beside a build: its wheel where the matrix
// knows the package, nil where it is the installer's business.
type extension struct {
	name string
	req  pep508.Requirement
	row  *matrix.Extension
	pin  string // the version that torch's own wheel pins, "" for most
}

func (e extension) version() string {
	if e.row != nil {
		return e.row.Version.String()
	}
	return e.pin
}

// extensions returns the wheel chosen for every further package of the request.
func (q packages) extensions(b *matrix.Build) []extension {
	var out []extension
	for _, r := range q.a.p.req.packages {
		e := extension{name: r.Name, req: r}
		switch {
		case isConda(b) || q.a.p.isFramework(r.Name):
		case r.Name == triton && !b.Triton.IsZero():
			e.pin = b.Triton.String()
		case q.a.releasedWith(r, b) != "":
			e.pin = q.a.releasedWith(r, b)
		case !q.a.p.passedThrough(r):
			e.row = q.wheelFor(r, b)
		}
		out = append(out, e)
	}
	return out
}

// newer compares the releases beside two builds, in the order in which they were asked for.
func (q packages) newer(a, b *matrix.Build) int {
	beside := q.extensions(b)
	for i, e := range q.extensions(a) {
		if other := beside[i]; e.row != nil && other.row != nil {
			if c := e.row.Version.Compare(other.row.Version); c != 0 {
				return c
			}
		}
	}
	return 0
}

// wheelFor returns the newest wheel of a package that loads beside a build and
// has code for the GPUs; nil where none does.
func (q packages) wheelFor(r pep508.Requirement, b *matrix.Build) *matrix.Extension {
	e, _ := xslices.Find(q.a.p.wheelsBeside(r.Name, b.Release.Torch), func(e *matrix.Extension) bool { return q.wheelRefusal(r, e, b) == "" })
	return e
}

// wheelsBeside are those of a package's wheels whose metadata admits a torch, and the
// source distributions that the user's word may turn into a file: few of many.
func (s *problem) wheelsBeside(name string, torch version.Python) []*matrix.Extension {
	byWord := slices.Contains(s.req.AllowURL, name)
	return remembered(s.cache.beside, besideKey{name, torch.String(), byWord}, func() []*matrix.Extension {
		return xslices.Filter(s.wheels(name), func(e *matrix.Extension) bool { return s.cache.admits(e.Torch, torch) || e.Sdist && byWord })
	})
}

// wheels returns what the matrix knows of a package on this system, the newest
// first; sdists are last of their version.
func (s *problem) wheels(name string) []*matrix.Extension {
	return remembered(s.cache.rows, name, func() []*matrix.Extension { return s.readWheels(name) })
}

func (s *problem) readWheels(name string) (rows []*matrix.Extension) {
	arch := strings.NewReplacer("arm64", "aarch64").Replace
	for _, e := range s.cache.byPackage()[name] {
		if (e.OS == "" || e.OS == s.h.Platform.OS) && (e.Arch == "" || arch(e.Arch) == arch(s.h.Platform.Arch)) {
			rows = append(rows, e)
		}
	}
	own := map[string]bool{} // an installer prefers a platform's wheel to one for any
	for _, e := range rows {
		own[e.Version.String()] = own[e.Version.String()] || e.OS != ""
	}
	rows = xslices.Filter(rows, func(e *matrix.Extension) bool { return e.Sdist || e.OS != "" || !own[e.Version.String()] })
	slices.SortStableFunc(rows, func(a, b *matrix.Extension) int {
		return cmp.Or(b.Version.Compare(a.Version), boolInt(a.Sdist)-boolInt(b.Sdist))
	})
	return rows
}

// known reports whether the matrix knows a package on any system; others are
// passed through to the installer.
func (s *problem) known(name string) bool {
	return len(s.cache.byPackage()[name]) > 0
}

// packageRefusal says why no wheel of a requested package goes with a build.
func (q packages) packageRefusal(r pep508.Requirement, b *matrix.Build) *Reason {
	if b.Framework != nil {
		return q.passedRefusal(r) // torch has no say
	}
	if why := q.a.pinRefusal(r, b); why != nil {
		return why
	}
	if why := q.a.needRefusal(r, b); why != nil {
		return why
	}
	if pin := q.a.releasedWith(r, b); pin != "" {
		v, err := version.ParsePython(pin)
		if err != nil {
			return nil
		}
		if !q.a.p.cache.admits(r.Spec, v) {
			return q.a.no(b.Release.Source, "goes with %s %s, and you asked for %s", r.Name, pin, text.Cut(r.Text, 80))
		}
		if why := q.noFile(&matrix.Extension{Package: r.Name, Version: v}); why != "" {
			return q.a.no(b.Release.Source, "goes with %s %s, which %s", r.Name, pin, why)
		}
		return nil
	}
	if q.a.p.passedThrough(r) {
		return q.passedRefusal(r)
	}
	rows := q.a.p.wheels(r.Name)
	if len(rows) == 0 {
		switch why := q.noFileIn(r.Name, r.Spec); {
		case why != "":
			return q.a.no("", "%s", strings.TrimPrefix(why, "and "))
		case len(q.a.p.versionsOf(r.Name)) > 0:
			return nil // it has files for this system, which nobody read
		}
		return q.a.no("", "%s has no wheel for %s %s", r.Name, q.a.p.h.Platform.OS, q.a.p.h.Platform.Arch)
	}
	if why := q.wheelsRefusal(r, rows, b); why != nil && !q.unread(r, rows, b) {
		return why
	}
	return nil
}

// unread reports whether releases of a package that no row tells of load beside a build,
// by what is known that they need, where those of the rows are for another torch: a row
// that is missing is no wheel that is missing.
func (q packages) unread(r pep508.Requirement, rows []*matrix.Extension, b *matrix.Build) bool {
	if len(q.a.p.cache.needs[r.Name]) == 0 || slices.ContainsFunc(rows, func(e *matrix.Extension) bool {
		return q.a.p.cache.admits(e.Torch, b.Release.Torch) && q.a.unmetNeed(e.Package, e.Version, b) == ""
	}) {
		return false
	}
	return slices.ContainsFunc(q.withoutRow(r.Name), func(v version.Python) bool { return q.a.p.cache.admits(r.Spec, v) && q.a.loads(r.Name, v, b) })
}

// withoutRow are the releases of a package that no row tells of and that have wheels here.
func (q packages) withoutRow(name string) []version.Python {
	s := q.a.p
	none := remembered(s.cache.rowless, name, func() []version.Python {
		told := map[string]bool{}
		for _, e := range s.wheels(name) {
			told[e.Version.String()] = true
		}
		return xslices.Filter(s.versionsOf(name), func(v version.Python) bool { return !told[v.String()] })
	})
	return xslices.Filter(none, func(v version.Python) bool { return q.noFile(&matrix.Extension{Package: name, Version: v}) == "" })
}

// needsCUDA reports whether a wheel for CUDA is not even imported without it.
func (q packages) needsCUDA(e *matrix.Extension) bool {
	c := q.codeOf(e)
	return (c.cuda != "" || c.linked) && (e.Fails == "import" || e.Fails == "")
}

// wheelsRefusal says why none of a package's wheels goes with a build: what speaks
// against the newest that was asked for.
func (q packages) wheelsRefusal(r pep508.Requirement, rows []*matrix.Extension, b *matrix.Build) *Reason {
	var newest *matrix.Extension // that the request admits, of those for this torch where there are any
	why := ""
	for _, e := range q.a.p.wheelsBeside(r.Name, b.Release.Torch) {
		w := q.wheelRefusal(r, e, b)
		if w == "" {
			return nil
		}
		if newest == nil && q.a.p.cache.admits(r.Spec, e.Version) {
			newest, why = e, w
		}
	}
	if !q.a.explain {
		return silent
	}
	if i := slices.IndexFunc(rows, func(e *matrix.Extension) bool {
		return newest != nil && newest.Sdist && !e.Sdist && e.Version.Compare(newest.Version) == 0
	}); i >= 0 { // it is not its source alone: what is wrong is said of its wheel
		newest, why = rows[i], q.wheelRefusal(r, rows[i], b)
	}
	if newest == nil {
		newest = rows[slices.IndexFunc(rows, func(e *matrix.Extension) bool { return q.a.p.cache.admits(r.Spec, e.Version) })]
		why = q.wheelRefusal(r, newest, b)
	}
	return q.a.no(newest.Source, "%s %s %s", r.Name, newest.Version, why)
}

// passedThrough reports whether a package is the installer's business alone: one
// that the matrix does not know, or not in any version that the request admits.
func (s *problem) passedThrough(r pep508.Requirement) bool {
	if r.URL != "" || !s.known(r.Name) {
		return true
	}
	rows := s.wheels(r.Name)
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(e *matrix.Extension) bool { return s.cache.admits(r.Spec, e.Version) })
}

// passedRefusal says why a package that is the installer's business cannot be installed,
// as far as its files and where it is published are known.
func (q packages) passedRefusal(r pep508.Requirement) *Reason {
	if e := q.a.p.onlySource(r); e != nil {
		return q.a.no(e.Source, "%s is known as source distributions only: what %s asks for has to be built", r.Name, text.Cut(r.Text, 80))
	}
	if known := q.a.p.versionsOf(r.Name); r.URL == "" && slices.ContainsFunc(known, func(v version.Python) bool { return q.a.p.cache.admits(r.Spec, v) }) {
		if why := q.noFileIn(r.Name, r.Spec); why != "" {
			return q.a.no("", "%s", strings.TrimPrefix(why, "and "))
		}
	}
	if e := q.ofOtherSystem(r); e != nil {
		return q.a.no(e.Source, "%s %s is one wheel for every system, and its libraries are for %s alone", r.Name, e.Version, e.OS)
	}
	if rows := q.a.p.elsewhere(r.Name); len(rows) > 0 && !q.a.p.known(r.Name) && r.URL == "" &&
		(q.a.accel == cuda || len(q.a.p.versionsOf(r.Name)) == 0) {
		where := "it has to be built from its source" + say.If(rows[0].Kind == "build", say.With(" (", rows[0].Note, ")"))
		if slices.ContainsFunc(rows, func(e matrix.Elsewhere) bool { return e.Kind != "build" }) {
			where = "it is published elsewhere"
		}
		return q.a.no(rows[0].Source, "%s is no wheel on the default index: %s", r.Name, where)
	}
	return nil
}

// wheelRefusal says in a few words why one wheel does not go with a build, ""
// where it does.
func (q packages) wheelRefusal(r pep508.Requirement, e *matrix.Extension, b *matrix.Build) string {
	w := q.mismatch(r, e, b)
	if q.a.accel == cuda && (w == "" || q.a.explain && !e.Sdist && q.unfit(r, e) == "") { // no other build changes the GPU: said first
		w = cmp.Or(q.missingFor(e, q.codeOf(e)), w)
	}
	if w != "" {
		return w
	}
	return q.needsRefusal(r, e, b)
}

// unfit says why a wheel is none that was asked for and that this Python and system take,
// whatever it stands beside; "" it is, or is no wheel.
func (q packages) unfit(r pep508.Requirement, e *matrix.Extension) string {
	switch {
	case !q.a.p.cache.admits(r.Spec, e.Version):
		return "is not what was asked for"
	case e.Yanked:
		return "was withdrawn"
	case e.Sdist:
		return ""
	case e.Python != "" && !q.a.p.cache.fits(q.a.py, e.Python):
		return "has no wheel for Python " + q.a.py.String() + " (" + e.Python + ")"
	}
	return q.noFile(e)
}

// mismatch is wheelRefusal without a look at GPU code.
func (q packages) mismatch(r pep508.Requirement, e *matrix.Extension, b *matrix.Build) string {
	if why := q.unfit(r, e); why != "" {
		return why
	}
	switch {
	case e.Sdist && q.byWord(r, e.Version, b) != "":
		return "" // its file says the rest: torch, CUDA, Python, GPU code
	case e.Sdist:
		rows := q.a.p.elsewhere(e.Package)
		return cmp.Or(strings.TrimPrefix(Unbuildable(rows, q.a.gpus), e.Package+" "), "is only a source distribution: it has to be built")
	case !q.a.p.cache.admits(e.Torch, b.Release.Torch):
		return "needs torch" + e.Torch.String()
	}
	if why := cmp.Or(q.a.unmetNeed(e.Package, e.Version, b), q.noneToInstall(e)); why != "" {
		return why
	}
	switch {
	case q.a.accel != cuda && q.needsCUDA(e):
		return strings.TrimSpace("is built for CUDA " + q.codeOf(e).cuda)
	case (q.a.accel == cuda || e.CUDA == "") && !xslices.Admits(e.TorchLabels, b.Label):
		return "loads beside " + strings.Join(e.TorchLabels, ", ") + " only"
	case q.a.accel != cuda:
		return ""
	}
	if c := q.codeOf(e).cuda; c != "" && major(c) != major(b.CUDA.String()) {
		return "is built for CUDA " + c
	}
	return say.If(q.forGPUsApart(r, e), "computes on the CPU alone in its wheel here: those with CUDA are others")
}

// needsRefusal: a package without GPU code of its own is no better than the one
// that holds it. The newest release of that one which goes with the build
// decides, since the pins between the two were not read. Where a release was named and what
// it holds has none for that torch but such as nobody read, nothing is known against it.
func (q packages) needsRefusal(r pep508.Requirement, e *matrix.Extension, b *matrix.Build) string {
	for _, name := range e.Needs {
		why, newest := "it has no wheel here", ""
		for _, n := range q.a.p.wheels(name) {
			if why = q.mismatch(pep508.Requirement{}, n, b); why != "" {
				newest = cmp.Or(newest, "it "+why)
				why = newest
				continue
			}
			if q.a.accel == cuda {
				why = say.With(n.Version.String()+" ", q.missingFor(n, q.codeOf(n)), "")
			}
			break
		}
		ofTorch := func(n *matrix.Extension) bool { return q.a.p.cache.admits(n.Torch, b.Release.Torch) }
		if why != "" && (!strings.HasPrefix(r.Spec.String(), "==") || slices.ContainsFunc(q.a.p.wheels(name), ofTorch) || len(q.withoutRow(name)) == 0) {
			return "needs " + name + ": " + why
		}
	}
	return ""
}
