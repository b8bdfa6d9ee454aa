package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/matrix"
)

// libraryRules look at which shared library wins.
var libraryRules = []rule{
	{[]string{"DRV008", "CTR011", "LD001", "LD006"}, "LD_LIBRARY_PATH", (*exam).loaderPath},
	{[]string{"DRV008", "LD014"}, "LD_PRELOAD", (*exam).preloaded},
	{[]string{"DRV008", "CTR011", "LD001", "LD002"}, "the file that a library resolves to", (*exam).resolved},
	{[]string{"LD003", "LD009"}, "the nvidia-* packages of the environment", (*exam).pipLibraries},
	{[]string{"LD003"}, "an undefined symbol of a library and the packages that bring it", (*exam).symbolOwner},
	{[]string{"ARC001"}, "an error of cuBLAS or cuDNN, and a CUDA older than the GPU", (*exam).olderLibraries},
	{[]string{"ARC001", "CODE010"}, "an error of cuFFT and the GPU's capability", (*exam).fourier},
	{[]string{"REL001"}, "torch's version and the known defects", (*exam).defects},
}

// libraryTrouble are the messages that a foreign library of CUDA brings about.
var libraryTrouble = []string{
	"torch-own-symbol", "nvjitlink-symbol", "nccl-symbol", "cublas-symbol", "cudnn-version-incompatible",
	"cudnn-sublibrary", "cudnn-engine", "cublas-not-initialized", "cublas-status", "jax-cudnn",
}

// loaderPath: what LD_LIBRARY_PATH puts before the wheel's own libraries.
func (e *exam) loaderPath() {
	value, set := e.Machine.Env["LD_LIBRARY_PATH"]
	if !set || value == "" {
		return
	}
	said := e.From.Env["LD_LIBRARY_PATH"]
	trouble, inTrouble := e.has(libraryTrouble...)
	failing := e.unavailable() || len(e.Hits) > 0
	var shadowing []string
	for entry := range strings.SplitSeq(value, ":") {
		low := strings.ToLower(strings.TrimRight(entry, "/"))
		switch {
		case strings.HasSuffix(low, "/stubs"):
			e.find("DRV008", proven, said).
				text("LD_LIBRARY_PATH holds the stub libraries of a toolkit: " + entry).
				mend(e.without("LD_LIBRARY_PATH", entry, "its libcuda is a stub for linking"))
		case strings.Contains(low, "/compat"):
			if failing {
				e.find("CTR011", likely, said).
					text("LD_LIBRARY_PATH puts a compatibility libcuda before the driver's: " + entry).
					mend(e.without("LD_LIBRARY_PATH", entry, "its libcuda comes before the driver's"))
			}
		case strings.Contains(low, "site-packages"):
		case strings.Contains(low, "libtorch"),
			strings.Contains(low, "cuda"),
			strings.Contains(low, "cudnn"),
			strings.Contains(low, "nccl"),
			strings.Contains(low, "tensorrt"):
			shadowing = append(shadowing, entry)
		}
	}
	if len(shadowing) == 0 {
		return
	}
	text := "LD_LIBRARY_PATH puts other CUDA libraries before those of the wheel: " + listed(shadowing)
	fix := []string{"`unset LD_LIBRARY_PATH`, and remove the entry from the profile that sets it"}
	if inTrouble {
		e.find("LD001", likely+5, said, trouble).text(text).fix(fix...).explains("PY011")
	} else if !e.Pasted {
		// Whether it does harm is in the files: those of the wheel win or lose there.
		e.find("LD006", trifle, said).text(text).fix(fix...).severity(know.Note)
	}
}

// preloaded: LD_PRELOAD puts a library of CUDA into every process, before torch's
// own and before the driver's.
func (e *exam) preloaded() {
	if e.Pasted {
		return // what people paste of it, messages.yaml reads
	}
	said := e.From.Env["LD_PRELOAD"]
	for _, entry := range strings.FieldsFunc(e.Machine.Env["LD_PRELOAD"], func(r rune) bool {
		return r == ':' ||
			r == ' '
	}) { // ld.so(8)
		base := strings.ToLower(entry[strings.LastIndex(entry, "/")+1:])
		fix := []string{"`unset LD_PRELOAD`, and remove the entry from the profile that sets it"}
		switch {
		case strings.HasPrefix(base, "libcuda.so") && strings.Contains(entry, "/stubs/"):
			e.find("DRV008", proven, said).
				text("LD_PRELOAD puts a stub of libcuda before the driver's: " + entry).
				fix(fix...).
				mend(e.without("LD_PRELOAD", entry, "its libcuda is a stub for linking"))
		case e.Files != nil && slices.ContainsFunc(e.Files.Loaded, func(l machine.LoadedLibrary) bool { return l.Via == "LD_PRELOAD" && l.Entry == entry }):
			// what it takes the place of is known
		case preloadable().MatchString(base):
			e.find("LD014", strong, said).
				text("LD_PRELOAD puts another library before torch's own: " + entry).
				fix(fix...).
				mend(e.without("LD_PRELOAD", entry, "it replaces torch's own library in every process"))
		}
	}
}

// preloadable are the libraries that torch brings itself, or the driver.
var preloadable = lazy.Regexp(`^lib(cuda|cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvjitlink|` +
	`torch|c10)[\w]*\.so`)

// resolved: a library is taken from where torch did not put it.
func (e *exam) resolved() {
	for _, l := range e.Libraries {
		low := strings.ToLower(l.Path)
		switch {
		case strings.HasPrefix(l.Name, "libcuda.so") && strings.Contains(low, "/stubs"):
			e.find("DRV008", proven, l.At).text("libcuda is the stub of a toolkit: " + l.Path)
		case strings.HasPrefix(l.Name, "libcuda.so") && strings.Contains(low, "/compat"):
			e.find("CTR011", likely, l.At).text("libcuda is that of a compatibility package: " + l.Path)
		case strings.HasPrefix(l.Name, "libstdc++"), strings.HasPrefix(l.Name, "libcuda.so"), strings.HasPrefix(l.Name, "libnvidia-ml"):
		case strings.Contains(low, "site-packages"),
			strings.Contains(low, "dist-packages"),
			strings.HasPrefix(low, "..."),
			strings.Contains(low, "/nvidia/"):
		default:
			s, trouble := e.has(libraryTrouble...)
			w := proven
			if !trouble {
				w = strong
			}
			if trouble || e.Pasted {
				e.find("LD001", w, l.At, s).
					says("%s is taken from %s in place of the wheel's", l.Name, l.Path).
					fix("`unset LD_LIBRARY_PATH`, or remove " + l.Path + " from the loader's path")
			}
		}
	}
}

// nvidiaPackage splits nvidia-cudnn-cu12 into cudnn and 12.
func nvidiaPackage(name string) (library, major string, ok bool) {
	rest, ok := strings.CutPrefix(name, "nvidia-")
	i := strings.LastIndex(rest, "-cu1")
	if !ok || i < 0 {
		return "", "", false
	}
	return rest[:i], rest[i+3:], true
}

// pipLibraries: two packages write the same files, or one is not the version that
// torch was built with.
func (e *exam) pipLibraries() {
	byLibrary := map[string]read.Package{}
	var pairs [][2]read.Package
	b, known := e.build()
	trouble, inTrouble := e.has(append([]string{"nvjitlink-symbol"}, libraryTrouble...)...)
	for _, p := range e.Packages {
		library, major, ok := nvidiaPackage(p.Name)
		if !ok {
			continue
		}
		if o, both := byLibrary[library]; both && o.Name != p.Name {
			pairs = append(pairs, [2]read.Package{o, p})
		}
		byLibrary[library] = p
		if !known || fmt.Sprint(b.CUDA.Major()) != major {
			continue
		}
		if pin := pinOf(b, library); pin != "" && pin != p.Version {
			w := weak + 3
			if inTrouble {
				w = likely
			}
			e.find("LD003", w, p.At, trouble).
				says("%s is %s, and torch %s was built with %s", p.Name, p.Version, withLabel(e.Torch), pin).
				fix(fmt.Sprintf("`pip install %s==%s`", p.Name, pin)).
				mend(e.rebuild(p.Path + "/"))
		}
	}
	e.twice(b, pairs, trouble)
}

// twice: packages of two CUDA major versions write the same files.
func (e *exam) twice(b *matrix.Build, pairs [][2]read.Package, trouble read.Evidence) {
	if len(pairs) == 0 {
		return
	}
	var at []read.Evidence
	var away, back, libraries []string
	path := ""
	for _, pair := range pairs {
		for _, p := range pair {
			library, major, _ := nvidiaPackage(p.Name)
			at, away, path = append(at, p.At), append(away, p.Name), p.Path
			if e.Torch.CUDA.IsZero() || fmt.Sprint(e.Torch.CUDA.Major()) != major {
				continue
			}
			if pin := pinOf(b, library); pin != "" {
				p.Name += "==" + pin
			}
			back, libraries = append(back, p.Name), append(libraries, library)
		}
	}
	weight := proven
	if trouble.IsZero() && e.Pasted {
		weight = strong
	}
	fix := "`pip install --force-reinstall` the ones of torch's CUDA"
	if len(back) > 0 {
		fix = "`pip install --force-reinstall --no-deps " + strings.Join(back, " ") + "`, of torch's CUDA"
	}
	first, _, _ := nvidiaPackage(pairs[0][0].Name)
	text := fmt.Sprintf("%s and %s both write nvidia/%s/lib: the one installed last wins", away[0], away[1], first)
	if len(libraries) > 1 {
		text += "; so it is with " + strings.Join(libraries[1:], ", ")
	}
	e.find("LD003", weight, append(at[:min(4, len(at))], trouble)...).
		text(text).
		fix("`pip uninstall -y " + strings.Join(away, " ") + "`, then " + fix).
		mend(e.rebuild(path + "/")).
		explains("PY011")
}

func pinOf(b *matrix.Build, library string) string {
	if b == nil {
		return ""
	}
	switch library {
	case "cudnn":
		return b.CuDNN.String()
	case "nccl":
		return b.NCCL.String()
	}
	return b.Pins[library]
}

// symbolOwner: an undefined symbol of NCCL where the loader's path is set points
// there; without it, to the packages. libcublas and libcublasLt are of one package
// and always fit: where libcublas misses a symbol of libcublasLt, the loader took
// that from elsewhere.
func (e *exam) symbolOwner() {
	s, ok := e.has("nccl-symbol", "cublas-symbol")
	if !ok {
		return
	}
	if v := e.Machine.Env["LD_LIBRARY_PATH"]; v != "" {
		return
	}
	for _, name := range []string{"tensorflow", "jax", "cupy", "onnxruntime-gpu"} {
		if p := e.Installed(name); p != nil {
			e.find("LD003", likely, s, p.At).
				text("another package of the environment brought its own CUDA libraries: " + name)
			return
		}
	}
	if cublasLt().MatchString(s.Text) {
		e.find("LD001", message+3, s).
			says("libcublas and libcublasLt are of one package, and this libcublasLt is older: the loader takes it from elsewhere").
			fix("`unset LD_LIBRARY_PATH`, and see `ldconfig -p | grep cublasLt` for another CUDA").
			explains("LD009")
	}
}

// cublasLt finds the message that libcublas itself misses a symbol of libcublasLt.
var cublasLt = lazy.Regexp(`libcublas\.so\S*:? .{0,20}symbol:? cublasLt`)

// defects: this very build is known to be broken.
func (e *exam) defects() {
	if s, bad := e.has(
		"cudnn-sublibrary", "lib-missing-other", "vcruntime", "cuda-lib-missing", "mkl-symbol",
		"cublas-symbol", "image-invalid",
	); bad && strings.Contains(e.Torch.Version, ".dev") {
		e.find("REL001", likely+3, e.Torch.VersionAt, s).
			text("torch "+withLabel(e.Torch)+" is a nightly, and its libraries do not fit together").
			fix("the stable release, or another nightly", "see that no other cuDNN is on PATH or LD_LIBRARY_PATH")
	}
}

// olderLibraries: a build for a CUDA from before the GPU may compile its kernels
// anew, but cuBLAS and cuDNN of that CUDA fail on it.
func (e *exam) olderLibraries() {
	said, ok := e.has("cublas-status", "cudnn-status", "cufft-status", "cudnn-engine", "cudnn-arch")
	if !ok || e.Matrix == nil {
		return
	}
	cuda, where := e.Torch.CUDA, e.Torch.CUDAAt
	if m := read.CondaAsked().FindStringSubmatch(e.Did.CondaCUDA.Text); cuda.IsZero() && m != nil {
		cuda, where = dotted(m[1]), e.Did.CondaCUDA
	}
	if cuda.IsZero() && e.Torch.Version == "" {
		if where = e.Says.CUDA; where.IsZero() {
			return
		}
		cuda = dotted(cudaWords().FindStringSubmatch(where.Text)[1])
	}
	for _, g := range e.Machine.GPUs {
		a, known := e.Matrix.Arch(g.SM)
		if g.Vendor != machine.NVIDIA || !known || cuda.IsZero() {
			continue
		}
		if first := dotted(a.FirstCUDA); cuda.Less(first) { // torch's own kernels may run all the same: code for 8.6 serves 8.9
			e.find("ARC001", likely, said, where, e.From.GPU).
				says("the libraries of CUDA %s are older than the %s, which needs %s", cuda, nameOr(g), first).
				fix("{torch}").
				explains("LD009", "CODE009", "CODE010", "LD002", "CODE008")
			return
		}
	}
}

// cudaWords finds the CUDA that people say they have.
var cudaWords = lazy.Regexp(`(?i)` + read.CudaInWords)

// fourier: cuFFT of a CUDA before 11.8 fails on Ada and Hopper, though all else of
// that build runs there. Elsewhere the same error means that memory ran out.
// Source: pytorch/pytorch issues 88038 and 119420.
func (e *exam) fourier() {
	said, ok := e.has("cufft-status")
	if !ok {
		return
	}
	first := dotted(e.limit("cufft-ada").Values[0])
	for _, g := range e.Machine.GPUs {
		switch {
		case g.Vendor != machine.NVIDIA || g.SM.IsZero():
		case g.SM.Less(e.limitSM("cufft-ada", 1)) || !e.Torch.CUDA.IsZero() && !e.Torch.CUDA.Less(first):
			e.find("CODE010", hint, said)
		default:
			e.find("ARC001", likely, said, e.From.GPU, e.Torch.CUDAAt).
				says("cuFFT of a CUDA before %s fails on the %s", first, nameOr(g)).
				fix("{torch}")
			return
		}
	}
}
