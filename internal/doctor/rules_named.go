package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"envfix/internal/lazy"
)

// namedRules compare the version that a message names with those installed: where
// the package of the environment is the one at fault, no path is.
var namedRules = []rule{
	{[]string{"LD003"}, "the version of nvJitLink that a library asks for, and the package", (*exam).nvJitLink},
	{[]string{"LD003"}, "the version of cuDNN that a message says is loaded, and the package", (*exam).loadedCuDNN},
	{[]string{"LD001"}, "an architecture that NVRTC does not know, and the path's CUDA", (*exam).olderNVRTC},
	{[]string{"ROC001"}, "torch's list of AMD architectures and the GPU", (*exam).listedGFX},
}

// nvJitLink: symbols of nvJitLink end in the version of the CUDA that brought them;
// a package older than the symbol cannot have it.
// Source: pytorch/pytorch issue 111469.
func (e *exam) nvJitLink() {
	h := e.hit("nvjitlink-symbol")
	if h == nil || h.Captures["minor"] == "" {
		return
	}
	p := e.Installed("nvidia-nvjitlink-cu" + h.Captures["major"])
	if p == nil {
		return
	}
	asked, has := dotted(h.Captures["major"]+"."+h.Captures["minor"]), dotted(p.Version)
	if has.IsZero() || !has.Less(asked) {
		return
	}
	e.find("LD003", likely+10, p.At, h.At).
		says("%s is %s, and the library that asks for its symbol is of CUDA %s", p.Name, p.Version, asked).
		fix(
			fmt.Sprintf("`pip install --force-reinstall torch==%s`, which brings the packages it was built with",
				cmp.Or(e.Torch.Version, "VERSION")),
		).
		explains("LD001", "LD009")
}

// cudnnLoaded finds the cuDNN that JAX or torch says was loaded.
var cudnnLoaded = lazy.Regexp(`(?i)Loaded runtime CuDNN library: (\d+)\.(\d+)\.(\d+)|` +
	`(?:found(?: runtime version)?|linked against) \((\d+), (\d+), (\d+)\)`)

// loadedCuDNN: the cuDNN that was loaded is that of the environment's package.
func (e *exam) loadedCuDNN() {
	s, ok := e.has("jax-cudnn", "cudnn-version-incompatible")
	m := cudnnLoaded().FindStringSubmatch(s.Text)
	if !ok || m == nil {
		return
	}
	loaded := strings.Join(m[1:4], ".")
	if m[1] == "" {
		loaded = strings.Join(m[4:7], ".")
	}
	for _, p := range e.Packages {
		if library, _, ok := nvidiaPackage(p.Name); ok && library == "cudnn" &&
			strings.HasPrefix(p.Version+".", loaded+".") {
			e.find("LD003", likely, s, p.At).
				says("the cuDNN that is loaded, %s, is that of the package %s; the program was built for another",
					loaded, p.Name).
				fix("an environment for each of the two frameworks, or releases of both for one cuDNN").
				explains("LD002", "LD010")
			return
		}
	}
}

// toolkitVersion finds the version in the path of a CUDA toolkit.
var toolkitVersion = lazy.Regexp(`cuda[-/](\d{1,2}\.\d)\b`)

// olderNVRTC: torch's own NVRTC knows every GPU its build is for. Where the loader's
// path has an older CUDA, that one's NVRTC is asked.
func (e *exam) olderNVRTC() {
	s, ok := e.has("nvrtc-arch")
	if !ok || e.Torch.CUDA.IsZero() {
		return
	}
	path := e.Machine.Env["LD_LIBRARY_PATH"]
	for _, m := range toolkitVersion().FindAllStringSubmatch(path, -1) {
		if v := dotted(m[1]); v.Less(e.Torch.CUDA) {
			e.find("LD001", likely, e.From.Env["LD_LIBRARY_PATH"], s).
				says("LD_LIBRARY_PATH puts CUDA %s before the NVRTC that torch brings, of CUDA %s", v, e.Torch.CUDA).
				fix("`unset LD_LIBRARY_PATH`, and remove the entry from the profile that sets it").
				explains("TK010", "ARC001", "LD006")
			return
		}
	}
}

// listedGFX: torch's own list of architectures leaves the GPU out.
func (e *exam) listedGFX() {
	said := e.From.GFXList
	if said.IsZero() {
		return
	}
	for _, g := range e.Machine.GPUs {
		if g.GFX != "" && !strings.Contains(said.Text, g.GFX) {
			e.find("ROC001", proven, said, e.From.GFX).
				says("torch has kernels for other architectures, none for %s", g.GFX)
			return
		}
	}
}
