package unsaid

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// unusable: a GPU is here, none can be used, and no rule says why: that is never an
// all-clear for a torch that was built for it. One of AMD's can be used where the kernel's
// compute driver lists it.
func unusable(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	vendor, place := machine.NVIDIA, e.Machine.Platform.Environment
	if e.Torch.HIP != "" {
		vendor = machine.AMD
	}
	g := e.GPU().First(vendor)
	usable := func(g machine.GPU) bool { return g.Vendor == vendor && g.Visible }
	if e.Pasted || e.Torch.CUDA.IsZero() && e.Torch.HIP == "" || g == nil || slices.ContainsFunc(e.Machine.GPUs, usable) ||
		place == machine.ContainerBuild || place == machine.HPCLogin || len(found.Of("DRV003")) > 0 ||
		found.Any(func(f *evidence.Finding) bool {
			packages := vendor == machine.AMD && strings.HasPrefix(f.Check, "PY") // what is wrong with them keeps no driver from its GPU
			return f.Severity == evidence.Error && !packages || f.Severity == evidence.Note && f.Cause != "none"
		}) {
		return
	}
	said := evidence.Fact("%s at %s", evidence.NameOf(*g), g.PCIAddress)
	if vendor == machine.AMD {
		out.Find("ROC002", evidence.Likely, said).
			Says("the kernel's compute driver for AMD GPUs (amdkfd, /dev/kfd) does not list the %s: torch %s cannot use it", evidence.NameOf(*g), e.Torch.Named()).
			Do("`ls -l /dev/kfd`, and `sudo dmesg | grep -iE 'kfd|amdgpu'` says why", "`sudo modprobe amdgpu`; ROCm's own steps: `envfix plan --change-driver`")
		return
	}
	out.Find("GPU001", evidence.Hint, said).
		Says("the %s is here and cannot be used, and nothing that was looked at says why", evidence.NameOf(*g)).
		Do("`nvidia-smi` and `sudo dmesg | grep -iE 'NVRM|Xid'` say more", "`envfix doctor --import` has torch itself say it")
}
