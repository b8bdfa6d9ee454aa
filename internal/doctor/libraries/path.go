package libraries

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/matrix"
)

// loaderPath: what LD_LIBRARY_PATH of a paste or of facts puts before the wheel's own
// libraries; where the files are here, the walk of the loader tells.
func loaderPath(e *evidence.Evidence, out *evidence.Findings) {
	value := e.Machine.Env["LD_LIBRARY_PATH"]
	if value == "" || e.Files != nil {
		return
	}
	said := e.From.Env["LD_LIBRARY_PATH"]
	trouble, inTrouble := e.Has(e.Limit("library-trouble").Values...)
	failing := e.Torch.SeesNone() || len(e.Hits) > 0
	var shadowing []string
	for entry := range strings.SplitSeq(value, ":") {
		low := strings.ToLower(strings.TrimRight(entry, "/"))
		switch {
		case strings.HasSuffix(low, "/stubs"):
			out.Find("DRV008", evidence.Proven, said).
				Say("LD_LIBRARY_PATH holds the stub libraries of a toolkit: " + entry)
		case strings.Contains(low, "/compat"):
			if failing {
				out.Find("CTR011", evidence.Likely, said).
					Say("LD_LIBRARY_PATH puts a compatibility libcuda before the driver's: " + entry)
			}
		case strings.Contains(low, "site-packages"):
		case slices.ContainsFunc(strings.Fields("libtorch cuda cudnn nccl tensorrt"), func(name string) bool { return strings.Contains(low, name) }):
			shadowing = append(shadowing, entry)
		}
	}
	if len(shadowing) > 0 && inTrouble {
		out.Find("LD001", evidence.Likely.Exact(), said, trouble).
			Say("LD_LIBRARY_PATH puts other CUDA libraries before those of the wheel: " + evidence.Listed(shadowing)).
			Do("`unset LD_LIBRARY_PATH`, and remove the entry from the profile that sets it")
	}
}

// pipLibraries: two packages write the same files, or one is not the version that
// torch was built with.
func pipLibraries(e *evidence.Evidence, out *evidence.Findings) {
	byLibrary := map[string]evidence.Package{}
	var pairs [][2]evidence.Package
	b, known := e.Build()
	trouble, inTrouble := e.Has(e.Limit("library-trouble").Values...)
	for _, p := range e.Packages {
		library, major, ok := evidence.NVIDIAPackage(p.Name)
		if !ok {
			continue
		}
		if o, both := byLibrary[library]; both && o.Name != p.Name && overlap(e, o.Name, p.Name) {
			pairs = append(pairs, [2]evidence.Package{o, p})
		}
		byLibrary[library] = p
		if !known || fmt.Sprint(b.CUDA.Major()) != major {
			continue
		}
		if pin := pinOf(b, library); pin != "" && pin != p.Version {
			w := say.Either(inTrouble, evidence.Likely, evidence.Weak.Exact())
			out.Find("LD003", w, p.At, trouble).
				Says("%s is %s, and torch %s was built with %s", p.Name, p.Version, e.Torch.Named(), pin).
				Do(fmt.Sprintf("`pip install %s==%s`", p.Name, pin)).
				Mends(e.Repair().Rebuild(p.Path + "/"))
		}
	}
	twice(e, out, b, pairs, trouble)
}

// overlap reports whether two packages bring a library of the same name; where their lists
// of files were not read, it is taken for granted.
func overlap(e *evidence.Evidence, a, b string) bool {
	lists := map[string][]string{}
	if e.Files != nil {
		for _, d := range e.Files.Dists {
			lists[d.Name] = d.Libraries
		}
	}
	return len(lists[a]) == 0 || len(lists[b]) == 0 || slices.ContainsFunc(lists[a], func(file string) bool { return slices.Contains(lists[b], file) })
}

// twice: packages of two CUDA major versions write the same files.
func twice(e *evidence.Evidence, out *evidence.Findings, b *matrix.Build, pairs [][2]evidence.Package, trouble evidence.Quote) {
	if len(pairs) == 0 {
		return
	}
	var at []evidence.Quote
	var away, back, libraries []string
	path := ""
	for _, pair := range pairs {
		for _, p := range pair {
			library, major, _ := evidence.NVIDIAPackage(p.Name)
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
	weight := say.Either(trouble.IsZero() && e.Pasted, evidence.Strong, evidence.Proven)
	fix := "`pip install --force-reinstall` the ones of torch's CUDA"
	if len(back) > 0 {
		fix = "`pip install --force-reinstall --no-deps " + strings.Join(back, " ") + "`, of torch's CUDA"
	}
	first, _, _ := evidence.NVIDIAPackage(pairs[0][0].Name)
	text := fmt.Sprintf("%s and %s both write nvidia/%s/lib: the one installed last wins", away[0], away[1], first)
	if len(libraries) > 1 {
		text += "; so it is with " + strings.Join(libraries[1:], ", ")
	}
	f := out.Find("LD003", weight, append(at[:min(4, len(at))], trouble)...).
		Say(text).
		Do("`pip uninstall -y " + strings.Join(away, " ") + "`, then " + fix).
		Mends(e.Repair().Rebuild(path + "/"))
	if len(back) > 0 && !slices.ContainsFunc(back, func(spec string) bool { return !whole(e, spec) }) {
		f.Say(text + ", and that is torch's here").As(evidence.Warning)
	}
}

// whole reports whether the files of a package were compared with its list, and are those.
func whole(e *evidence.Evidence, spec string) bool {
	name, _, _ := strings.Cut(spec, "==")
	return e.Files != nil && slices.ContainsFunc(e.Files.Dists, func(d machine.DistFiles) bool {
		return d.Name == name && d.Files > 0 && d.Absent == 0 && len(d.Resized) == 0
	})
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

// olderLibraries: a build for a CUDA from before the GPU may compile its kernels
// anew, but cuBLAS and cuDNN of that CUDA fail on it.
func olderLibraries(e *evidence.Evidence, out *evidence.Findings) {
	said, ok := e.Has("cublas-status", "cudnn-status", "cufft-status", "cudnn-engine", "cudnn-arch")
	if !ok || e.Matrix == nil {
		return
	}
	cuda, where := e.Torch.CUDA, e.Torch.CUDAAt
	if _, asked := e.Did.CondaAsked(); cuda.IsZero() && !asked.IsZero() {
		cuda, where = asked, e.Did.CondaCUDA
	}
	if cuda.IsZero() && e.Torch.Version == "" {
		cuda, where = e.Says.CUDAVersion, e.Says.CUDA
	}
	for _, g := range e.Machine.GPUs {
		a, known := e.Matrix.Arch(g.SM)
		if g.Vendor != machine.NVIDIA || !known || cuda.IsZero() {
			continue
		}
		if first := evidence.Dotted(a.FirstCUDA); cuda.Less(first) { // torch's own kernels may run all the same: code for 8.6 serves 8.9
			out.Find("ARC001", evidence.Likely, said, where, e.From.GPU).
				Says("the libraries of CUDA %s are older than the %s, which needs %s", cuda, evidence.NameOf(g), first).
				Do("{torch}")
			return
		}
	}
}

// fourier: cuFFT of a CUDA before 11.8 fails on Ada and Hopper, though all else of
// that build runs there. Elsewhere the same error means that memory ran out.
// Source: pytorch/pytorch issues 88038 and 119420.
func fourier(e *evidence.Evidence, out *evidence.Findings) {
	said, ok := e.Has("cufft-status")
	if !ok {
		return
	}
	first := evidence.Dotted(e.Limit("cufft-ada").Values[0])
	for _, g := range e.Machine.GPUs {
		switch {
		case g.Vendor != machine.NVIDIA || g.SM.IsZero():
		case g.SM.Less(e.LimitSM("cufft-ada", 1)) || !e.Torch.CUDA.IsZero() && !e.Torch.CUDA.Less(first):
			out.Find("CODE010", evidence.Hint, said)
		default:
			out.Find("ARC001", evidence.Likely, said, e.From.GPU, e.Torch.CUDAAt).
				Says("cuFFT of a CUDA before %s fails on the %s", first, evidence.NameOf(g)).
				Do("{torch}")
			return
		}
	}
}
