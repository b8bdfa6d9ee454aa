package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// The accelerators that PyTorch is built for.
const (
	cuda = "cuda"
	rocm = "rocm"
	xpu  = "xpu"
	mps  = "mps"
	cpu  = "cpu"
)

// accelOf returns what a build's label is built for.
func accelOf(label string) string {
	switch {
	case strings.HasPrefix(label, "cu"):
		return cuda
	case strings.HasPrefix(label, "rocm"):
		return rocm
	case label == xpu || label == mps:
		return label
	}
	return cpu
}

// companions are the packages that PyTorch releases to go with torch.
var companions = []string{"torchvision", "torchaudio", "torchtext"}

// A request is a Request with its requirements sorted by what they speak of.
type request struct {
	Request
	torch    []pep508.Requirement
	asked    map[string][]pep508.Requirement // companions asked for
	optional []string                        // companions taken where they exist
	packages []pep508.Requirement            // everything else, in order
	label    string                          // the one build that --build or a local label names; "" any
	named    string                          // how it was named, for sentences: "--build cu129", "torch==2.9.1+cu126"
	manager  managers.Manager                // that --manager names; zero: none
	conflict string                          // why the request contradicts itself; "" it does not
	cudaV    version.Dotted
}

// readRequest checks the request's own form, and leaves out requirements whose marker
// does not hold. Its error is for the user.
func readRequest(r Request, env pep508.Environment) (request, error) {
	w := request{Request: r, asked: map[string][]pep508.Requirement{}}
	w.manager, _ = managers.Find(r.Manager)
	reqs := make([]pep508.Requirement, 0, len(r.Requirements))
	for _, q := range r.Requirements {
		if !env.Admits(q.Marker) {
			continue
		}
		if named, ok := byName(q); ok && strings.HasPrefix(q.URL, pytorchHost) {
			q = named // the same file, by its version and build
		}
		reqs = append(reqs, q)
	}
	w.sort(reqs)
	if r.CUDA != "" {
		v, err := version.ParseDotted(r.CUDA)
		if err != nil || strings.Count(r.CUDA, ".") > 1 {
			return w, fmt.Errorf("%q is not a CUDA version such as 12.6 or 12", text.Cut(r.CUDA, 80))
		}
		w.cudaV = v
	}
	if r.Build != "" && !pep508.IsLabel(r.Build) {
		return w, fmt.Errorf("%q is not a build such as cu126, rocm7.2, xpu or cpu", text.Cut(r.Build, 80))
	}
	if r.Python != "" {
		if _, err := parsePy(r.Python); err != nil {
			return w, err
		}
	}
	w.readLabels()
	w.readChannel()
	w.conflict = cmp.Or(w.conflict, w.forbidden())
	if q, ok := w.fileAsked(); ok && w.conflict == "" {
		w.conflict = fmt.Sprintf("`%s` names one file, and which GPUs and drivers a build from elsewhere runs on is not known", text.Cut(q.Text, 80))
	}
	return w, nil
}

// sort puts every requirement where it belongs by what it speaks of.
func (w *request) sort(reqs []pep508.Requirement) {
	if len(w.Requirements) == 0 {
		w.asked["torchvision"] = nil
		w.optional = []string{"torchaudio"}
	}
	for _, q := range reqs {
		switch {
		case q.Name == "torch":
			w.torch = append(w.torch, q)
		case slices.Contains(companions, q.Name):
			w.asked[q.Name] = append(w.asked[q.Name], q)
		default:
			w.packages = append(w.packages, q)
		}
	}
	for _, name := range w.Companions {
		if _, asked := w.asked[name]; !asked && slices.Contains(companions, name) && !slices.Contains(w.optional, name) {
			w.optional = append(w.optional, name)
		}
	}
}

// readLabels finds the one build that is named, or the contradiction: every
// package of an environment must come from one build (torchvision compares the
// CUDA major at import, torchaudio major.minor).
func (w *request) readLabels() {
	name := func(label, by string) {
		switch {
		case w.label == "" || w.label == label:
			w.label, w.named = label, by
		case w.conflict == "":
			w.conflict = fmt.Sprintf("%s and %s name two builds; all packages of an environment must come from one", w.named, by)
		}
	}
	if w.Build != "" {
		name(w.Build, "`--build "+w.Build+"`")
	}
	if w.CPU {
		name(cpu, "`--cpu`")
	}
	for _, q := range w.labelled() {
		name(q.Label, "`"+text.Cut(q.Text, 80)+"`")
	}
	if w.conflict != "" || w.label == "" || w.cudaV.IsZero() {
		return
	}
	if accelOf(w.label) != cuda {
		w.conflict = fmt.Sprintf("%s is not a CUDA build, and `--cuda %s` asks for one", w.named, w.CUDA)
	}
}

// labelled lists the requirements on torch and its companions that carry a local
// label.
func (w *request) labelled() []pep508.Requirement {
	return slices.DeleteFunc(w.ofTorch(), func(q pep508.Requirement) bool { return q.Label == "" })
}

// ofTorch lists the requirements on torch and its companions.
func (w *request) ofTorch() []pep508.Requirement {
	all := slices.Clone(w.torch)
	for _, name := range companions {
		all = append(all, w.asked[name]...)
	}
	return all
}

// accel returns what the request insists on, "" where it leaves that open.
func (w *request) accel() string {
	switch {
	case w.label != "":
		return accelOf(w.label)
	case !w.cudaV.IsZero():
		return cuda
	}
	return ""
}

// conda reports whether the environment is a conda environment, whose packages
// come from conda-forge.
func (w *request) conda() bool {
	return w.manager.Channels != nil
}

// torchText is what was asked of torch, as it was written.
func (w *request) torchText() string {
	return texts(xslices.Filter(w.torch, func(q pep508.Requirement) bool { return q.Text != "" }))
}

// unknown reports whether nobody knows that a build's wheel exists.
func (w *request) unknown(b *matrix.Build) bool {
	return b.Status == matrix.NotSeen && w.listed(b) == nil && (w.lookedFor(b) || !w.Suppose)
}

// lookedFor reports whether the index of a build was asked for it.
func (w *request) lookedFor(b *matrix.Build) bool {
	_, yes := w.Listed[b.Release.Torch.String()+"+"+b.Label]
	return yes
}

// listed is what its index says of a build that nobody has seen; nil: nothing.
func (w *request) listed(b *matrix.Build) *Listed {
	if b.Status != matrix.NotSeen {
		return nil
	}
	return w.Listed[b.Release.Torch.String()+"+"+b.Label]
}
