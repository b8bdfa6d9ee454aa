package wheels

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/xslices"
	"envfix/matrix"
)

var linuxOnly = lazy.Regexp(`(?i)(?:requirement|found for) (?:triton|vllm|nvidia-nccl-cu\d+|` +
	`nvidia-cufile-cu\d+|pytorch-triton)\b`)

// notFound: pip or uv found no version. The reason is in the index, the Python,
// or the platform, in the order of what is known.
func notFound(e *evidence.Evidence, out *evidence.Findings) {
	h := e.Wanted().Unfound()
	if h == nil {
		return
	}
	if label, said := badIndex(e); label != "" {
		out.Find("IDX002", evidence.Proven, said, h.At).
			Say("there is no index for " + label + " builds of torch").
			Do(indexFix(e, label)...)
		return
	}
	v, label, want := e.Wanted().Torch()
	if endsEarly(e, out, h, v) {
		return
	}
	if s, tags := e.Has("uv-python-tag"); tags {
		if _, elsewhere := e.Has("uv-index-platform"); !elsewhere {
			out.Find("PY012", evidence.Likely, s, h.At).Do(e.Python().Fix("")...)
			return
		}
	}
	p := e.Machine.Platform
	if linuxOnly().MatchString(h.At.Text) && (p.OS == "windows" || p.OS == "macos") {
		out.Find("IDX003", evidence.Likely.Exact(), h.At, e.From.OS).
			Says("this package has wheels for Linux alone").
			Do(say.Either(p.OS == "windows" && strings.Contains(strings.ToLower(h.At.Text), "triton"),
				"`python -m pip install triton-windows`, in the version for this torch, or leave it out", "leave it out: torch runs without it, or use WSL2"))
		return
	}
	label = cmp.Or(label, e.Wanted().Label())
	if s := e.Did.Index; foreign(h.At.Text) && ownIndex().MatchString(s.Text) {
		out.Deny("PY012")
		fix := []string{"torch by itself first, then the rest from the default index"}
		if url := ownURL().FindString(s.Text); url != "" {
			fix = []string{"torch by itself first: `pip install torch torchvision --index-url " + url + "`, then the rest without that flag"}
		}
		out.Find("IDX001", evidence.Likely, h.At, s).
			Says("PyTorch's index has PyTorch's packages alone, and it was made the only one").
			Do(append(fix, "or `--extra-index-url` in its place, where the default index's newest torch will do as well")...)
		return
	}
	if !noPlatformWheel(e, out, h, v, label) && !noPythonWheel(e, out, h, v, label, want) {
		otherIndex(e, out, h, v)
	}
}

// noPlatformWheel: no torch is published for this system or processor, or none of the
// builds that were asked for.
func noPlatformWheel(e *evidence.Evidence, out *evidence.Findings, h *evidence.Hit, v, label string) bool {
	p := e.Machine.Platform
	switch last := e.Limit("intel-mac").Torch; {
	case p.OS == "macos" && p.Arch == "x86_64" && (v == "" || evidence.PythonVersion(v).Compare(last) > 0):
		out.Find("IDX003", evidence.Likely, h.At, e.From.Arch).
			Says("torch %s is the last with wheels for Intel Macs", last).
			Do(intelMacFix(e, last.String())...)
	case e.Wanted().Wheelless():
		out.Find("IDX003", evidence.Likely, h.At, e.From.OS)
	case slices.Contains([]string{"i686", "32-bit", "win32"}, p.Arch):
		out.Find("PY012", evidence.Likely, h.At, e.From.Arch).
			Says("torch has no wheels for a 32-bit Python").
			Do("install a 64-bit Python")
	case p.OS == "windows" && strings.HasPrefix(label, "rocm"):
		out.Find("IDX003", evidence.Likely, h.At, e.From.OS).
			Say("PyTorch's index has the builds for ROCm for Linux alone").
			Do("on Windows: WSL 2 with AMD's driver for it, or the wheels of AMD's own for Windows, for the GPUs that it lists",
				"`envfix plan --build "+label+" --os linux` names what Linux has")
	case p.OS == "macos" && strings.HasPrefix(label, "cu"), p.OS == "linux" && p.Arch == "aarch64" &&
		strings.HasPrefix(label, "cu") && !aarch64Has(e, v, label):
		f := out.Find("IDX003", evidence.Likely, h.At).Say("there is no " + label + " build of torch for this platform")
		if p.OS == "macos" {
			f.Do("`pip install torch torchvision`, without the label: a Mac has no CUDA, and its builds use the device `mps`")
		}
	default:
		return false
	}
	return true
}

// noPythonWheel: this release has no wheel for this Python, or no build of that label.
func noPythonWheel(e *evidence.Evidence, out *evidence.Findings, h *evidence.Hit, v, label string, want bool) bool {
	python := e.Python().Active()
	switch {
	case python != "" && e.Python().Out(v, python):
		out.Find("PY012", evidence.Likely.Exact(), h.At, e.From.Python).
			Says("torch %s has no wheel for Python %s", cmp.Or(v, "of this index"), python).
			Do(e.Python().Fix(v)...)
	case want && label != "" && !labelExists(e, v, label):
		out.Find("IDX002", evidence.Likely, h.At).Says("torch %s has no %s build", v, label).Do(indexFix(e, label)...)
	default:
		return false
	}
	return true
}

// extraIndex: pip takes the newest release of all its indexes, and the extra one is not
// preferred. Source: pip.pypa.io, pip install, --extra-index-url.
func extraIndex(e *evidence.Evidence, out *evidence.Findings) {
	s := e.Did.Index
	m := evidence.IndexLabel().FindStringSubmatch(s.Text)
	if m == nil || !strings.Contains(s.Text, "--extra-index-url") || e.Torch.CUDA.IsZero() {
		return
	}
	wanted, ok := evidence.LabelCUDA(m[1])
	if !ok || wanted.MajorMinor() == e.Torch.CUDA.MajorMinor() {
		return
	}
	f := out.Find("IDX001", evidence.Likely, s, e.Torch.CUDAAt, e.Torch.VersionAt).
		Says("pip took the newest torch of all indexes (CUDA %s): --extra-index-url does not prefer %s",
			e.Torch.CUDA.MajorMinor(), m[1])
	command := "`pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/" + m[1] + "`"
	f.Do(command+": that index alone", "or leave it, where it works: the newer CUDA serves the same GPUs, but for old ones, with a driver that is new enough")
}

// intelMacFix is how to install the last torch for Intel Macs, which was built for NumPy 1.
// Source: pytorch/pytorch issue 107302 (NumPy 2 from torch 2.3 on).
func intelMacFix(e *evidence.Evidence, last string) []string {
	return append(e.Python().For(last), "there: `pip install torch=="+last+" \"numpy<2\"`")
}

func aarch64Has(e *evidence.Evidence, v, label string) bool {
	if e.Matrix == nil {
		return true
	}
	_, ok := e.Matrix.BuildOf(v, label, "linux", "aarch64")
	return ok
}

// labelExists reports whether a release has a build of a label on any platform;
// releases that the data does not hold are taken to have it.
func labelExists(e *evidence.Evidence, v, label string) bool {
	if e.Matrix == nil {
		return true
	}
	r, ok := e.Matrix.Release(v)
	return !ok || labelled(r, label)
}

func labelled(r *matrix.Release, label string) bool {
	return slices.ContainsFunc(r.Builds, func(b *matrix.Build) bool { return b.Label == label })
}

// badIndex is the label of an index URL under which there is nothing.
func badIndex(e *evidence.Evidence) (string, evidence.Quote) {
	s := e.Did.Index
	m := evidence.IndexLabel().FindStringSubmatch(s.Text)
	if m == nil || e.Matrix == nil || m[1] == "cpu" || m[1] == "xpu" || slices.Contains(e.Limit("old-indexes").Values, m[1]) ||
		slices.ContainsFunc(e.Matrix.Releases, func(r *matrix.Release) bool { return labelled(r, m[1]) }) {
		return "", evidence.Quote{}
	}
	return m[1], s
}

func indexFix(e *evidence.Evidence, label string) []string {
	kind, releases := "cu", 3
	if strings.HasPrefix(label, "rocm") {
		kind, releases = "rocm", 9
	}
	var have []string
	if e.Matrix != nil {
		for _, r := range e.Matrix.Releases[:min(releases, len(e.Matrix.Releases))] {
			for _, b := range r.Builds {
				if strings.HasPrefix(b.Label, kind) && len(have) < 6 {
					have = xslices.Add(have, b.Label)
				}
			}
		}
	}
	return []string{"`" + e.PlanCommand() + "` names the index; current ones are " + strings.Join(have, ", ")}
}

// noSuchIndex: an extra index that does not exist fails silently, and the
// default one answers with a CPU build.
func noSuchIndex(e *evidence.Evidence, out *evidence.Findings) {
	label, s := badIndex(e)
	if _, failed := e.Has("pip-no-version"); failed || label == "" {
		return
	}
	if e.Torch.Rank == evidence.ByTorch && strings.HasPrefix(e.Torch.Label, "cu") && e.Torch.Label != label {
		out.Find("IDX002", evidence.Likely, s, e.Torch.VersionAt).
			Says("there is no index for %s builds, so pip took another: %s", label, e.Torch.Label).
			Do(indexFix(e, label)...)
		return
	}
	if !e.Torch.SeesNone() && !e.Torch.NoCUDA {
		return
	}
	out.Find("PY001", evidence.Likely, s, e.Torch.AvailableAt).
		Say("there is no index for " + label + " builds, so pip took the default index's, which is not for this GPU").
		Do(indexFix(e, label)...)
}

// windowsDefault: on Windows the default index carries the CPU build alone.
func windowsDefault(e *evidence.Evidence, out *evidence.Findings) {
	said, told := e.Has("app-no-gpu", "torch-fallback-cpu")
	if e.Machine.Platform.OS != "windows" || !e.Torch.SeesNone() && !(told && e.GPU().Of(machine.NVIDIA)) ||
		!e.Torch.CUDA.IsZero() || e.Torch.NoCUDA || e.Torch.Label != "" {
		return
	}
	w := evidence.Weak
	s := e.Did.PipTorch
	// A wheel of PyTorch's own index shows its label in every list; that of the default
	// index for Windows has none, and is the CPU build.
	if p := e.Conda().PipPackage("torch"); p != nil && e.Torch.Rank == evidence.ByList && e.Did.Index.IsZero() {
		w, s = evidence.Likely, p.At
	}
	if !s.IsZero() && evidence.IndexLabel().FindString(s.Text) == "" {
		w = evidence.Strong.Exact()
	}
	out.Find("PY001", w, s, e.Torch.AvailableAt, said).
		Says("on Windows `pip install torch` brings the CPU build").
		Do("{torch}")
}
