package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/resolver"
)

// byConda reports whether conda installed the torch of the environment that is looked at,
// and nobody put another over it.
func (e *exam) byConda() bool {
	if e.Files == nil || len(e.Files.Conda) == 0 || strings.HasPrefix(e.Files.Conda[0], "cpuonly ") && len(e.Files.Conda) == 1 {
		return false
	}
	return !slices.ContainsFunc(e.Files.Dists, func(d machine.DistFiles) bool {
		return d.Name == "torch" && d.Installer != "conda" && d.Installer != ""
	})
}

// condaTool is conda, or the one of its kind that is here.
func (e *exam) condaTool() string {
	for _, name := range managers.Conda() {
		if slices.ContainsFunc(e.Machine.Tools, func(t machine.Tool) bool { return t.Name == name }) {
			return name
		}
	}
	return "conda"
}

// condaHere is the tool's command on the environment that is looked at.
func (e *exam) condaHere(command string) string {
	return fmt.Sprintf("%s %s --prefix %q", e.condaTool(), command, e.Files.Dir)
}

// condaFix is how conda installs the torch that fits into the environment it made: pip's
// beside it would be a second copy.
func (e *exam) condaFix() []string {
	var ways []string
	if slices.ContainsFunc(e.Files.Conda, func(r string) bool { return strings.HasPrefix(r, "cpuonly ") }) {
		ways = append(ways, "`"+e.condaHere("remove")+" cpuonly` first: it holds the CPU build there")
	}
	h, _ := e.subject()
	if h.Driver == nil || h.Driver.Version.IsZero() {
		h.Driver = &machine.Driver{Version: e.usualDriver(h.GPUs)}
	}
	res := e.resolve(h, resolver.Request{Manager: e.condaTool()})
	if c := res.Choice; res.Decision == resolver.Install && c != nil && c.CUDA != "" {
		label := strings.ReplaceAll(c.CUDA, ".", "")
		install := fmt.Sprintf("%s -c conda-forge \"pytorch=%s=cuda%s*\"", e.condaHere("install"), c.Torch, label)
		if c.Channel == "pytorch" {
			install = fmt.Sprintf("%s -c pytorch -c nvidia \"pytorch==%s\" pytorch-cuda=%s", e.condaHere("install"), c.Torch, c.CUDA)
		}
		if e.Machine.Driver == nil { // conda sees no GPU to choose for
			install = "CONDA_OVERRIDE_CUDA=" + c.CUDA + " " + install
		}
		ways = append(ways, "`"+install+"`: the build with CUDA, by conda itself")
	}
	return append(ways, "`"+e.planCommand()+" --manager "+e.condaTool()+"` shows all that fits, `envfix apply` with the same flags installs it")
}

// condaAgain is how conda installs a package of its own anew.
func (e *exam) condaAgain(d machine.DistFiles) []string {
	name := d.Name
	if name == "torch" {
		name = "pytorch"
	}
	return []string{"`" + e.condaHere("install --force-reinstall") + " " + name + "`"}
}
