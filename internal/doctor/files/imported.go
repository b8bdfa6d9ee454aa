package files

import (
	"cmp"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
)

// notImported: Python did not import torch, and no message says why.
func notImported(e *evidence.Evidence, out *evidence.Findings) {
	i := e.Imported
	if i == nil || i.Torch != "" || len(e.Hits) > 0 && i.Late == "" {
		return
	}
	f := out.Find("PY011", evidence.Strong, evidence.Fact("%s", i.Failed)).Of("none").As(evidence.Error)
	switch {
	case i.Late != "":
		f.Say("Python hangs when it imports torch: it neither read nor computed anything for "+i.Late+", or computed without end").Do(
			"`timeout 10 nvidia-smi`: where that hangs too, it is the driver: reboot",
			"an environment on a network drive: move it to a local disk",
		)
	case strings.Contains(i.Failed, "was ended by"):
		_, how, _ := strings.Cut(i.Failed, "was ended by ")
		f.Say("Python crashes when it imports torch: " + how).
			Do("`envfix doctor --fix` where a finding below names broken files; else `envfix apply --env other` tells whether it is this environment")
	default:
		f.Say("torch does not import").Do("`envfix plan` chooses the build and prints the commands")
	}
}

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
