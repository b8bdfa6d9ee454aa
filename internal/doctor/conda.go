package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/resolver"
)

// condaFix is how conda installs the torch that fits into the environment it made: pip's
// beside it would be a second copy.
func (e *exam) condaFix() []string {
	var ways []string
	if slices.ContainsFunc(e.Files.Conda, func(r string) bool { return strings.HasPrefix(r, "cpuonly ") }) {
		ways = append(ways, "`"+e.Conda().Here("remove")+" cpuonly` first: it holds the CPU build there")
	}
	h, _ := e.subject()
	if h.Driver == nil || h.Driver.Version.IsZero() {
		h.Driver = &machine.Driver{Version: e.usualDriver(h.GPUs)}
	}
	res := e.resolve(h, resolver.Request{Manager: e.Conda().Tool()})
	if c := res.Choice; res.Decision == resolver.Install && c != nil && c.CUDA != "" {
		label := strings.ReplaceAll(c.CUDA, ".", "")
		install := fmt.Sprintf("%s -c conda-forge \"pytorch=%s=cuda%s*\"", e.Conda().Here("install"), c.Torch, label)
		if c.Channel == "pytorch" {
			install = fmt.Sprintf("%s -c pytorch -c nvidia \"pytorch==%s\" pytorch-cuda=%s", e.Conda().Here("install"), c.Torch, c.CUDA)
		}
		if e.Machine.Driver == nil { // conda sees no GPU to choose for
			install = "CONDA_OVERRIDE_CUDA=" + c.CUDA + " " + install
		}
		ways = append(ways, "`"+install+"`: the build with CUDA, by conda itself")
	}
	return append(ways, "`"+e.PlanCommand()+" --manager "+e.Conda().Tool()+"` shows all that fits, `envfix apply` with the same flags installs it")
}
