package resolver

import (
	"slices"
	"strings"

	"envfix/matrix"
)

// companionsRule: torchvision, torchaudio and every package with GPU code exist
// for this torch, build and Python, and load beside it. torchaudio compares CUDA
// major.minor at import and torchvision the major, and neither says so in its
// metadata.
func companionsRule(q *question, b *matrix.Build) *Reason {
	if isConda(b) {
		return nil // the channel's own packages; its solver knows them
	}
	for _, name := range companions {
		reqs, asked := q.w.asked[name]
		if !asked {
			continue
		}
		v, ok := b.Companion(name)
		switch {
		case !ok:
			return q.no(b.Source, "no %s loads beside it", name)
		case !admits(reqs, v):
			return q.no(b.Release.Source, "goes with %s %s, and you asked for %s", name, v, texts(reqs))
		}
	}
	for _, e := range q.w.packages {
		if why := q.packageRefusal(e, b); why != nil {
			return why
		}
	}
	return nil
}

func companionsWord(q *question, b *matrix.Build) string {
	var parts []string
	for _, name := range companions {
		if _, asked := q.w.asked[name]; asked {
			if v, ok := b.Companion(name); ok {
				parts = append(parts, name+" "+v.String())
			}
		}
	}
	for _, e := range q.extensions(b) {
		if e.row != nil {
			parts = append(parts, e.name+" "+e.row.Version.String())
		}
	}
	if len(parts) == 0 {
		return "nothing else was asked for"
	}
	return strings.Join(parts, ", ") + " load beside it"
}

func texts(reqs []Requirement) string {
	var out []string
	for _, r := range reqs {
		out = append(out, r.Text)
	}
	return clip(strings.Join(out, ", "))
}

// An extension is a requested package beside a build: its wheel where the matrix
// knows the package, nil where it is the installer's business.
type extension struct {
	name string
	req  Requirement
	row  *matrix.Extension
}

func (e extension) version() string {
	if e.row != nil {
		return e.row.Version.String()
	}
	return ""
}

// extensions returns the wheel chosen for every further package of the request.
func (q *question) extensions(b *matrix.Build) []extension {
	var out []extension
	for _, r := range q.w.packages {
		e := extension{name: r.Name, req: r}
		if !isConda(b) {
			e.row = q.wheelFor(r, b)
		}
		out = append(out, e)
	}
	return out
}

// wheelFor returns the newest wheel of a package that loads beside a build and
// has code for the GPUs; nil where none does.
func (q *question) wheelFor(r Requirement, b *matrix.Build) *matrix.Extension {
	for _, e := range q.wheels(r.Name) {
		if q.wheelRefusal(r, e, b) == "" {
			return e
		}
	}
	return nil
}

// wheels returns what the matrix knows of a package on this system, the newest
// first; sdists are last of their version.
func (s *scene) wheels(name string) []*matrix.Extension {
	if rows, ok := s.rows[name]; ok {
		return rows
	}
	var rows []*matrix.Extension
	for i := range s.m.Extensions {
		e := &s.m.Extensions[i]
		if e.Package == name && (e.OS == "" || e.OS == s.h.Platform.OS) && (e.Arch == "" || sameArch(e.Arch, s.h.Platform.Arch)) {
			rows = append(rows, e)
		}
	}
	slices.SortStableFunc(rows, func(a, b *matrix.Extension) int {
		if c := b.Version.Compare(a.Version); c != 0 {
			return c
		}
		return boolInt(a.Sdist) - boolInt(b.Sdist)
	})
	if s.rows == nil {
		s.rows = map[string][]*matrix.Extension{}
	}
	s.rows[name] = rows
	return rows
}

func sameArch(a, b string) bool {
	return a == b || a == "aarch64" && b == "arm64" || a == "arm64" && b == "aarch64"
}

// known reports whether the matrix knows a package on any system; others are
// passed through to the installer.
func (s *scene) known(name string) bool {
	return slices.ContainsFunc(s.m.Extensions, func(e matrix.Extension) bool { return e.Package == name })
}

// packageRefusal says why no wheel of a requested package goes with a build.
func (q *question) packageRefusal(r Requirement, b *matrix.Build) *Reason {
	if r.URL != "" || !q.known(r.Name) {
		return nil
	}
	rows := q.wheels(r.Name)
	if len(rows) == 0 {
		return q.no("", "%s has no wheel for %s %s", r.Name, q.h.Platform.OS, q.h.Platform.Arch)
	}
	var nearest *matrix.Extension
	why := ""
	for _, e := range rows {
		w := q.wheelRefusal(r, e, b)
		if w == "" {
			return nil
		}
		if nearest == nil && r.Spec.Admits(e.Version) { // the newest that the request admits
			nearest, why = e, w
		}
		if !q.explain && nearest != nil {
			continue
		}
	}
	if nearest == nil {
		return q.no("", "no wheel of %s is known that %s admits; the newest known is %s", r.Name, clip(r.Text), rows[0].Version)
	}
	return q.no(nearest.Source, "%s %s %s", r.Name, nearest.Version, why)
}

// wheelRefusal says in a few words why one wheel does not go with a build, ""
// where it does.
func (q *question) wheelRefusal(r Requirement, e *matrix.Extension, b *matrix.Build) string {
	switch {
	case !r.Spec.Admits(e.Version):
		return "is not what was asked for"
	case e.Sdist:
		return "is only a source distribution: it has to be built"
	case e.Python != "" && !q.py.fits(e.Python):
		return "has no wheel for Python " + q.py.String() + " (" + e.Python + ")"
	case !e.Torch.Admits(b.Release.Torch):
		return "needs torch" + e.Torch.String()
	case len(e.TorchLabels) > 0 && !slices.Contains(e.TorchLabels, b.Label):
		return "loads beside " + strings.Join(e.TorchLabels, ", ") + " only"
	}
	if e.CUDA == "" {
		return q.tooOldFor(e)
	}
	if q.accel != cuda {
		return "is built for CUDA " + e.CUDA
	}
	major, _, _ := strings.Cut(e.CUDA, ".")
	if bm, _, _ := strings.Cut(b.CUDA.String(), "."); bm != major {
		return "is built for CUDA " + e.CUDA
	}
	if w := q.tooOldFor(e); w != "" {
		return w
	}
	if len(e.Native)+len(e.PTX) == 0 {
		return "" // its code was not read
	}
	for _, g := range q.gpus {
		if native, ptx := q.m.ExtensionCovers(e, g.SM); !native && !ptx {
			return "has no code for " + gpuName(g)
		}
	}
	return ""
}

func (q *question) tooOldFor(e *matrix.Extension) string {
	if e.MinSM.IsZero() || q.accel != cuda {
		return ""
	}
	for _, g := range q.gpus {
		if g.SM.Less(e.MinSM) {
			return "needs GPU " + e.MinSM.String() + " or newer; here is " + gpuName(g)
		}
	}
	return ""
}
