package read

import (
	"strings"

	"envfix/internal/lazy"
)

// Jobs is what schedulers and launchers were asked for, and what they gave.
type Jobs struct {
	Plain     Evidence // srun, salloc or sbatch, without a word of GPUs
	GPU       Evidence // … and with one
	Interface Evidence // NCCL talks over an interface that no other machine reaches
	PerTask   Evidence // one GPU for each task
	Counted   int      // how many GPUs torch.cuda.device_count() says; 0: not said, or none
	CountedAt Evidence
	Module    Evidence // the last package whose files a traceback names, torch's own apart
}

// jobReaders read what is asked of a scheduler, and what programs say of where they run.
var jobReaders = []reader{
	{`(?:^|[$#>%] ?)(?:srun|salloc|sbatch) +[^:\s]\S*`, func(r *Reader, _ []string, s Evidence) {
		if asksGPU().MatchString(r.whole) {
			r.say(&r.c.Jobs.GPU, s)
			return
		}
		r.say(&r.c.Jobs.Plain, s)
	}},
	{`cuda\.device_count\(\)\W*(?:returns?|is|gives?|prints?|says|=+>?|->|:)?\W*([1-9]\d?)\b`, func(r *Reader, m []string, s Evidence) {
		r.c.Jobs.Counted = Atoi(m[1])
		r.say(&r.c.Jobs.CountedAt, s)
	}},
	{`#SBATCH .*(?:` + gpuAsked + `)`, says(func(c *Case) *Evidence { return &c.Jobs.GPU })},
	{`--gpus-per-task[= ]1\b`, says(func(c *Case) *Evidence { return &c.Jobs.PerTask })},
	{`Raspberry ?Pi\b`, speaks(func(c *Case) *Evidence { return &c.Place.Raspberry })},
	{`(?:pytorch/pytorch|nvidia/cuda):[\w.-]+-runtime\b(?:-[a-z]+[\d.]+)?`, func(r *Reader, m []string, _ Evidence) {
		r.c.Containers.Runtime = m[0]
	}},
	{`= *(?:self\.)?(?:model|net|network)\(\w`, speaks(func(c *Case) *Evidence { return &c.Did.CallsModel })},
	{`\.to\(|\.cuda\(|device_map|\bdevice ?=|accelerat|\bTrainer\b`, speaks(func(c *Case) *Evidence { return &c.Did.Moves })},
	{`\bGPU\b.{0,20}\b0 ?%|\b0 ?% GPU|GPU.{0,20}(?:not used|unused|idle)`, speaks(func(c *Case) *Evidence { return &c.Says.Idle })},
	{`(?:NCCL INFO (?:Bootstrap|NET/Socket) ?: |\bNCCL\w* .{0,16})Using (?:\[\d\]\S+ )*(?:\[\d\])?(?:docker\d+|br-[0-9a-f]+|virbr\d+|veth\w+|cni\d+|podman\d+)\b`,
		says(func(c *Case) *Evidence { return &c.Jobs.Interface })},
	{`\bConnect(?:ing|ed)? to 172\.1[78]\.\d+\.\d+<|connect\w* .{0,40}\b172\.1[78]\.0\.1\b`,
		says(func(c *Case) *Evidence { return &c.Jobs.Interface })}, // docker's bridges begin there
	{`^\s*PyTorch \((\d+\.\d+)\)\. Please make sure`, takes((*Reader).torchCUDA)},
	{`(?:site|dist)-packages[/\\](\w+)[/\\]`, func(r *Reader, m []string, s Evidence) {
		if name := strings.ToLower(m[1]); name != "torch" && name != "nvidia" {
			r.c.Jobs.Module = s
		}
	}},
	{`MIG \S+ +Device +\d+: \(UUID: (MIG-[\w/-]+)\)`, func(r *Reader, m []string, s Evidence) {
		if len(r.c.Instances) < 64 {
			r.c.Instances = append(r.c.Instances, m[1])
			r.say(&r.c.From.Instances, s)
		}
	}},
	{`No MIG devices found`, says(func(c *Case) *Evidence { return &c.From.Undivided })},
	{`PyTorch has CUDA Version=(\d+\.\d+)`, takes((*Reader).torchCUDA)},
	{"You're on (?:macOS|Windows|Linux) \\(`([a-z]+)_([\\w.]+)`\\)", func(r *Reader, m []string, s Evidence) {
		r.platformTag(m[1], m[2], s)
	}},
	{`calcsize\(.P.\) ?\* ?8`, waits("bits")},
	{`\b(?:iMac|Mac ?Book|Mac mini|macOS)\b.{0,40}\bIntel\b|\bIntel(?:[- ]based)? (?:Mac|iMac)`, func(r *Reader, _ []string, s Evidence) {
		if p := &r.c.Machine.Platform; p.Arch == "" && (p.OS == "" || p.OS == "macos") {
			p.OS, p.Arch = "macos", "x86_64"
			r.say(&r.c.From.OS, s)
			mark(&r.c.From.Arch, s)
		}
	}},
	{`\b32[ -]bit \(Intel\)`, func(r *Reader, _ []string, s Evidence) { r.thirtyTwo(s) }},
}

// gpuAsked is how Slurm is asked for a GPU. The name of a partition says nothing.
const gpuAsked = `--gres\b|--gpu|(?:-C|--constraint)[= ]*\S*gpu|--tres\S*gpu|-G ?\d`

var asksGPU = lazy.Regexp(`(?i)` + gpuAsked)

// platformTag takes the platform of this machine as a wheel's name has it (PEP 425).
func (r *Reader) platformTag(system, rest string, s Evidence) {
	p := &r.c.Machine.Platform
	switch {
	case strings.HasPrefix(system, "macosx"):
		p.OS = "macos"
	case strings.HasPrefix(system, "win"):
		p.OS = "windows"
	default:
		p.OS = "linux"
	}
	for _, a := range []string{"x86_64", "arm64", "aarch64", "amd64"} {
		if strings.HasSuffix(rest, a) {
			p.Arch = a
			r.c.From.Arch = s
		}
	}
	r.say(&r.c.From.OS, s)
}

// thirtyTwo: Python is a 32-bit one, whatever the machine.
func (r *Reader) thirtyTwo(s Evidence) {
	r.c.Machine.Platform.Arch = "32-bit"
	r.say(&r.c.From.Arch, s)
}
