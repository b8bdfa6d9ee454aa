package doctor

import (
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// runningRules look at one running process.
var runningRules = []rule{
	{[]string{"PY034"}, "libraries that a process has mapped and that have no name any more", (*exam).replacedUnder},
	{[]string{"DRV022"}, "the driver's library that a process has mapped", (*exam).driverOfProcess},
	{[]string{"ACC020"}, "the devices that a process has open", (*exam).noDeviceOpen},
}

// ownLibrary are the libraries whose loss means something to torch.
var ownLibrary = lazy.Regexp(`^(_C\.|lib(torch|c10|caffe2|cuda|cudnn|cublas|nccl|cusparse|cusolver|cufft|curand|nvrtc|nvJitLink|nvidia-))`)

// replacedUnder: an installer replaced libraries while the process ran. What it
// loads from now on is of the other version.
func (e *exam) replacedUnder() {
	r := e.Running
	if r == nil {
		return
	}
	var gone []string
	for _, f := range r.Gone {
		if ownLibrary().MatchString(path.Base(f)) && !strings.HasPrefix(path.Base(f), "libcuda.so") {
			gone = append(gone, f)
		}
	}
	if len(gone) == 0 {
		return
	}
	e.find("PY034", proven, fact("mapped and gone: %s", gone[0])).
		says("%d libraries that process %d runs with were replaced or removed while it ran, %s first",
			len(gone), r.PID, path.Base(gone[0])).
		explains("PY010", "PY011", "LD003")
}

// driverOfProcess: the driver was updated while the process ran.
func (e *exam) driverOfProcess() {
	r, d := e.Running, e.Machine.Driver
	if r == nil || r.Driver == "" || d == nil || d.LoadedVersion.IsZero() {
		return
	}
	theirs, err := version.ParseDotted(r.Driver)
	gone := slices.ContainsFunc(r.Gone, func(f string) bool { return strings.HasPrefix(path.Base(f), "libcuda.so") })
	if err != nil || theirs.Compare(d.LoadedVersion) == 0 || !gone && r.Elsewhere {
		return
	}
	e.find("DRV022", proven, fact("process %d has libcuda.so.%s mapped", r.PID, theirs), e.From.Module).
		says("process %d runs with the library of driver %s, and %s is loaded", r.PID, theirs, d.LoadedVersion)
}

// noDeviceOpen: torch is loaded, a GPU is there, and the process holds none.
func (e *exam) noDeviceOpen() {
	r := e.Running
	g := e.firstGPU(machine.NVIDIA)
	if r == nil || !r.Torch || len(r.Devices) > 0 || g == nil || !g.Visible || e.Machine.Platform.Environment == machine.WSL2 {
		return
	}
	e.find("ACC020", trifle, fact("process %d has no /dev/nvidia* open", r.PID))
}
