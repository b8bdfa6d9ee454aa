package read

import "strings"

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
