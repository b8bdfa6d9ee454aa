package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/version"
)

// A blank is a word of a remedy that stands for a fact of this machine. Where the fact
// is not known, the remedy is left out, or what it then says takes its place.
type blank struct {
	word  string
	value func(e *evidence.Evidence, said []string) string
	none  string // the remedy where the value is unknown; "" none
}

// blanks are all of them.
var blanks = []blank{
	{"{gpu}", gpuNumber, ""},
	{"{torch-here}", func(e *evidence.Evidence, _ []string) string { return e.Repair().TorchAgain() }, ""},
	{"{driver-major}", driverMajor, ""},
	{"{driver-cuda}", driverCUDA, ""},
	{"{nccl}", ncclOfTorch, ""},
	{
		"{fabric-manager}", fabricManager,
		"install it in the exact version of the driver: the package is nvidia-fabricmanager and the branch that `nvidia-smi` shows, " +
			"such as `sudo apt install nvidia-fabricmanager-570`",
	},
	{"{open-branch}", openBranch, ""},
	{"{conda-cuda}", condaCUDA, ""},
	{"{xformers}", xformersOfTorch, ""},
	{"{cpuonly}", holdsCPU, ""},
	{"{toolkit-dashed}", func(e *evidence.Evidence, _ []string) string { return strings.ReplaceAll(toolkitOf(e, nil), ".", "-") }, ""},
	{"{toolkit}", toolkitOf, ""},
	{"{gfx-override}", gfxOverride, ""},
	{
		"{extension}", func(e *evidence.Evidence, said []string) string { return e.Extension().Named(said) },
		"install the wheel of that package for this torch, Python and C++ ABI, or compile it here: " +
			"`pip install` with `--no-build-isolation --force-reinstall --no-deps`",
	},
}

// fill puts what is known into a remedy.
func fill(e *evidence.Evidence, way string, said []string) string {
	for _, b := range blanks {
		if !strings.Contains(way, b.word) {
			continue
		}
		v := b.value(e, said)
		if v == "" {
			return b.none
		}
		way = strings.ReplaceAll(way, b.word, v)
	}
	return way
}

var pciAddress = lazy.Regexp(`(?i)\b(?:PCI:)?((?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2})\b`)

// gpuNumber is how nvidia-smi is told which GPU is meant: by the address that the
// evidence names, else by its index; 0 where there is but one, or nothing says which.
func gpuNumber(e *evidence.Evidence, said []string) string {
	for _, s := range said {
		if m := pciAddress().FindStringSubmatch(s); m != nil && strings.Contains(s, "Xid") {
			return m[1] + ".0"
		}
		if m := gpuIndex().FindStringSubmatch(s); m != nil {
			return m[1]
		}
	}
	return "0"
}

var gpuIndex = lazy.Regexp(`\bGPU ?(\d{1,2})\b`)

// driverMajor is the branch of the driver: 580.
func driverMajor(e *evidence.Evidence, _ []string) string {
	if d := e.Machine.Driver; d != nil && !d.Version.IsZero() {
		return fmt.Sprint(d.Version.Major())
	}
	return ""
}

// driverCUDA is the CUDA that the driver runs, as nvidia-smi prints it.
func driverCUDA(e *evidence.Evidence, _ []string) string {
	if !e.SMI.CUDA.IsZero() {
		return e.SMI.CUDA.MajorMinor()
	}
	if d := e.Machine.Driver; d != nil && e.Matrix != nil {
		for _, b := range e.Matrix.Branches {
			if b.Latest.Major() == d.Version.Major() && !b.CUDA.IsZero() {
				return b.CUDA.MajorMinor()
			}
		}
	}
	return ""
}

// fabricManager is how to install the fabric manager of the driver's branch.
func fabricManager(e *evidence.Evidence, _ []string) string {
	if branch := driverMajor(e, nil); branch != "" {
		return "`sudo apt install nvidia-fabricmanager-" + branch + "`, in the exact version of the driver"
	}
	return ""
}

// condaCUDA is the CUDA that conda is told the driver runs, where it cannot ask itself.
func condaCUDA(e *evidence.Evidence, _ []string) string {
	return cmp.Or(driverCUDA(e, nil), e.Limit("usual-machine").Values[0])
}

// xformersOfTorch installs the xformers whose release names the torch that is here.
func xformersOfTorch(e *evidence.Evidence, _ []string) string {
	v, label := e.Torch.Version, e.Torch.Label
	for _, h := range e.Hits {
		if have := h.Captures["have"]; h.Message.ID == "xformers-built-for" && have != "" {
			v, label = version.SplitLocal(have)
		}
	}
	torch := evidence.PythonVersion(v)
	if e.Matrix == nil || torch.IsZero() || !strings.HasPrefix(label, "cu") {
		return ""
	}
	for _, x := range e.Matrix.Extensions { // the newest first
		if x.Package == "xformers" && !x.Sdist && !x.Yanked && !x.Torch.IsZero() && strings.Contains(x.Torch.String(), "==") && x.Torch.Admits(torch) {
			return fmt.Sprintf("`pip install --force-reinstall --no-deps xformers==%s --index-url https://download.pytorch.org/whl/%s`: the release for torch %s",
				x.Version, label, v)
		}
	}
	return ""
}

// holdsCPU takes away the package of conda that lets no build with CUDA in.
func holdsCPU(e *evidence.Evidence, said []string) string {
	if e.Conda().Package("cpuonly") != nil || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "cpuonly ") }) {
		return "`conda remove cpuonly` first: it lets no build with CUDA in, and another package may have asked for it"
	}
	return ""
}

// toolkitOf is the CUDA that torch was built with, which what is compiled beside it wants too.
func toolkitOf(e *evidence.Evidence, _ []string) string {
	if !e.Torch.CUDA.IsZero() {
		return e.Torch.CUDA.MajorMinor()
	}
	return e.Limit("usual-machine").Values[0]
}

// openBranch is the branch of the driver that is there, else the newest whose packages
// distributions have.
func openBranch(e *evidence.Evidence, _ []string) string { return cmp.Or(driverMajor(e, nil), "580") }

// gfxOverride is the architecture whose kernels an AMD GPU of the same family runs.
func gfxOverride(e *evidence.Evidence, _ []string) string {
	for _, g := range e.Machine.GPUs {
		for _, row := range e.Limit("gfx-override").Values {
			if f := strings.Fields(row); g.GFX != "" && slices.Contains(f[1:], g.GFX) {
				return f[0]
			}
		}
	}
	return ""
}

// ncclOfTorch is the package of NCCL that torch asks for, where its files are here.
func ncclOfTorch(e *evidence.Evidence, _ []string) string {
	if e.Files == nil {
		return ""
	}
	for _, d := range e.Files.Dists {
		if d.Name != "torch" {
			continue
		}
		for _, r := range d.Requires {
			if m := ncclPin().FindStringSubmatch(r); m != nil {
				return m[1] + "==" + m[2]
			}
		}
	}
	return ""
}

var ncclPin = lazy.Regexp(`^(nvidia-nccl-cu\d+)\s*\(?==\s*([\d.]+)`)
