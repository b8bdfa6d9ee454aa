package libraries

import (
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/say"
)

// cudnnLoaded finds the cuDNN that JAX or torch says was loaded.
var cudnnLoaded = lazy.Regexp(`(?i)Loaded runtime CuDNN library: (\d+)\.(\d+)\.(\d+)|` +
	`(?:found(?: runtime version)?|linked against) \((\d+), (\d+), (\d+)\)`)

// loadedCuDNN: the cuDNN that was loaded is that of the environment's package.
func loadedCuDNN(e *evidence.Evidence, out *evidence.Findings) {
	s, ok := e.Has("jax-cudnn", "cudnn-version-incompatible")
	m := cudnnLoaded().FindStringSubmatch(s.Text)
	if !ok || m == nil {
		return
	}
	loaded := say.Either(m[1] == "", strings.Join(m[4:7], "."), strings.Join(m[1:4], "."))
	for _, p := range e.Packages {
		if library, _, ok := evidence.NVIDIAPackage(p.Name); ok && library == "cudnn" &&
			strings.HasPrefix(p.Version+".", loaded+".") {
			out.Find("LD003", evidence.Likely, s, p.At).
				Says("the cuDNN that is loaded, %s, is that of the package %s; the program was built for another",
					loaded, p.Name).
				Do("an environment for each of the two frameworks, or releases of both for one cuDNN")
			return
		}
	}
}
