package doctor

import (
	"fmt"

	"envfix/internal/version"
)

// Imported is what the environment's Python says when it imports torch.
type Imported struct {
	Torch  string         // torch.__version__; "" it did not import
	CUDA   string         // torch.version.cuda; "" none
	CuDNN  version.Dotted // that was loaded; zero: none
	Failed string         // why it did not import
}

// importedRules compare what Python says with what the files say.
var importedRules = []rule{
	{[]string{"PY011", "LD002"}, "what Python says when it imports torch", (*exam).imported},
}

func (e *exam) imported() {
	i := e.Imported
	if i == nil {
		return
	}
	if i.Torch == "" {
		if len(e.Hits) == 0 {
			e.find("PY011", strong, Finding{Cause: "none", Text: "torch does not import", Fix: []string{"`envfix plan` chooses the build and prints the commands"}}, fact("%s", i.Failed)).Severity = Error
		}
		return
	}
	said := fact("torch.__version__ is %s", i.Torch)
	have, _ := version.SplitLocal(i.Torch)
	if e.Torch.Version != "" && have != e.Torch.Version {
		e.find("PY011", proven, Finding{Text: fmt.Sprintf("Python imports torch %s, and the files of the environment are %s", i.Torch, withLabel(e.Torch))}, said, e.Torch.VersionSaid)
	}
	if e.Files == nil || i.CuDNN.IsZero() {
		return
	}
	for _, d := range e.Files.Dists {
		library, _, ok := nvidiaPackage(d.Name)
		want, err := version.ParseDotted(d.Version)
		if ok && library == "cudnn" && err == nil && (want.Group(0) != i.CuDNN.Group(0) || want.Group(1) != i.CuDNN.Group(1)) {
			e.find("LD002", proven, Finding{Text: fmt.Sprintf("Python loads cuDNN %s, and the environment has %s %s", i.CuDNN, d.Name, d.Version)}, said, e.fact("env:LD_LIBRARY_PATH"))
		}
	}
}
