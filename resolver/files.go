package resolver

import (
	"fmt"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// noFile says why a release of a package has no wheel for this Python and system, by
// the names of its files; "" it has one, or nobody looked.
func (q *question) noFile(e *matrix.Extension) string {
	if q.py.major == 0 {
		return ""
	}
	p := q.h.Platform
	libc := p.DistroVersion // what else of a machine decides: a session sees many
	if p.Libc != nil {
		libc += p.Libc.Kind + p.Libc.Version.String()
	}
	key := fileKey{e.Package, e.Version.String(), q.py.String(), libc}
	why, known := q.cache.files[key]
	if !known {
		why = whyNoFile(q.m, e.Package, e.Version, q.py.String(), p)
		q.cache.files[key] = why
	}
	return why
}

func whyNoFile(m *matrix.Matrix, name string, v version.Python, python string, p machine.Platform) string {
	switch m.Fits(name, v, python, p) {
	case matrix.FitUnknown, matrix.FitWheel:
		return ""
	case matrix.FitSource:
		return fmt.Sprintf("is only a source distribution for Python %s here: it has to be built", python)
	}
	anySystem := p
	anySystem.Libc, anySystem.DistroVersion = nil, ""
	if m.Fits(name, v, python, anySystem) != matrix.FitWheel {
		return fmt.Sprintf("has no wheel for Python %s on %s %s", python, p.OS, p.Arch)
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
