package packages

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// companions: torchvision and torchaudio of another release, or of another CUDA.
func companions(e *evidence.Evidence, out *evidence.Findings) {
	proof := evidence.Weak.Loose() // beside any other sign it is not what the matter is about
	if _, said := e.Has("tv-nms", "tv-cuda-major", "ta-lib", "torch-cuda-lib", "extension-abi"); said {
		proof = evidence.Likely
	}
	for _, name := range []string{"torchvision", "torchaudio"} {
		if p := e.Installed(name); e.Torch.Version != "" && p != nil && (p.Channel == "" || p.Channel == "pypi") {
			companion(e, out, p, proof)
		}
	}
}

// companion: one of them.
func companion(e *evidence.Evidence, out *evidence.Findings, p *evidence.Package, proof evidence.Proof) {
	t, mend := e.Torch, e.Repair().Rebuild(p.Path+"/")
	have, label := version.SplitLocal(p.Version)
	want := companionOf(e, p.Name)
	switch {
	case nightly(t.Version) != nightly(have) && !strings.Contains(have+t.Version, "a0"):
		out.Find("PY032", proof, p.At, t.VersionAt).
			Says("torch %s and %s %s are of different channels", t.Version, p.Name, have)
	case want != "" && want != have && !evidence.SameMinor(want, have):
		out.Find("PY007", proof, p.At, t.VersionAt).
			Says("%s %s does not go with torch %s; %s %s does", p.Name, have, t.Version, p.Name, want).
			Do("{pair}", fmt.Sprintf("`pip install %s==%s` from the index of torch", p.Name, want)).
			Mends(mend)
	case label != "" && t.Label != "" && label != t.Label && !t.NoCUDA && !strings.HasPrefix(label, "git"):
		out.Find("PY007", proof.Exact(), p.At, t.VersionAt).
			Says("%s is built for %s and torch for %s", p.Name, label, t.Label).
			Mends(mend)
	}
}

// companionOf is the version of a companion that is of torch's release; "" not known.
func companionOf(e *evidence.Evidence, name string) string {
	if e.Matrix == nil || e.Torch.Rank < evidence.ByLabel {
		return ""
	}
	if release, ok := e.Matrix.Release(e.Torch.Version); ok && !release.Companions[name].IsZero() {
		return release.Companions[name].String()
	}
	return ""
}

// userSite is where `pip install --user` puts packages, before those of an
// environment (PEP 370).
var userSite = lazy.Regexp(`(?i)/\.local/lib/python3\.\d+/|\\AppData\\Roaming\\Python\\`)

func nightly(v string) bool { return strings.Contains(v, ".dev") }

// twoManagers: two managers brought a torch each.
func twoManagers(e *evidence.Evidence, out *evidence.Findings) {
	t := e.Torch
	conda := e.Conda().Package("pytorch")
	pip := e.Conda().PipPackage("torch")
	if conda != nil && pip != nil && evidence.Public(pip.Version) != evidence.Public(conda.Version) {
		out.Find("PY005", evidence.Likely, conda.At, pip.At).
			Says("torch is there twice: %s by conda and %s by pip", conda.Version, pip.Version)
	}
	if e.Files != nil && len(e.Files.Conda) > 0 && !e.Conda().Made() && !strings.HasPrefix(e.Files.Conda[0], "cpuonly ") && t.Version != "" {
		out.Find("PY005", evidence.Likely, evidence.Fact("conda's record: %s", e.Files.Conda[0]), t.VersionAt).
			Says("conda has %s, and pip put torch %s over it: both write the same files, and conda's next change breaks them", e.Files.Conda[0], t.Named()).
			Do("`" + e.Conda().Here("remove --force") + " pytorch`, then `pip install --force-reinstall --no-deps " + e.Repair().TorchAgain() + "`: pip's alone").
			As(evidence.Warning)
	}
	if n := e.Conda().Package("pytorch-nightly"); n != nil && conda != nil {
		out.Find("PY005", evidence.Likely, conda.At, n.At).
			Says("conda has pytorch %s and pytorch-nightly %s in one environment", conda.Version, n.Version)
	}
}

// notListed: the torch that is imported is not the one that the package manager lists.
func notListed(e *evidence.Evidence, out *evidence.Findings) {
	t := e.Torch
	conda := e.Conda().Package("pytorch")
	pip := e.Conda().PipPackage("torch")
	if t.Path != "" && userSite().MatchString(t.Path) && conda != nil && t.Version != "" &&
		evidence.Public(conda.Version) != t.Version {
		out.Find("PY004", evidence.Proven, t.VersionAt, conda.At).
			Says("torch %s of the user site is imported, not conda's %s", t.Version, conda.Version)
	}
	if t.Rank == evidence.ByTorch && pip != nil && conda == nil && t.Version != "" &&
		evidence.Public(pip.Version) != t.Version && !strings.Contains(t.Version, "a0") {
		out.Find("PY011", evidence.Likely.Loose(), t.VersionAt, pip.At).
			Says("torch says that it is %s, and the list of packages has %s", t.Version, pip.Version)
	}
}

// numpy: an older torch was built against NumPy 1.
func numpy(e *evidence.Evidence, out *evidence.Findings) {
	p, l := e.Installed("numpy"), e.Limit("numpy-2")
	if p == nil || !e.NewNumPy(p.Version) {
		return
	}
	out.Find("PY008", evidence.Weak, p.At, e.Torch.VersionAt).
		Says("torch %s was built against NumPy 1, and numpy is %s", e.Torch.Version, p.Version).
		Do(fmt.Sprintf("`pip install \"numpy<2\"`, or torch %s or newer", l.Torch))
}

// toolkit: nvcc's major is not torch's, while something is built.
func toolkit(e *evidence.Evidence, out *evidence.Findings) {
	s, building := e.Has("build-failed-ext", "cuda-home-bad", "cuda-home-unset", "nvcc-arch")
	w := evidence.Likely
	if !building {
		s, w = e.Did.Building, evidence.Hint
	}
	named := e.Machine.Env["CUDA_HOME"]
	if s.IsZero() && (named == "" || e.Pasted) || e.Torch.CUDA.IsZero() {
		return
	}
	for _, k := range e.Machine.Toolkits {
		if k.Version.Major() == e.Torch.CUDA.Major() || s.IsZero() && path.Clean(named) != k.Path {
			continue
		}
		f := out.Find("TK004", w, e.From.Toolkit, e.Torch.CUDAAt, s).
			Says("nvcc is of CUDA %s and torch of %s", k.Version.MajorMinor(), e.Torch.CUDA.MajorMinor())
		if s.IsZero() {
			f.Says("CUDA_HOME is %s, of CUDA %s, and torch is built with CUDA %s: torch computes without it, and no extension compiles with it",
				named, k.Version.MajorMinor(), e.Torch.CUDA.MajorMinor()).As(evidence.Note)
		}
		return
	}
}

// onnx: the package onnxruntime writes the same files as onnxruntime-gpu.
func onnx(e *evidence.Evidence, out *evidence.Findings) {
	if e.Files != nil {
		for _, c := range e.Files.Clashes {
			f := out.Find("LD012", evidence.Strong, evidence.Fact("%s", c[0]), evidence.Fact("%s", c[1])).Explaining(written(e, c)...).
				Says("%s lies over %s: both write the same files, and the one installed last wins", c[0], c[1]).
				Do(fmt.Sprintf("`pip uninstall -y %s %s`, then `pip install %s`: one of the two alone", c[0], c[1], e.Repair().Again(c[1])))
			if e.Torch.NoCUDA || strings.HasSuffix(c[1], "-headless") || strings.HasSuffix(c[1], "-cpu") {
				f.As(evidence.Note)
			}
		}
	}
}

// written are the checks that the files of two packages which lie over each other bring
// about: those of one have the sizes of the other's.
func written(e *evidence.Evidence, c [2]string) []string {
	resized := xslices.Filter(e.Files.Dists, func(d machine.DistFiles) bool { return len(d.Resized) > 0 })
	if len(resized) == 1 && slices.Contains(c[:], resized[0].Name) {
		return []string{"PY011"}
	}
	return nil
}

var twoVersions = lazy.Regexp(`(?i)CUDA version \(?(\d{1,2}\.\d).*?\b(?:PyTorch|torch)\b.*?(\d{1,2}\.\d)`)

// comparedCUDA: the toolkit that is asked for is the one that the message names.
func comparedCUDA(e *evidence.Evidence, out *evidence.Findings) {
	h := e.Hit("cuda-mismatch-build")
	if h == nil {
		return
	}
	m := twoVersions().FindStringSubmatch(h.At.Text)
	if built := h.Captures["built"]; built != "" {
		m = []string{"", h.Captures["nvcc"], built}
	}
	if m == nil && h.Captures["nvcc"] != "" && !e.Torch.CUDA.IsZero() { // torch breaks the line between the two
		m = []string{"", h.Captures["nvcc"], e.Torch.CUDA.MajorMinor()}
	}
	if m != nil {
		dashed := strings.ReplaceAll(m[2], ".", "-")
		out.Find("TK004", evidence.Likely, h.At).
			Says("nvcc is of CUDA %s, and torch was built with CUDA %s", m[1], m[2]).
			Do(fmt.Sprintf("beside the other one, from NVIDIA's repository: `sudo apt install cuda-toolkit-%s`, "+
				"then `export CUDA_HOME=/usr/local/cuda-%s`", dashed, m[2]),
				fmt.Sprintf("or in a conda environment: `conda install -c nvidia cuda-nvcc=%s`", m[2]),
				"or take a wheel that is built already")
	}
}
