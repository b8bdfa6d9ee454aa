package files

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/version"
)

// notImported: Python did not import torch, and no message says why.
func notImported(e *evidence.Evidence) (out evidence.Findings) {
	i := e.Imported
	if i == nil || i.Torch != "" || len(e.Hits) > 0 && i.Late == "" {
		return
	}
	f := evidence.Finding{
		Cause: "none", Text: "torch does not import",
		Fix: []string{"`envfix plan` chooses the build and prints the commands"},
	}
	switch {
	case i.Late != "":
		f.Text = "Python hangs when it imports torch: it neither read nor computed anything for " + i.Late + ", or computed without end"
		f.Fix = []string{
			"`timeout 10 nvidia-smi`: where that hangs too, it is the driver: reboot",
			"an environment on a network drive: move it to a local disk",
		}
	case strings.Contains(i.Failed, "was ended by"):
		_, how, _ := strings.Cut(i.Failed, "was ended by ")
		f.Text = "Python crashes when it imports torch: " + how
		f.Fix = []string{"`envfix doctor --fix` where a finding below names broken files; else `envfix apply --env other` tells whether it is this environment"}
	}
	out.Find("PY011", evidence.Strong, evidence.Fact("%s", i.Failed)).With(f).As(evidence.Error)
	return out
}

// anotherTorch: Python imports another torch than the environment's files are.
func anotherTorch(e *evidence.Evidence) (out evidence.Findings) {
	i := e.Imported
	if i == nil || i.Torch == "" {
		return
	}
	said := []evidence.Quote{evidence.Fact("torch.__version__ is %s", i.Torch), e.Torch.VersionAt}
	if i.Path != "" && !i.Owns(i.Path) {
		said = append(said, evidence.Fact("torch.__file__ is %s", i.Path))
	}
	have, label := version.SplitLocal(i.Torch)
	mend := evidence.Mend{}
	if i.Owns(i.Path) && e.Files != nil && !e.Pasted {
		mend = evidence.Mend{Rebuild: true}
	}
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
	return out
}

// anotherBuild: torch has code for other GPUs than its build: somebody else built
// it, or its libraries are of another build.
func anotherBuild(e *evidence.Evidence) (out evidence.Findings) {
	i := e.Imported
	if i == nil || len(i.Arches) == 0 {
		return
	}
	b, known := e.Build()
	if have := evidence.ArchesOf(i.Arches); !known || len(have.Native) == 0 || e.Imports().DataSays(have) {
		return
	}
	var want []string
	for _, c := range b.Native {
		want = append(want, "sm_"+c.SM.Code()+c.Suffix)
	}
	for _, c := range b.PTX {
		want = append(want, "compute_"+c.SM.Code()+c.Suffix)
	}
	out.Find("PY011", evidence.Strong,
		evidence.Fact("torch says %s", strings.Join(i.Arches, " ")),
		evidence.Fact("PyTorch's has %s", strings.Join(want, " "))).
		Of("none").
		Says("this torch %s has code for other GPUs than PyTorch's own build of that name", i.Torch).
		Do("nothing, where you built it yourself; else `envfix doctor --fix`").
		Mends(e.Repair().Rebuild(i.Path)).
		As(evidence.Warning)
	return out
}

// anotherCuDNN: the cuDNN that was loaded is not the version of its package. Its
// own number has three parts, the package's a fourth.
func anotherCuDNN(e *evidence.Evidence) (out evidence.Findings) {
	i := e.Imported
	if i == nil || e.Files == nil || i.CuDNN.IsZero() {
		return
	}
	for _, d := range e.Files.Dists {
		library, _, ok := evidence.NVIDIAPackage(d.Name)
		want, err := version.ParseDotted(d.Version)
		if !ok || library != "cudnn" || err != nil || want.Group(0) == i.CuDNN.Group(0) &&
			want.Group(1) == i.CuDNN.Group(1) && want.Group(2) == i.CuDNN.Group(2) {
			continue
		}
		f := evidence.Finding{Text: fmt.Sprintf("Python loads cuDNN %s, and the environment has %s %s", i.CuDNN, d.Name,
			d.Version)}
		said := []evidence.Quote{e.From.Env["LD_LIBRARY_PATH"]}
		if file := i.Loads(fmt.Sprintf("libcudnn.so.%d", i.CuDNN.Major())); file != "" {
			said = append(said, evidence.Fact("it loaded %s", file))
			f.Mend = e.Repair().Rebuild(file)
			if entry := evidence.EntryOf(e.Machine.Env["LD_LIBRARY_PATH"], path.Dir(file)); entry != "" {
				f.Mend = e.Repair().Without("LD_LIBRARY_PATH", entry, "its cuDNN comes before torch's own")
			}
		}
		out.Find("LD002", evidence.Proven, said...).With(f)
	}
	return out
}
