package files

import (
	"cmp"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
)

// anotherTorch: Python imports another torch than the environment's files are.
func anotherTorch(e *evidence.Evidence, out *evidence.Findings) {
	i := e.Imported
	if i == nil || i.Torch == "" {
		return
	}
	said := []evidence.Quote{evidence.Fact("torch.__version__ is %s", i.Torch), e.Torch.VersionAt}
	if i.Path != "" && !i.Owns(i.Path) {
		said = append(said, evidence.Fact("torch.__file__ is %s", i.Path))
	}
	have, label := version.SplitLocal(i.Torch)
	mend := evidence.Mend{Rebuild: i.Owns(i.Path) && e.Files != nil && !e.Pasted}
	switch {
	case e.Torch.Version != "" && have != e.Torch.Version,
		e.Torch.Label != "" && label != "" && label != e.Torch.Label:
		out.Find("PY011", evidence.Proven, said...).
			Says("Python imports torch %s, and the files of the environment are %s", i.Torch, e.Torch.Named()).
			Mends(mend)
	case i.CUDA != "" && !e.Torch.CUDA.IsZero() && i.CUDA != e.Torch.CUDA.MajorMinor(), i.CUDA == "" &&
		!e.Torch.CUDA.IsZero():
		out.Find("PY011", evidence.Proven, said...).
			Says("torch.version.cuda is %s, and the files of the environment are for CUDA %s",
				cmp.Or(i.CUDA, "None"), e.Torch.CUDA.MajorMinor()).
			Mends(mend)
	}
}
