package packages

import (
	"path"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
)

// notebooks: the environment has a torch that can use the GPU, and a kernel of Jupyter's
// runs another Python, whose torch cannot, or that has none. Where no GPU is to be used
// only a kernel without torch matters, and that one may be meant for something else.
func notebooks(e *evidence.Evidence, out *evidence.Findings) {
	if e.Around == nil || e.Torch.Version == "" {
		return
	}
	computes := !e.Torch.NoCUDA && (e.GPU().Of(machine.NVIDIA) || e.GPU().Of(machine.AMD))
	bad, good := kernels(e, computes)
	if bad == nil {
		return
	}
	has := say.Either(bad.Torch != "", "has torch "+bad.Torch+", built without CUDA", "has no torch")
	weight := say.Either(!computes, evidence.Trifle, evidence.Likely)
	f := out.Find("PY021", weight, evidence.Fact("%s starts %s, which %s", bad.Spec, bad.Python, has), e.Torch.VersionAt).
		Says("the notebook kernel %s runs %s, which %s; torch %s of this environment is not what a notebook with it sees",
			bad.Name, bad.Python, has, e.Torch.Named())
	if good != nil {
		f.Do("choose the kernel " + good.Name + " in the notebook: it runs " + good.Python)
	}
	if good != nil || !bad.Own || !computes {
		f.As(evidence.Note)
	}
}

// kernels are the first kernel of Jupyter's that does not do, the user's own before others,
// and the first that does; nil: there is none.
func kernels(e *evidence.Evidence, computes bool) (bad, good *machine.Kernel) {
	for i := range e.Around.Kernels {
		switch k := &e.Around.Kernels[i]; {
		case (k.CUDA || !computes && k.Torch != "") && good == nil:
			good = k
		case !k.CUDA && (computes || k.Torch == "") && (bad == nil || k.Own && !bad.Own):
			bad = k
		}
	}
	return bad, good
}

// twoInterpreters: what works in one Python says nothing of another. python and
// python3.11 of one directory are one.
func twoInterpreters(e *evidence.Evidence, out *evidence.Findings) {
	if len(e.Interpreters) < 2 {
		return
	}
	a, b := e.Interpreters[0], e.Interpreters[1]
	if directory(a.Path) == directory(b.Path) {
		return
	}
	out.Find("PY021", evidence.Likely, a.At, b.At).
		Says("two Pythons are in play: %s and %s", a.Path, b.Path)
}

func directory(file string) string { return path.Dir(strings.ReplaceAll(file, `\`, "/")) }

// listedElsewhere: pip shows a copy of torch that is not the one imported.
func listedElsewhere(e *evidence.Evidence, out *evidence.Findings) {
	imported := strings.Trim(e.Torch.Path, `'"(<`)
	if imported == "" || e.TorchLocation == "" || !strings.ContainsAny(imported, `/\`) {
		return
	}
	clean := func(s string) string {
		return strings.TrimRight(strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, `\\`, "/"), `\`, "/")), "/")
	}
	if from, listed := path.Dir(clean(imported)), clean(e.TorchLocation); from != listed &&
		strings.HasSuffix(from, "-packages") {
		out.Find("PY011", evidence.Likely.Exact(), e.Torch.VersionAt, e.From.TorchLocation).
			Says("torch is imported from %s, and pip shows the copy in %s", path.Dir(imported), e.TorchLocation)
	}
}
