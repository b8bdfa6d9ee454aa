package unsaid

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A hypothesis is one reason why torch may see no GPU, and the command that proves or
// refutes it.
type hypothesis struct {
	likely bool // else possible
	cause  string
	text   string
	test   string // a command, and what it shows then
	then   string // what to do where it is so; "" the text says it
}

func (h hypothesis) String() string {
	how := say.Either(h.likely, "likely", "possible")
	return fmt.Sprintf("%s: %s; %s", how, h.text, h.test)
}

// question: torch sees no GPU, and what was found beside that are symptoms. The answer
// are hypotheses from what is known, each with its test.
func question(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	said, asked := unanswered(e)
	cause, open := strongest(found)
	if !asked || !open {
		return
	}
	all := hypotheses(e)
	if onlyAMD(e) { // what was found of ROCm follows from a build that is not for it
		cause = all[0].cause
	}
	var ways []string
	for i, h := range all {
		ways = append(ways, h.String())
		if i == 0 && h.then != "" {
			ways = append(ways, h.then)
		}
		cause = cmp.Or(cause, h.cause)
	}
	f := out.Find("GPU001", evidence.Hint, said).
		Of(cause).
		Do(append(ways, "`envfix doctor` on that machine looks at all of this at once")...)
	if told := known(e); told != "" {
		f.Says("torch sees no GPU, and nothing here says why; known is %s", told)
	}
	if withoutTorch(e) {
		f.Say("the program sees no GPU, and nothing here says why")
	}
}

// unanswered is where somebody says that torch sees no GPU, and reports whether that is
// what has to be answered.
func unanswered(e *evidence.Evidence) (evidence.Quote, bool) {
	said, unseen := e.None("ngc-no-gpu", "torch-no-kernel-driver")
	if !unseen { // mere words, but in so many
		said = e.Says.NotSeen
	}
	if !unseen && said.IsZero() || e.Torch.HIP != "" || e.Torch.Label == "xpu" || e.Torch.SeesGPU() || !e.Pasted ||
		e.Machine.Platform.OS == "macos" || e.CPUByChoice() || !e.Did.AskedCPU.IsZero() {
		return said, false
	}
	// Its own advice is for a machine without a GPU, and for one with it.
	only, _ := e.Has("deserialize-cuda")
	return said, only != said || e.GPU().First(machine.NVIDIA) != nil || e.Machine.Driver != nil
}

// strongest is the cause of the best proved symptom that was found; open: nothing that was
// found is an answer itself.
func strongest(found evidence.Found) (cause string, open bool) {
	best := evidence.Proof(0)
	for _, f := range found {
		symptom := f.Severity > evidence.Note
		switch {
		case symptom && f.Proof >= evidence.Hint, !symptom && f.Cause != "none":
			return "", false
		case symptom && f.Proof > best && f.Cause != "none":
			best, cause = f.Proof, f.Cause
		}
	}
	return cause, true
}

// known is what a paste says of GPU, driver and torch, in one line.
func known(e *evidence.Evidence) string {
	var out []string
	for _, vendor := range []string{machine.NVIDIA, machine.AMD} {
		if g := e.GPU().First(vendor); g != nil && g.Name != "" {
			out = append(out, "the "+g.Name)
			break
		}
	}
	if d := e.Machine.Driver; d != nil && !d.Version.IsZero() {
		out = append(out, "driver "+d.Version.String())
	}
	if e.Torch.Version != "" {
		out = append(out, "torch "+e.Torch.Named())
	}
	return strings.Join(out, ", ")
}

// hypotheses are the reasons that what is known leaves, the likely ones first.
func hypotheses(e *evidence.Evidence) []hypothesis {
	if onlyAMD(e) {
		return ofAMD(e)
	}
	all := []hypothesis{maybeContainer(e), maybeOldDriver(e), maybeCPUBuild(e), maybeNoDriver(e), maybeHidden(e), maybeOtherPython(e)}
	all = xslices.Filter(all, func(h hypothesis) bool { return h.text != "" })
	return xslices.First(all, func(h hypothesis) bool { return h.likely })
}

func onlyAMD(e *evidence.Evidence) bool {
	return e.GPU().Of(machine.AMD) && !e.GPU().Of(machine.NVIDIA)
}

// ofAMD are the reasons where the GPU is AMD's: what `pip install torch` brings is not
// for it, and the driver has a device file of its own.
// Source: ROCm installation guide, "Configuring permissions for GPU access".
func ofAMD(e *evidence.Evidence) []hypothesis {
	out := []hypothesis{{likely: true, cause: "torch_rocm_on_nvidia_or_reverse",
		text: "torch is the build for CUDA or for the CPU, which `pip install torch` brings: this GPU needs the ROCm build, which `" + e.PlanCommand() + "` names",
		test: "`python -c \"import torch; print(torch.version.hip)\"` ends in None then"}}
	if e.Machine.Platform.OS != "windows" {
		out = append(out, hypothesis{cause: "device_permissions", text: "this user may not open /dev/kfd",
			test: "`ls -l /dev/kfd /dev/dri/renderD*; id` shows a group (render, video) that the user is not in"},
			hypothesis{cause: "rocm_setup", text: "the driver amdgpu is not loaded, or ROCm does not know this GPU", test: "`rocminfo` lists no gfx target then"})
	}
	return out
}

// bundled reports whether the torch is one that a program or image brought along, with
// CUDA in it.
func bundled(e *evidence.Evidence) bool {
	return !e.Did.EmbeddedPython.IsZero() || !e.Says.ComfyUI.IsZero() || !e.Place.Colab.IsZero()
}

// withoutTorch reports whether the program that sees no GPU does not use torch.
func withoutTorch(e *evidence.Evidence) bool {
	_, ollama := e.Has("ollama-no-gpu")
	said, _ := e.None()
	by := speaker.Group(said.Text)
	return (ollama || e.Says.Torch.IsZero() && !e.Says.Other.IsZero() || by != "" && by != "torch") && e.Torch.Version == "" && !e.Torch.SeesNone()
}

// speaker leads what a module says that fails: the kind of its exception.
var speaker = lazy.Regexp(`^\W*([a-z]\w*)(?:\.\w+)*\.[A-Z]\w*(?:Error|Exception):`)

func maybeCPUBuild(e *evidence.Evidence) (h hypothesis) {
	if !e.Torch.CUDA.IsZero() || bundled(e) || withoutTorch(e) || ofCUDA(e) != nil {
		return
	}
	if v := evidence.PythonVersion(e.Torch.Version); e.Torch.Label != "" && !v.IsZero() {
		return // its label says what it is
	}
	h = hypothesis{cause: "torch_cpu_wheel", text: "the CPU build of torch is installed",
		test: evidence.AskTorch + " ends in None then", then: evidence.IfSo + "{torch}"}
	if !e.Did.CondaInstall.IsZero() {
		h.cause, h.then = "torch_cpu_conda", evidence.IfSo+e.Knowledge.Checks["PY025"].Fix[1]
	}
	// On Linux the default index carries the CUDA build.
	h.likely = e.Machine.Platform.OS == "windows" || e.Machine.Driver != nil || !e.Place.Conda.IsZero() ||
		e.Torch.Version == ""
	return h
}

// maybeOldDriver: the newest torch's own build asks for a driver that is newer than
// the one that is here.
func maybeOldDriver(e *evidence.Evidence) (h hypothesis) {
	d := e.Machine.Driver
	if e.Matrix == nil || d == nil || d.Version.IsZero() || !e.Torch.CUDA.IsZero() || withoutTorch(e) {
		return
	}
	if e.Torch.Version != "" && !defaultIs(e, 13) || !e.Did.CondaCUDA.IsZero() { // conda was told which CUDA
		return
	}
	f, ok := e.Matrix.Floor(newestLabel(e.Matrix))
	floor := e.Driver().FloorOf(f)
	if !ok || !d.Version.Less(floor) {
		return
	}
	h = hypothesis{likely: true, cause: "driver_too_old",
		text: fmt.Sprintf("the driver %s is too old for a torch of CUDA 13, which needs %s: update the driver to %d or newer, or install a build for CUDA 12",
			d.Version, floor, floor.Major()),
		test: evidence.AskTorch + " ends in 13.0 or more then"}
	if g, a := e.Driver().LeftBehind(floor); g != nil {
		h.cause, h.text = "gpu_too_old_for_wheel",
			fmt.Sprintf("torch is of CUDA 13, which needs driver %s, and %d is the last branch that drives the %s: an older torch, or another GPU",
				floor, a.LastBranch, evidence.NameOf(*g))
	}
	return h
}

// defaultIs reports whether the release that is here is built for this major of CUDA
// where nobody asks for another.
func defaultIs(e *evidence.Evidence, major int) bool {
	r, ok := e.Matrix.Release(e.Torch.Version)
	return ok && slices.ContainsFunc(unasked(r), func(b *matrix.Build) bool { return b.CUDA.Major() == major })
}

// newestLabel is the CUDA build that the newest release brings without asking.
func newestLabel(m *matrix.Matrix) string {
	if len(m.Releases) > 0 {
		if own := unasked(m.Releases[0]); len(own) > 0 {
			return own[0].Label
		}
	}
	return ""
}

// unasked are the CUDA builds of a release that come where nobody asks for another.
func unasked(r *matrix.Release) []*matrix.Build {
	return xslices.Filter(r.Builds, func(b *matrix.Build) bool { return b.Default && b.OS == "linux" && !b.CUDA.IsZero() })
}

func maybeNoDriver(e *evidence.Evidence) (h hypothesis) {
	if e.Machine.Driver != nil || !e.SMI.CUDA.IsZero() || !e.Says.SMIInside.IsZero() {
		return
	}
	return hypothesis{likely: !answered(e) && (e.Torch.Version == "" || !e.Torch.CUDA.IsZero()), cause: "driver_missing",
		text: "the NVIDIA driver is missing or not loaded", test: "`nvidia-smi` fails then"}
}

// answered reports whether a driver answered that it has no GPU for this process.
func answered(e *evidence.Evidence) bool { m := ofCUDA(e); return m != nil && m[1] != "" }

// ofCUDA is what only a build for CUDA says; nil: it is not said.
func ofCUDA(e *evidence.Evidence) []string {
	said, _ := e.None()
	return onlyCUDA().FindStringSubmatch(said.Text)
}

var onlyCUDA = lazy.Regexp(`(No CUDA GPUs are available|no CUDA-capable device|cudaErrorNoDevice|CUDA_ERROR_NO_DEVICE)|` +
	`Found no NVIDIA driver|CUDA (?:unknown error|initialization)|libcuda\.so`)

func maybeContainer(e *evidence.Evidence) (h hypothesis) {
	if e.Place.Container.IsZero() {
		return
	}
	if !e.Says.SMIInside.IsZero() {
		return hypothesis{likely: true, cause: "container_no_gpu",
			text: "the container has what nvidia-smi needs and not what CUDA needs: it was given single devices, or no capability compute: " +
				"start it with `--gpus all` and NVIDIA_DRIVER_CAPABILITIES=compute,utility; or the host itself has none of it yet: `sudo nvidia-modprobe -u -c=0` there",
			test: "`ls /dev/nvidia-uvm` in it fails then, or `ldconfig -p` shows no libcuda.so.1"}
	}
	asks := slices.ContainsFunc(e.Containers.Workloads, func(w *evidence.Workload) bool { return w.Asks != "" })
	return hypothesis{likely: true, cause: "container_no_gpu", text: say.Either(asks, "the container asks for a GPU, and its host passes none on",
		"the container was started without a GPU (docker: `--gpus all`)"),
		test: "`nvidia-smi` inside the container fails then, and works on the host"}
}

func maybeHidden(e *evidence.Evidence) (h hypothesis) {
	if _, set := e.Machine.Env["CUDA_VISIBLE_DEVICES"]; set {
		return
	}
	show := say.Either(e.Machine.Platform.OS == "windows", "`$env:CUDA_VISIBLE_DEVICES`", "`printenv CUDA_VISIBLE_DEVICES`")
	return hypothesis{likely: answered(e),
		cause: "env_cuda_visible_devices", text: "a variable hides the GPU",
		test: show + " prints -1, or a GPU that is not there",
	}
}

func maybeOtherPython(e *evidence.Evidence) (h hypothesis) {
	if bundled(e) || withoutTorch(e) || e.Torch.Rank == evidence.ByTorch {
		return
	}
	return hypothesis{cause: "torch_duplicate_install", text: "another Python runs than the one that torch was installed for",
		test: "`python -c \"import torch; print(torch.__file__)\"` shows whose torch it is"}
}
