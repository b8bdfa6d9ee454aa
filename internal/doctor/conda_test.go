package doctor

import (
	"regexp"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A conda environment with a CPU build is mended by conda: pip's wheel beside it would be
// a second copy.
func TestCondaMendsItsOwn(t *testing.T) {
	made := func(installer string, records ...string) []Finding {
		f := healthyFiles()
		f.Conda = records
		f.Dists = []machine.DistFiles{{Name: "torch", Version: "2.9.1", Module: "2.9.1", Info: site + "/torch-2.9.1.dist-info", Installer: installer}}
		c := patientWith(t, f)
		none := ""
		c.Machine.Installed = []machine.Package{{Name: "torch", Version: "2.9.1", CUDA: &none}}
		c.Machine.Tools = []machine.Tool{{Name: "mamba"}}
		c.Torch.Label, c.Torch.NoCUDA, c.Torch.CUDA = "", true, version.Dotted{}
		return Examine(know.Embedded(), c).Findings
	}
	install := regexp.MustCompile("^`mamba install --prefix \"/env\" -c conda-forge \"pytorch=2\\.\\d+\\.\\d=cuda1\\d\\d\\*\"`")
	got := made("conda", "pytorch 2.9.1 cpu_generic_py312_0")
	if len(got) == 0 || got[0].Check != "PY025" || !install.MatchString(got[0].Fix[0]) {
		t.Errorf("by conda: %+v", got)
	}
	got = made("", "pytorch 2.5.1 py3.12_cpu_0", "cpuonly 2.0 0")
	if len(got) == 0 || got[0].Check != "PY025" || !strings.HasPrefix(got[0].Fix[0], "`mamba remove --prefix \"/env\" cpuonly`") {
		t.Errorf("held by cpuonly: %+v", got)
	}
	if got = made("pip", "pytorch 2.9.1 cpu_generic_py312_0"); len(got) == 0 || strings.Contains(got[0].Fix[0], "mamba") {
		t.Errorf("pip's wheel over it: %+v", got)
	}
}
