package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// wheelRules look at what an installer could not find.
var wheelRules = []rule{
	{
		[]string{"IDX002", "PY012", "IDX003", "IDX001"},
		"what an installer did not find, the index, the Python and the platform", (*exam).notFound,
	},
	{[]string{"PY001", "IDX002"}, "an index that does not exist, and the torch that is there", (*exam).noSuchIndex},
	{[]string{"PY001", "PY016"}, "`pip install torch` on Windows", (*exam).windowsDefault},
	{[]string{"IDX001"}, "an extra index, and the build that came", (*exam).extraIndex},
}

var (
	wantedTorch = lazy.Regexp(`(?i)\btorch\s*==\s*(\d+(?:\.\d+)*(?:\.\*)?)(?:\+(\w[\w.]*))?`)
	linuxOnly   = lazy.Regexp(`(?i)(?:requirement|found for) (?:triton|vllm|nvidia-nccl-cu\d+|` +
		`nvidia-cufile-cu\d+|pytorch-triton)\b`)
	indexLabel = lazy.Regexp(`(?i)download\.pytorch\.org/whl/(?:nightly/|test/)?(cu\d+|rocm[\d.]+|cpu|xpu)\b`)
)

// notFound: pip or uv found no version. The reason is in the index, the Python,
// or the platform, in the order of what is known.
func (e *exam) notFound() {
	h := e.unfound()
	if h == nil {
		return
	}
	if label, said := e.badIndex(); label != "" {
		e.find("IDX002", proven, said, h.At).
			text("there is no index for "+label+" builds of torch").
			fix(e.indexFix(label)...).
			explains("PY012", "IDX003")
		return
	}
	v, label, want := e.asked()
	if e.endsEarly(h, v) {
		return
	}
	if s, tags := e.has("uv-python-tag"); tags {
		if _, elsewhere := e.has("uv-index-platform"); !elsewhere {
			e.find("PY012", likely, s, h.At).fix(e.pythonFix("")...)
			return
		}
	}
	p := e.Machine.Platform
	if linuxOnly().MatchString(h.At.Text) && (p.OS == "windows" || p.OS == "macos") {
		e.find("IDX003", likely+5, h.At, e.From.OS).
			says("this package has wheels for Linux alone").
			fix("leave it out: torch runs without it, or use WSL2")
		return
	}
	if label == "" {
		label = e.indexed()
	}
	if s := e.Did.Index; foreign(h.At.Text) && ownIndex().MatchString(s.Text) {
		e.drop("PY012")
		fix := []string{"torch by itself first, then the rest from the default index"}
		if url := ownURL().FindString(s.Text); url != "" {
			fix = []string{"torch by itself first: `pip install torch torchvision --index-url " + url + "`, then the rest without that flag"}
		}
		e.find("IDX001", likely, h.At, s).
			says("PyTorch's index has PyTorch's packages alone, and it was made the only one").
			fix(append(fix, "or `--extra-index-url` in its place, where the default index's newest torch will do as well")...).
			explains("PY012", "IDX002", "IDX003")
		return
	}
	if !e.noPlatformWheel(h, v, label) && !e.noPythonWheel(h, v, label, want) {
		e.otherIndex(h, v)
	}
}

// noPlatformWheel: no torch is published for this system or processor, or none of the
// builds that were asked for.
func (e *exam) noPlatformWheel(h *read.Hit, v, label string) bool {
	p := e.Machine.Platform
	switch last := e.limit("intel-mac").Torch; {
	case p.OS == "macos" && p.Arch == "x86_64" && (v == "" || pythonVersion(v).Compare(last) > 0):
		e.find("IDX003", likely, h.At, e.From.Arch).
			says("torch %s is the last with wheels for Intel Macs", last).
			fix(e.intelMacFix(last.String())...).
			explains("PY012", "IDX001", "PY024")
	case e.wheelless():
		e.find("IDX003", likely, h.At, e.From.OS).explains("PY012", "IDX001")
	case p.Arch == "i686" || p.Arch == "32-bit" || p.Arch == "win32":
		e.find("PY012", likely, h.At, e.From.Arch).
			says("torch has no wheels for a 32-bit Python").
			fix("install a 64-bit Python")
	case p.OS == "windows" && strings.HasPrefix(label, "rocm"):
		e.find("IDX003", likely, h.At, e.From.OS).
			text("PyTorch's index has the builds for ROCm for Linux alone").
			fix("on Windows: WSL 2 with AMD's driver for it, or the wheels of AMD's own for Windows, for the GPUs that it lists",
				"`envfix plan --build "+label+" --os linux` names what Linux has").
			explains("PY012", "ROC002")
	case p.OS == "macos" && strings.HasPrefix(label, "cu"), p.OS == "linux" && p.Arch == "aarch64" &&
		strings.HasPrefix(label, "cu") && !e.aarch64Has(v, label):
		e.find("IDX003", likely, h.At).text("there is no " + label + " build of torch for this platform")
		if p.OS == "macos" {
			f := e.out[len(e.out)-1]
			f.fix("`pip install torch torchvision`, without the label: a Mac has no CUDA, and its builds use the device `mps`")
		}
	default:
		return false
	}
	return true
}

// noPythonWheel: this release has no wheel for this Python, or no build of that label.
func (e *exam) noPythonWheel(h *read.Hit, v, label string, want bool) bool {
	python := e.activePython()
	switch {
	case python != "" && e.pythonOut(v, python):
		e.find("PY012", likely+3, h.At, e.From.Python).
			says("torch %s has no wheel for Python %s", orNewest(v), python).
			fix(e.pythonFix(v)...).
			explains("IDX001", "IDX003")
	case want && label != "" && !e.labelExists(v, label):
		e.find("IDX002", likely, h.At).says("torch %s has no %s build", v, label).fix(e.indexFix(label)...)
	default:
		return false
	}
	return true
}

// extraIndex: pip takes the newest release of all its indexes, and the extra one is not
// preferred. Source: pip.pypa.io, pip install, --extra-index-url.
func (e *exam) extraIndex() {
	s := e.Did.Index
	m := indexLabel().FindStringSubmatch(s.Text)
	if m == nil || !strings.Contains(s.Text, "--extra-index-url") || e.Torch.CUDA.IsZero() {
		return
	}
	wanted, ok := read.LabelCUDA(m[1])
	if !ok || wanted.MajorMinor() == e.Torch.CUDA.MajorMinor() {
		return
	}
	f := e.find("IDX001", likely, s, e.Torch.CUDAAt, e.Torch.VersionAt).
		says("pip took the newest torch of all indexes (CUDA %s): --extra-index-url does not prefer %s",
			e.Torch.CUDA.MajorMinor(), m[1])
	command := "`pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/" + m[1] + "`"
	f.fix(command+": that index alone", "or leave it, where it works: the newer CUDA serves the same GPUs, but for old ones, with a driver that is new enough")
}

// intelMacFix is how to install the last torch for Intel Macs, which was built for NumPy 1.
// Source: pytorch/pytorch issue 107302 (NumPy 2 from torch 2.3 on).
func (e *exam) intelMacFix(last string) []string {
	return append(e.pythonFor(last), "there: `pip install torch=="+last+" \"numpy<2\"`")
}

// unfound is what an installer says that found no version or no wheel.
func (e *exam) unfound() *read.Hit {
	for _, id := range []string{"pip-no-version", "uv-no-platform-wheel", "torch-placeholder"} {
		if h := e.hit(id); h != nil {
			return h
		}
	}
	if e.wheelless() {
		return e.hit("uv-index-platform")
	}
	return nil
}

// wheelless reports whether the system is one for which nobody builds torch.
func (e *exam) wheelless() bool {
	p := e.Machine.Platform
	return p.Distro == "alpine" || p.Libc != nil && p.Libc.Kind == "musl" || e.clue("platform-without-wheels") ||
		e.clue("processor-without-wheels")
}

func orNewest(v string) string {
	if v == "" {
		return "of this index"
	}
	return v
}

// asked is the torch that was asked for; want is false where none is named.
func (e *exam) asked() (v, label string, want bool) {
	for _, h := range e.Hits {
		if m := wantedTorch().FindStringSubmatch(h.At.Text); m != nil {
			return m[1], m[2], true
		}
	}
	return "", "", false
}

func (e *exam) aarch64Has(v, label string) bool {
	if e.Matrix == nil {
		return true
	}
	r, ok := e.Matrix.Release(v)
	if !ok {
		return false
	}
	_, ok = r.Build(label, "linux", "aarch64")
	return ok
}

// labelExists reports whether a release has a build of a label on any platform;
// releases that the data does not hold are taken to have it.
func (e *exam) labelExists(v, label string) bool {
	if e.Matrix == nil {
		return true
	}
	r, ok := e.Matrix.Release(v)
	if !ok {
		return true
	}
	for _, b := range r.Builds {
		if b.Label == label {
			return true
		}
	}
	return false
}

// badIndex is the label of an index URL under which there is nothing.
func (e *exam) badIndex() (string, read.Evidence) {
	s := e.Did.Index
	m := indexLabel().FindStringSubmatch(s.Text)
	if m == nil || e.Matrix == nil || m[1] == "cpu" || m[1] == "xpu" {
		return "", read.Evidence{}
	}
	if slices.Contains(e.limit("old-indexes").Values, m[1]) {
		return "", read.Evidence{}
	}
	for _, r := range e.Matrix.Releases {
		for _, b := range r.Builds {
			if b.Label == m[1] {
				return "", read.Evidence{}
			}
		}
	}
	return m[1], s
}

func (e *exam) indexFix(label string) []string {
	kind, releases := "cu", 3
	if strings.HasPrefix(label, "rocm") {
		kind, releases = "rocm", 9
	}
	seen := map[string]bool{}
	var have []string
	if e.Matrix != nil {
		for _, r := range e.Matrix.Releases[:min(releases, len(e.Matrix.Releases))] {
			for _, b := range r.Builds {
				if strings.HasPrefix(b.Label, kind) && !seen[b.Label] && len(have) < 6 {
					seen[b.Label] = true
					have = append(have, b.Label)
				}
			}
		}
	}
	return []string{"`" + e.planCommand() + "` names the index; current ones are " + strings.Join(have, ", ")}
}

// noSuchIndex: an extra index that does not exist fails silently, and the
// default one answers with a CPU build.
func (e *exam) noSuchIndex() {
	label, s := e.badIndex()
	if _, failed := e.has("pip-no-version"); failed || label == "" {
		return
	}
	if e.Torch.Rank == read.ByTorch && strings.HasPrefix(e.Torch.Label, "cu") && e.Torch.Label != label {
		e.find("IDX002", likely, s, e.Torch.VersionAt).
			says("there is no index for %s builds, so pip took another: %s", label, e.Torch.Label).
			fix(e.indexFix(label)...)
		return
	}
	if !e.unavailable() && !e.Torch.NoCUDA {
		return
	}
	e.find("PY001", likely, s, e.Torch.AvailableAt).
		text("there is no index for " + label + " builds, so pip took the default index's, which is not for this GPU").
		fix(e.indexFix(label)...)
}

// windowsDefault: on Windows the default index carries the CPU build alone.
func (e *exam) windowsDefault() {
	said, told := e.has("app-no-gpu", "torch-fallback-cpu")
	if e.Machine.Platform.OS != "windows" || !e.unavailable() && !(told && e.vendor(machine.NVIDIA)) ||
		!e.Torch.CUDA.IsZero() || e.Torch.NoCUDA || e.Torch.Label != "" {
		return
	}
	w := weak
	s := e.Did.PipTorch
	// A wheel of PyTorch's own index shows its label in every list; that of the default
	// index for Windows has none, and is the CPU build.
	if p := e.pipPackage("torch"); p != nil && e.Torch.Rank == read.ByList && e.Did.Index.IsZero() {
		w, s = likely, p.At
	}
	if !s.IsZero() && indexLabel().FindString(s.Text) == "" {
		w = strong + 3
	}
	e.find("PY001", w, s, e.Torch.AvailableAt, said).
		says("on Windows `pip install torch` brings the CPU build").
		fix("{torch}")
}
