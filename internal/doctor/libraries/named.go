package libraries

import (
	"cmp"
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/say"
)

// nvJitLink: symbols of nvJitLink end in the version of the CUDA that brought them;
// a package older than the symbol cannot have it.
// Source: pytorch/pytorch issue 111469.
func nvJitLink(e *evidence.Evidence, out *evidence.Findings) {
	h := e.Hit("nvjitlink-symbol")
	if h == nil || h.Captures["minor"] == "" {
		return
	}
	p := e.Installed("nvidia-nvjitlink-cu" + h.Captures["major"])
	if p == nil {
		return
	}
	asked, has := evidence.Dotted(h.Captures["major"]+"."+h.Captures["minor"]), evidence.Dotted(p.Version)
	if has.IsZero() || !has.Less(asked) {
		return
	}
	out.Find("LD003", evidence.Likely.Exact(), p.At, h.At).
		Says("%s is %s, and the library that asks for its symbol is of CUDA %s", p.Name, p.Version, asked).
		Do(
			fmt.Sprintf("`pip install --force-reinstall torch==%s`, which brings the packages it was built with",
				cmp.Or(e.Torch.Version, "VERSION")),
		)
}

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

// toolkitVersion finds the version in the path of a CUDA toolkit.
var toolkitVersion = lazy.Regexp(`cuda[-/](\d{1,2}\.\d)\b`)

// olderNVRTC: torch's own NVRTC knows every GPU its build is for. Where the loader's
// path has an older CUDA, that one's NVRTC is asked.
func olderNVRTC(e *evidence.Evidence, out *evidence.Findings) {
	s, ok := e.Has("nvrtc-arch")
	if !ok || e.Torch.CUDA.IsZero() {
		return
	}
	path := e.Machine.Env["LD_LIBRARY_PATH"]
	for _, m := range toolkitVersion().FindAllStringSubmatch(path, -1) {
		if v := evidence.Dotted(m[1]); v.Less(e.Torch.CUDA) {
			out.Find("LD001", evidence.Likely, e.From.Env["LD_LIBRARY_PATH"], s).
				Says("LD_LIBRARY_PATH puts CUDA %s before the NVRTC that torch brings, of CUDA %s", v, e.Torch.CUDA).
				Do("`unset LD_LIBRARY_PATH`, and remove the entry from the profile that sets it")
			return
		}
	}
}
