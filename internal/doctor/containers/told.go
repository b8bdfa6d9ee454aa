package containers

import (
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
)

// staleCDI: a description that names what is gone breaks every container with a GPU.
func staleCDI(e *evidence.Evidence, out *evidence.Findings) {
	if e.Around == nil {
		return
	}
	d := e.Machine.Driver
	for _, s := range e.Around.CDI {
		other := false
		if v, err := version.ParseDotted(s.Driver); err == nil && d != nil && !d.Version.IsZero() {
			other = v.Compare(d.Version) != 0
		}
		switch {
		case other:
			out.Find("CTR008", evidence.Likely, evidence.Fact("%s names libraries of driver %s", s.File, s.Driver), e.From.Driver).
				Says("the CDI description %s is of driver %s, and this is %s: containers do not start with a GPU", s.File, s.Driver, d.Version).
				As(evidence.Warning)
		case len(s.Gone) > 0:
			out.Find("CTR008", evidence.Likely, evidence.Fact("%s names %s", s.File, strings.Join(s.Gone[:min(3, len(s.Gone))], " "))).
				Says("the CDI description %s names what is not there, %s first: containers do not start with a GPU", s.File, s.Gone[0]).
				As(evidence.Warning)
		}
	}
}

// runtimeImage: images named …-runtime hold neither nvcc nor headers; those named …-devel do.
func runtimeImage(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	image := e.Containers.Runtime
	if image == "" {
		return
	}
	for _, f := range found.Of("TK013", "TK003") {
		devel := image[:strings.LastIndex(image, "-")] + "-devel"
		out.Anew(f).Do("the image "+devel+" in place of "+image+": it has the compiler and the headers",
			"or take a wheel that is built already")
	}
}
