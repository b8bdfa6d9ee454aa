package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// everydayRules look at what most people meet: where one message has opposite
// meanings, the facts beside it tell which.
var everydayRules = []rule{
	{[]string{"CODE012"}, "the two types that a message names", (*exam).dataTypes},
	{[]string{"MPS005"}, "a Mac, and a message about CUDA", (*exam).macCUDA},
	{[]string{"MPS001"}, "macOS, torch, and what torch says of MPS", (*exam).macTooOld},
	{[]string{"CTR006"}, "a container that had its GPU", (*exam).lostGPU},
	{[]string{"CTR026"}, "a container in LXC or LXD", (*exam).nestedContainer},
	{[]string{"LD018"}, "a shared library that is not NVIDIA's", (*exam).systemLibrary},
	{[]string{"PY006"}, "a torch, and the one that took its place", (*exam).replaced},
	{[]string{"ARC015"}, "a type that ctranslate2 does not compute in", (*exam).computeType},
	{[]string{"HW002"}, "an Xid that is written without its address", (*exam).bareXid},
	{[]string{"PERF019"}, "that what is missing is optional", (*exam).optional},
	{[]string{"DRV006"}, "the CUDA that nvidia-smi shows, and torch's", (*exam).newerDriver},
	{[]string{"PY001"}, "a project of uv, and the CPU build that it installed", (*exam).uvProject},
	{[]string{"PERF019"}, "the device that was asked for", (*exam).askedCPU},
	{[]string{"PERF001"}, "a GPU that torch sees and that does nothing at all", (*exam).unusedGPU},
}

var tensorTypes = lazy.Regexp(`(?i)Input type \((torch\.(?:cuda\.)?)(\w+)Tensor\) and (?:weight|` +
	`bias) type \((torch\.(?:cuda\.)?)(\w+)Tensor\)`)

// scalarTypes are named since torch 1.5 without the device: there the types alone differ.
var scalarTypes = lazy.Regexp(`(?i)Input type \(([\w:.]+)\) and (?:weight|bias) type \(([\w:.]+)\)`)

// dataTypes: both tensors are on the same device, and of different types.
func (e *exam) dataTypes() {
	for _, h := range e.Hits {
		if m := scalarTypes().FindStringSubmatch(h.At.Text); m != nil && m[1] != m[2] &&
			!strings.Contains(m[0], "torch.") {
			e.find("CODE012", likely, h.At).
				says("one tensor is %s and the other %s: the data types differ, and the fault is in the program",
					m[1], m[2]).
				explains("CODE001", "CODE002")
			return
		}
		if m := tensorTypes().FindStringSubmatch(h.At.Text); m != nil {
			if m[1] != m[3] || strings.EqualFold(m[2], m[4]) {
				continue
			}
			e.find("CODE012", likely, h.At).
				says("one tensor is %s and the other %s, on the same device: the data types differ, and the fault is in the program",
					m[2], m[4]).
				explains("CODE001", "CODE002")
			return
		}
	}
}

// macCUDA: nothing that is wrong with a build or a driver makes CUDA run on a Mac.
func (e *exam) macCUDA() {
	if e.Machine.Platform.OS != "macos" || e.vendor(machine.NVIDIA) && e.Machine.Driver != nil {
		return
	}
	s, ok := e.has(append([]string{"torch-cpu-build", "torch-not-linked-cuda", "torch-fp16-cpu", "app-no-gpu"},
		noDevice...)...)
	if !ok && e.unavailable() {
		s, ok = e.Torch.AvailableAt, true
	}
	if !ok && !e.Did.CondaCUDA.IsZero() {
		s, ok = e.Did.CondaCUDA, true
	}
	mps := slices.ContainsFunc(e.Hits, func(h read.Hit) bool { return strings.HasPrefix(h.Message.ID, "mps-") })
	if ok && !mps && e.unfound() == nil {
		e.drop("HW001", "PY001") // no card of NVIDIA's belongs there, and no build has CUDA
		e.find("MPS005", proven, s, e.From.OS).
			explains("PY001", "PY016", "PY025", "HW001", "DRV001", "DRV002", "ACC001", "CODE006", "GPU001")
	}
}

// macTooOld: torch 2.5 and newer use MPS from macOS 13 on, whatever the older message
// names. Source: pytorch/pytorch, release notes of 2.5.
func (e *exam) macTooOld() {
	h := e.hit("mps-macos")
	if h == nil {
		return
	}
	f := e.find("MPS001", likely, h.At, e.Torch.VersionAt, e.From.OS)
	if l := e.limit("mps-macos-13"); !pythonVersion(e.Torch.Version).IsZero() &&
		!l.Before(pythonVersion(e.Torch.Version)) {
		f.says("torch %s uses the Apple GPU from macOS %s on; this macOS is older", e.Torch.Version, l.Value).
			fix(fmt.Sprintf("update to macOS %s or newer", l.Value),
				"or an older torch, for this macOS: `pip install \"torch<"+l.Torch.String()+"\"`")
	}
}

// lostGPU: a container that had its GPU lost it: NVML says "Unknown Error" there once
// the device rules of its control group were written anew.
// Source: NVIDIA/nvidia-container-toolkit issue 48.
func (e *exam) lostGPU() {
	if s, ok := e.has("nvml-unknown"); ok && e.Machine.Platform.Environment == machine.Container {
		e.drop("CTR001") // it had its GPU
		e.find("CTR006", likely, s, e.Place.Container).explains("CTR001", "DRV015", "ACC001", "DRV001")
	}
}

// nestedContainer: an unprivileged LXC guest may not write device rules, so a
// container inside it gets none.
func (e *exam) nestedContainer() {
	c := e.Place.Container
	if c.IsZero() || e.Place.LXC.IsZero() || e.Says.Fails.IsZero() || !e.mentions(nestedWords()) ||
		e.From.Mismatch != (read.Evidence{}) {
		return
	}
	e.find("CTR026", strong+2, c).explains("CTR001", "CTR002", "CTR005", "CTR023")
}

var nestedWords = lazy.Regexp(`(?i)\b(?:docker|podman|containerd)\b`)

// mentions reports whether a line that was kept as evidence of the place holds a word.
func (e *exam) mentions(re interface{ MatchString(string) bool }) bool {
	for _, s := range []read.Evidence{e.Place.Container, e.Place.LXC, e.Says.Unseen} {
		if re.MatchString(s.Text) {
			return true
		}
	}
	return false
}

var missingLibrary = lazy.Regexp(`\b(lib[\w+.-]+?)(?:-\d+\.\d+)?\.(?:so|dylib)[.\d]*: cannot open shared object`)

// systemLibrary: a library that no package of torch brings; the system's own package
// does, and limits.yaml says which.
func (e *exam) systemLibrary() {
	for _, h := range e.Hits {
		if m := missingLibrary().FindStringSubmatch(h.At.Text); m != nil && e.packaged(m[1], h.At) {
			return
		}
	}
}

// packaged finds the package of a library, and reports whether it knows one.
func (e *exam) packaged(library string, at read.Evidence) bool {
	if m := pythonLibrary().FindStringSubmatch(library); m != nil {
		e.dropLine(at, "PY010", "LD011")
		e.find("LD018", proven, at).
			says("%s is Python's own library, and the Python %s that is meant is not there or lies elsewhere", library, m[1]).
			fix("conda: `export LD_LIBRARY_PATH=$CONDA_PREFIX/lib` in its environment; else a Python of its own: `uv venv --python "+m[1]+"`",
				fmt.Sprintf("the system's: `apt install libpython%s` on Debian and Ubuntu%s", m[1], byFile(at.Text))).
			explains("PY010", "LD011")
		return true
	}
	if ours().MatchString(library) {
		return false
	}
	for _, row := range e.limit("system-libraries").Values {
		f := strings.Fields(row) // library, Debian's package, Fedora's, whose it is
		if len(f) != 4 || f[0] != library {
			continue
		}
		ways := []string{fmt.Sprintf("Debian, Ubuntu: `apt install %s` (with sudo, where you are not root)", f[1]),
			fmt.Sprintf("Fedora, RHEL: `dnf install %s`", f[2]) + byFile(at.Text)}
		switch e.Machine.Platform.Distro {
		case "ubuntu", "debian":
			ways = ways[:1]
		case "fedora", "rhel", "centos", "rocky":
			ways = ways[1:]
		}
		if f[3] == "opencv" {
			ways = append(ways, "or without a display: `pip install opencv-python-headless` in place of opencv-python")
		}
		e.dropLine(at, "PY010", "LD011", "PY023")
		e.find("LD018", proven, at).
			says("%s belongs to the system, and %s needs it; it has nothing to do with NVIDIA or torch", library, f[3]).
			fix(ways...).
			explains("PY010", "LD011", "PY023")
		return true
	}
	e.dropLine(at, "PY010", "LD011")
	e.find("LD018", likely, at).says("%s belongs to the system or to another program; it is neither NVIDIA's nor torch's",
		library).
		explains("PY010", "LD011")
	return true
}

var pythonLibrary = lazy.Regexp(`^libpython(3\.\d{1,2})$`)

// byFile is how dnf finds the package of a library by what the library is called: an RPM
// names its libraries under what it provides. Source: rpm.org, "Automatic dependency
// generation".
func byFile(message string) string {
	m := soname().FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return ", or by the file: `dnf install '" + m[1] + "()(64bit)'`"
}

var soname = lazy.Regexp(`\b(lib[\w+.-]+?\.so\.[.\d]*\d)\b`)

// ours are the libraries that drivers, CUDA, ROCm and torch bring.
var ours = lazy.Regexp(`(?i)^lib(?:cu[a-z]+|nv\w+|nccl|npp\w+|nvidia.*|torch\w*|c10\w*|shm|caffe2\w*|amd\w+|` +
	`roc\w+|hip\w+|hsa.*|MIOpen|rccl|bitsandbytes\w*|mkl\w*|iomp5|stdc\+\+|tensorflow\w*|onnx\w*|python.*|ze_\w+|sycl|ccl|OpenCL|` +
	`cudnn\w*|cudart.*)$`)

// replaced: something put another torch in the place of the one that worked.
func (e *exam) replaced() {
	r := e.Replaced
	_, lost := e.has("torch-cpu-build")
	by := r.To
	switch {
	case r.Worse():
	case r.From != "" && r.To == "" && lost:
		by = "a build without CUDA"
	default:
		return
	}
	v, label := version.SplitLocal(r.From)
	f := e.find("PY006", proven, r.At).
		says("torch %s was replaced by %s", r.From, by).
		explains("PY001", "PY007", "PY018", "PY019", "GPU001")
	if e.Matrix == nil || !strings.HasPrefix(label, "cu") {
		return
	}
	if release, ok := e.Matrix.Release(v); ok {
		if b, ok := release.Build(label, cmp.Or(e.Machine.Platform.OS, "linux"),
			cmp.Or(e.Machine.Platform.Arch, "x86_64")); ok && b.Index != "" && e.installable(v, label) {
			f.fix("`pip install --force-reinstall "+e.pairOf(v, label, machine.Machine{Platform: machine.Platform{
				OS: b.OS, Arch: b.Arch,
			}})+" --index-url "+b.Index+"`",
				"keep it: `pip install -c constraints.txt -r requirements.txt`, with the line torch=="+r.From+" in constraints.txt")
		}
	}
}

// computeType: the type that failed is no advice.
func (e *exam) computeType() {
	h := e.hit("ct2-fp16")
	if h == nil {
		return
	}
	failed := "float16"
	for _, t := range []string{"bfloat16", "int8_float16", "int8_bfloat16", "float16", "int8"} {
		if strings.Contains(h.At.Text, "Requested "+t+" ") {
			failed = t
		}
	}
	f := e.find("ARC015", strong+2, h.At, e.From.GPU).
		says("this device does not compute in %s: that GPU is too old for it, or no GPU is used at all", failed).
		explains("ARC008", "CODE006")
	if failed == "int8" {
		f.fix("`compute_type=\"float32\"`")
	}
}

var xid79 = lazy.Regexp(`(?i)\bXid (?:error )?79\b`)

// bareXid: people name the number alone.
func (e *exam) bareXid() {
	if h := e.hit("xid-hardware"); h != nil && xid79().MatchString(h.At.Text) {
		e.find("HW002", likely, h.At).explains("KMD012")
	}
}

// askedCPU: the CPU was asked for, and that is what is used.
func (e *exam) askedCPU() {
	s, warned := e.has("torch-fp16-cpu", "torch-fallback-cpu", "device-is-cpu")
	if h := e.hit("app-no-gpu"); h != nil && strings.Contains(h.At.Text, "no accelerator is found") { // DataLoader's pin_memory
		s, warned = h.At, true
	}
	if warned && !e.Did.AskedCPU.IsZero() && !e.unavailable() {
		e.calm("nothing is wrong: the CPU was asked for, and the program runs on it", s, e.Did.AskedCPU)
	}
}

// unusedGPU: a GPU that waits for data does something now and then; one at zero has
// nothing to do.
func (e *exam) unusedGPU() {
	for _, h := range e.Clues {
		if h.Clue.ID == "zero-util-available" && !e.unavailable() && nothingAtAll().MatchString(h.At[0].Text) {
			e.find("PERF001", strong+2, h.At...).explains("PERF002")
			return
		}
	}
}

var nothingAtAll = lazy.Regexp(`(?i)(?:^|[^\d.-])0 ?%|\bzero\b|\bnot (?:being )?used\b|\bunused\b`)

// optional: xformers names what is missing and goes on without.
func (e *exam) optional() {
	if s, ok := e.has("triton-optional"); ok {
		e.drop("PY009", "PY012", "GPU001")
		e.find("PERF019", strong, s).
			says("nothing is wrong: triton is optional here, and the program runs without it").
			fix("nothing to do").
			severity(know.Note)
	}
}

// newerDriver: nvidia-smi shows a CUDA that is no older than torch's, and both are as
// they should be.
func (e *exam) newerDriver() {
	if !e.SMI.CUDA.IsZero() && !e.Torch.CUDA.IsZero() && !e.SMI.CUDA.Less(dotted(e.Torch.CUDA.MajorMinor())) {
		for _, f := range e.out {
			if f.Check == "DRV006" {
				f.says("nvidia-smi shows the newest CUDA that the driver runs (%s), and torch brings its own (%s): nothing is wrong",
					e.SMI.CUDA, e.Torch.CUDA.MajorMinor()).
					fix("nothing to do")
			}
		}
	}
}

// uvProject: what `uv sync` installs, the project's own sources decide.
func (e *exam) uvProject() {
	s := e.Did.UVProject
	if s.IsZero() || !e.Torch.NoCUDA || e.cpuByChoice() {
		return
	}
	e.drop("PY001", "PY016")
	e.find("PY001", proven, s, e.Torch.VersionAt).
		says("uv installed the CPU build of torch: the project's sources or markers give this system no index with CUDA").
		fix("in pyproject.toml: under `[tool.uv.sources]` torch must name PyTorch's index for this system too; see its marker (sys_platform)",
			"then `uv lock` and `uv sync --reinstall-package torch`",
			"`envfix plan` names the index for the GPU and driver")
}

// drop takes findings back: a line that says that all is well ends what was read into
// another.
func (e *exam) drop(checks ...string) {
	e.out = slices.DeleteFunc(e.out, func(f *finding) bool { return slices.Contains(checks, f.Check) })
}

// dropLine takes back what was read into one line alone.
func (e *exam) dropLine(at read.Evidence, checks ...string) {
	e.out = slices.DeleteFunc(e.out, func(f *finding) bool {
		return slices.Contains(checks, f.Check) && len(f.Evidence) == 1 && f.Evidence[0] == at.String()
	})
}

// calm takes back what was found before, and says that nothing is wrong.
func (e *exam) calm(text string, at ...read.Evidence) {
	e.out = nil
	e.find("PERF019", proven, at...).text(text).fix("nothing to do").severity(know.Note)
}
