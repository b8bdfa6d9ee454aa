package resolver

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// noFile says why a release of a package has no wheel for this Python and system, by
// the names of its files; "" it has one, or nobody looked.
func (q packages) noFile(e *matrix.Extension) string {
	if q.a.py.major == 0 {
		return ""
	}
	return remembered(q.a.p.cache.files, fileKey{e.Package, e.Version.String(), q.a.p.libc, q.a.py}, func() string {
		return whyNoFile(q.a.p.m, e.Package, e.Version, q.a.py.String(), q.a.p.h.Platform)
	})
}

// libcOf is what else of a machine decides about its files: a session sees many.
func libcOf(p machine.Platform) string {
	if p.Libc == nil {
		return p.DistroVersion
	}
	return p.DistroVersion + p.Libc.Kind + p.Libc.Version.String()
}

func whyNoFile(m *matrix.Matrix, name string, v version.Python, python string, p machine.Platform) string {
	fit := m.Fits(name, v, python, p)
	if fit == matrix.FitUnknown || fit == matrix.FitWheel {
		return ""
	}
	switch floor := floorOf(m, name, v, python, p); {
	case fit == matrix.FitSource && floor != "":
		return floor + ": its source distribution would have to be built"
	case fit == matrix.FitSource:
		return fmt.Sprintf("is only a source distribution for Python %s here: it has to be built", python)
	case floor != "":
		return floor
	}
	return fmt.Sprintf("has no wheel for Python %s on %s %s", python, p.OS, p.Arch)
}

// floorOf says what of the system is too old for the wheels of a release; "" none would
// be for this Python on a newer one either.
func floorOf(m *matrix.Matrix, name string, v version.Python, python string, p machine.Platform) string {
	anySystem := p
	anySystem.Libc, anySystem.DistroVersion = nil, ""
	if m.Fits(name, v, python, anySystem) != matrix.FitWheel {
		return ""
	}
	for _, f := range m.FilesOf(name, v) {
		switch {
		case f.OS != p.OS || f.Arch != "" && f.Arch != p.Arch:
		case p.OS == "macos" && !f.MacOS.IsZero():
			return fmt.Sprintf("needs macOS %s; this system has %s", f.MacOS, p.DistroVersion)
		case p.Libc != nil && p.Libc.Kind == "musl":
			return "has no wheel for musl"
		case p.Libc != nil && !f.Glibc.IsZero():
			return fmt.Sprintf("needs glibc %s; this system has %s", f.Glibc, p.Libc.Version)
		}
	}
	return fmt.Sprintf("has no wheel for Python %s here", python)
}

// noneToInstall says what a wheel pins that has no file for this Python and system, so
// that no installer can meet it; "" nothing.
func (q packages) noneToInstall(e *matrix.Extension) string {
	for _, n := range q.a.p.cache.needs[e.Package] {
		if n.Fails != matrix.FailsInstall || !q.a.p.cache.admits(n.Versions, e.Version) {
			continue
		}
		if why := q.noFileIn(n.Of, n.Range); why != "" {
			return fmt.Sprintf("needs %s%s, %s", n.Of, n.Range, why)
		}
	}
	return ""
}

// noFileIn says why no version of a package within some limits has a wheel for this
// Python and system, by the names of its files; "" one has, or nobody looked.
func (q packages) noFileIn(name string, limits ...version.Specifier) string {
	key := fileKey{name, "", q.a.p.libc, q.a.py}
	for _, s := range limits {
		key.version += s.String() + ";"
	}
	return remembered(q.a.p.cache.files, key, func() string { return q.whyNone(name, limits) })
}

// versionsOf are the releases of a package of which the files are known.
func (s *problem) versionsOf(name string) []version.Python {
	return remembered(s.cache.versions, name, func() []version.Python { return s.m.VersionsOf(name) })
}

// releasesOf are the releases that a requirement admits, by files or by rows, newest first.
func (s *problem) releasesOf(r pep508.Requirement) []version.Python {
	known := slices.Concat(s.versionsOf(r.Name), text.Each(s.wheels(r.Name), func(e *matrix.Extension) version.Python { return e.Version }))
	known = slices.DeleteFunc(known, func(v version.Python) bool { return !s.cache.admits(r.Spec, v) })
	slices.SortFunc(known, func(a, b version.Python) int { return b.Compare(a) })
	return slices.CompactFunc(known, func(a, b version.Python) bool { return a.Compare(b) == 0 })
}

func (q packages) whyNone(name string, limits []version.Specifier) string {
	known := q.a.p.versionsOf(name)
	if len(known) == 0 {
		return ""
	}
	newest := version.Python{}
	for _, v := range known {
		if v.IsPreRelease() || slices.ContainsFunc(limits, func(s version.Specifier) bool { return !q.a.p.cache.admits(s, v) }) {
			continue
		}
		if q.noFile(&matrix.Extension{Package: name, Version: v}) == "" {
			return ""
		}
		if newest.IsZero() || v.Compare(newest) > 0 {
			newest = v
		}
	}
	if newest.IsZero() { // of a pre-release the files are not listed: it may be out, as a source
		what := say.Either(slices.ContainsFunc(limits, version.Specifier.NamesPreRelease), "wheel is known", "release is out")
		return fmt.Sprintf("of which no %s (data of %s)", what, q.a.p.m.Date)
	}
	return fmt.Sprintf("and %s %s %s", name, newest, q.noFile(&matrix.Extension{Package: name, Version: newest}))
}

// onlySource is a row of a package whose releases are all source distributions, as far
// as the matrix knows them: those that it does not know are no wheels either. nil: it
// has wheels, or names one file.
func (s *problem) onlySource(r pep508.Requirement) *matrix.Extension {
	rows := s.wheels(r.Name)
	if r.URL != "" || len(rows) == 0 || slices.ContainsFunc(rows, func(e *matrix.Extension) bool { return !e.Sdist }) {
		return nil
	}
	return rows[0]
}

// ofOtherSystem is the wheel of a release that by its name is for every system, and whose
// libraries, which were read, are for another one than this; nil: nothing says so.
func (q packages) ofOtherSystem(r pep508.Requirement) *matrix.Extension {
	for _, e := range q.a.p.cache.byPackage()[r.Name] {
		if e.OS == "" || e.OS == q.a.p.h.Platform.OS || e.Proof != matrix.ByWheel || !q.a.p.cache.admits(r.Spec, e.Version) {
			continue
		}
		files := q.a.p.m.FilesOf(r.Name, e.Version)
		if len(files) > 0 && !slices.ContainsFunc(files, func(f matrix.Files) bool { return f.OS != "" }) {
			return e
		}
	}
	return nil
}
