package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// driverRules look at the driver against the build, and at its two halves.
var driverRules = []rule{
	{[]string{"KMD003"}, "the kernels of dkms, and the one that runs", (*exam).otherKernel},
	{[]string{"DRV005", "DRV006"}, "the driver, or what nvidia-smi reports, and torch's CUDA", (*exam).driverFloor},
	{[]string{"DRV005"}, "a driver older than every build", (*exam).ancientDriver},
	{[]string{"DRV004"}, "the versions of the driver's library and of its kernel module", (*exam).driverHalves},
	{[]string{"DRV001", "KMD001", "HW012"}, "the kernel driver bound to the GPU", (*exam).boundDriver},
	{[]string{"DRV001", "HW001", "DRV025"}, "what is there of GPU, driver and torch", (*exam).nothingThere},
	{[]string{"DRV015"}, "nvidia-smi working while torch sees nothing", (*exam).silentFailure},
	{[]string{"DRV010"}, "collect_env without a driver while CUDA works", (*exam).renamedFields},
}

func dotted(s string) version.Dotted {
	v, _ := version.ParseDotted(s)
	return v
}

// windowsColumn reports whether driver versions are those of Windows.
func (e *exam) windowsColumn() bool {
	return e.Machine.Platform.OS == "windows" || e.Machine.Platform.Environment == machine.WSL2
}

func (e *exam) floorOf(f matrix.Floor) version.Dotted {
	if e.windowsColumn() {
		return f.Windows
	}
	return f.Linux
}

func (e *exam) first(a matrix.Arch) version.Dotted {
	if e.windowsColumn() {
		return a.FirstWindows
	}
	return a.FirstDriver
}

// floor is the oldest driver for a CUDA on this platform. Before CUDA 11 there is
// no compatibility between minor versions: the toolkit's own table counts.
func (e *exam) floor(cuda version.Dotted) version.Dotted {
	if e.Matrix == nil || cuda.IsZero() {
		return version.Dotted{}
	}
	if cuda.Major() >= 11 {
		if f, ok := e.Matrix.Floor("cu" + strings.ReplaceAll(cuda.MajorMinor(), ".", "")); ok {
			return e.floorOf(f)
		}
	}
	var oldest version.Dotted
	for _, t := range e.Matrix.Toolkits {
		if t.Version.MajorMinor() != cuda.MajorMinor() {
			continue
		}
		v := t.LinuxTable
		if e.windowsColumn() {
			v = t.WindowsTable
		}
		if !v.IsZero() && (oldest.IsZero() || v.Less(oldest)) {
			oldest = v
		}
	}
	return oldest
}

// driverFloor: the build's CUDA needs a newer driver. The driver's version
// decides; the CUDA version that nvidia-smi prints only where nothing else is
// known, and then its major.
func (e *exam) driverFloor() {
	t := e.Torch
	if t.CUDA.IsZero() {
		e.defaultFloor()
		e.askedFloor()
		return
	}
	if e.available() {
		if !e.SMI.CUDA.IsZero() && e.SMI.CUDA.Less(dotted(t.CUDA.MajorMinor())) {
			e.find("DRV006", trifle, t.CUDAAt, e.SMI.At).
				says("torch was built with CUDA %s and nvidia-smi shows %s: minor-version compatibility, nothing is wrong",
					t.CUDA.MajorMinor(), e.SMI.CUDA).
				fix("nothing to do")
		}
		return
	}
	floor := e.floor(t.CUDA)
	d := e.Machine.Driver
	switch {
	case d != nil && !d.Version.IsZero() && !floor.IsZero():
		if d.Version.Less(floor) {
			e.tooOld(fmt.Sprintf("driver %s is too old for torch's CUDA %s, which needs %s", d.Version,
				t.CUDA.MajorMinor(), floor),
				e.From.Driver, t.CUDAAt)
		}
	case !e.saidDriver().IsZero() && !floor.IsZero() && e.saidDriver().Less(floor):
		h := e.hit("torch-driver-too-old")
		if h == nil {
			return
		}
		e.tooOld(fmt.Sprintf("the driver is of branch %d, and torch's CUDA %s needs driver %s or newer",
			e.saidDriver().Major(), t.CUDA.MajorMinor(), floor), h.At, t.CUDAAt)
	case !e.SMI.CUDA.IsZero() && (e.SMI.CUDA.Major() < t.CUDA.Major() || t.CUDA.Major() < 11 &&
		e.SMI.CUDA.Less(dotted(t.CUDA.MajorMinor()))):
		e.tooOld(fmt.Sprintf("the driver supports CUDA %s, and torch was built with %s", e.SMI.CUDA,
			t.CUDA.MajorMinor()),
			e.SMI.At, t.CUDAAt)
	}
}

// defaultFloor: nobody says which build of torch it is. On Linux pip takes that
// of the default index where no other index is named, and its CUDA is known.
func (e *exam) defaultFloor() {
	t, d, p := e.Torch, e.Machine.Driver, e.Machine.Platform
	if cuda := dotted(oldDefault(t.Version)); e.Pasted && e.unavailable() && !t.NoCUDA && t.HIP == "" &&
		t.Label == "" && d != nil && !d.Version.IsZero() && !cuda.IsZero() {
		if floor := e.floor(cuda); d.Version.Less(floor) {
			e.tooOld(fmt.Sprintf("driver %s is too old for the default build of torch %s: its CUDA %s needs %s",
				d.Version, t.Version, cuda, floor),
				e.From.Driver, t.VersionAt)
		}
		return
	}
	if !e.Pasted || !e.unavailable() || t.NoCUDA || t.HIP != "" || t.Label != "" || t.Version == "" || d == nil ||
		d.Version.IsZero() || e.Matrix == nil ||
		p.OS != "linux" || p.Arch != "x86_64" || !e.Place.Conda.IsZero() || strings.Contains(e.Did.Index.Text, "whl/") && !strings.Contains(e.Did.Index.Text, "torch_stable") {
		return
	}
	release, ok := e.Matrix.Release(t.Version)
	if !ok {
		return
	}
	for _, b := range release.Builds {
		floor := e.floor(b.CUDA)
		if b.Default && b.OS == p.OS && b.Arch == p.Arch && d.Version.Less(floor) {
			e.tooOld(fmt.Sprintf("driver %s is too old for the default build of torch %s: its CUDA %s needs %s",
				d.Version, t.Version, b.CUDA.MajorMinor(), floor),
				e.From.Driver, t.VersionAt)
			return
		}
	}
}

// oldDefault is the CUDA of the build that one got without asking, of releases
// before the data begins. Source: pytorch.org, previous versions.
func oldDefault(torch string) string {
	v := strings.SplitN(torch, ".", 3)
	if len(v) < 2 || v[0] != "1" {
		return ""
	}
	switch v[1] {
	case "2":
		return "10.0"
	case "3", "4":
		return "10.1"
	case "5", "6", "7", "8", "9", "10", "11":
		return "10.2"
	}
	return ""
}

// askedFloor: conda was asked for a build with this CUDA, and nothing says that it
// gave another.
func (e *exam) askedFloor() {
	t, d, s := e.Torch, e.Machine.Driver, e.Did.CondaCUDA
	if d == nil || d.Version.IsZero() || s.IsZero() || t.NoCUDA || t.HIP != "" || !e.unavailable() {
		return
	}
	cuda := dotted(read.CondaAsked().FindStringSubmatch(s.Text)[1])
	if floor := e.floor(cuda); !floor.IsZero() && d.Version.Less(floor) {
		e.tooOld(fmt.Sprintf("driver %s is too old for CUDA %s, which conda was asked for and which needs %s",
			d.Version, cuda, floor),
			e.From.Driver, s)
		if has := e.SMI.CUDA; !has.IsZero() && has.Less(cuda) {
			f := e.out[len(e.out)-1]
			f.fix(append(f.Fix, fmt.Sprintf("or a build for the CUDA that this driver has: `%s=%s` in place of what conda was asked for",
				strings.TrimRight(read.CondaAsked().FindString(s.Text), "= .0123456789"), has))...)
		}
	}
}

// ancientDriver: where nothing says what torch was built with, a driver older than
// the first CUDA of current wheels wants is behind all of them.
func (e *exam) ancientDriver() {
	d := e.Machine.Driver
	if d == nil || d.Version.IsZero() || !e.Torch.CUDA.IsZero() || e.Torch.NoCUDA || e.Torch.HIP != "" ||
		!e.unavailable() {
		return
	}
	if oldest := e.floor(dotted(e.limit("ancient-cuda").Value)); !oldest.IsZero() && d.Version.Less(oldest) {
		e.find("DRV005", strong, e.From.Driver, e.Torch.AvailableAt).
			says("driver %s is older than any that current builds of torch run on", d.Version)
	}
}

func (e *exam) tooOld(text string, said ...read.Evidence) {
	check := "DRV005"
	cause := ""
	if e.Machine.Platform.Environment == machine.WSL2 {
		text += "; under WSL that is the driver of Windows"
	}
	e.find(check, proven, said...).
		cause(cause).
		text(text).
		fix("update the NVIDIA driver", "{torch}")
}

// driverHalves: the library and the kernel module are of different versions.
func (e *exam) driverHalves() {
	if s := e.From.Mismatch; !s.IsZero() { // in a line of a container's runtime, too
		e.find("DRV004", proven, s).explains("CTR005")
	}
	d := e.Machine.Driver
	if d == nil || d.LoadedVersion.IsZero() {
		return
	}
	if d.Version.IsZero() {
		e.packageNewer()
		return
	}
	if d.Version.Compare(d.LoadedVersion) == 0 {
		return
	}
	// NVML's own library version has two groups where the driver has three.
	if strings.HasPrefix(d.Version.String(), d.LoadedVersion.String()+".") ||
		strings.HasPrefix(d.LoadedVersion.String(), d.Version.String()+".") {
		return
	}
	e.find("DRV004", proven, e.From.Driver, e.From.Module).
		says("the driver's libraries are %s and the loaded kernel module is %s", d.Version, d.LoadedVersion)
}

// packageNewer: a package list names another version than the module that is
// loaded: an upgrade without a reboot.
func (e *exam) packageNewer() {
	loaded := e.Machine.Driver.LoadedVersion
	if e.DriverPackage.IsZero() || e.DriverPackage.Compare(loaded) == 0 ||
		e.DriverPackage.Compare(dotted(loaded.MajorMinor())) == 0 {
		return
	}
	e.find("DRV004", likely, e.From.Package, e.From.Module).
		says("the driver package is %s and the loaded kernel module is %s", e.DriverPackage, loaded)
}

// boundDriver: another kernel driver holds the GPU.
func (e *exam) boundDriver() {
	for _, g := range e.Machine.GPUs {
		if g.Vendor != machine.NVIDIA {
			continue
		}
		switch g.KernelDriver {
		case "nouveau", "nova":
			e.find("KMD001", proven, e.From.Bus).text("the kernel driver " + g.KernelDriver + " holds the " + g.Name)
		case "vfio-pci":
			e.find("HW012", likely, e.From.Bus)
		}
	}
}

// nothingThere: no driver answers. In a container or under WSL, that is where to
// look.
func (e *exam) nothingThere() {
	p := e.Machine.Platform
	if d, g := e.From.NoDriver, e.From.NoGPU; !d.IsZero() && !g.IsZero() && !e.Torch.CUDA.IsZero() && e.unavailable() {
		check, text := "DRV001", "torch has CUDA, and collect_env found neither a driver nor a GPU"
		switch p.Environment {
		case machine.Container:
			check, text = "CTR001", text+": the container was started without GPU access"
		case machine.WSL2:
			check = "CTR014"
		}
		e.find(check, message, d, g).text(text)
	}
	said, ok := e.has(noDevice...)
	if !ok || e.Torch.NoCUDA {
		return
	}
	switch {
	case p.Environment == machine.WSL2 && e.Machine.Driver == nil && !e.vendor(machine.AMD):
		e.find("CTR014", likely-5, said, e.Place.WSL).
			says("under WSL the driver of Windows is missing, too old, or not passed on").
			fix(
				"install or update the NVIDIA driver on Windows; `wsl --update`; `wsl --shutdown`",
				"never install a Linux NVIDIA driver inside WSL",
			)
	case p.Environment == machine.Container && !e.vendor(machine.AMD):
		s, plain := e.has(
			"torch-no-nvidia-driver", "libcuda-missing", "smi-not-found", "nvml-lib-missing", "ngc-no-gpu",
			"nvml-unknown", "triton-libcuda", "cuda-no-device", "ollama-no-gpu", "dev-nodes-missing",
		)
		if plain {
			e.find("CTR001", likely-8, s, e.Place.Container)
		}
	case e.hit("smi-not-found") != nil && e.allAbsent():
		e.find("DRV025", strong, said, e.hit("smi-not-found").At).explains("DRV001", "DRV002", "GPU001", "PY001")
	case e.allAbsent():
		e.find("DRV001", strong, said).says("no NVIDIA driver answers on this machine")
	}
}

func (e *exam) allAbsent() bool {
	_, said := e.has("torch-no-nvidia-driver", "smi-not-found", "nvml-not-loaded")
	return said && e.Machine.Driver == nil && !e.available()
}

// silentFailure: torch has CUDA, the driver answers and is new enough, the build
// serves the GPU, and still torch sees nothing, without a message that says why.
func (e *exam) silentFailure() {
	t := e.Torch
	if !e.unavailable() || t.CUDA.IsZero() || e.Machine.Driver == nil || e.Machine.Driver.Version.IsZero() {
		return
	}
	if f := e.floor(t.CUDA); f.IsZero() || e.Machine.Driver.Version.Less(f) {
		return
	}
	e.find("DRV015", weak, t.AvailableAt, e.From.Driver).
		says("torch sees no GPU although build and driver fit: nvidia_uvm is not loaded, a variable hides the GPU, or the process may not open it").
		fix(
			"`echo \"$CUDA_VISIBLE_DEVICES\"`: unset it",
			"`sudo nvidia-modprobe -u -c=0`, or reboot",
			"paste the warning that torch prints",
		)
}

// renamedFields: nvidia-smi of R610 and later names its fields anew; collect_env
// then reports no driver.
func (e *exam) renamedFields() {
	if s := e.From.NoDriver; e.available() && !s.IsZero() && e.Machine.Driver == nil {
		e.find("DRV010", trifle, s).
			says("collect_env shows no driver while CUDA works: nvidia-smi of R610 and later names its fields anew").
			fix("nothing to do")
	}
}

// otherKernel: NVIDIA's module was built for other kernels than the one that runs.
func (e *exam) otherKernel() {
	k := e.Place.Kernels
	if k.Running == "" || len(k.Built) == 0 || slices.Contains(k.Built, k.Running) {
		return
	}
	e.find("KMD003", proven, k.BuiltAt, k.RunningAt).
		says("NVIDIA's kernel module was built for kernel %s, and %s runs", k.Built[len(k.Built)-1], k.Running).
		fix("`sudo apt install linux-headers-"+k.Running+" && sudo dkms autoinstall && sudo modprobe nvidia`",
			"where that does not build: start the older kernel from the boot menu, and take a newer driver").
		explains("DRV001", "DRV002", "DRV013", "GPU001")
}
