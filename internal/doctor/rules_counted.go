package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// countedRules look at how many GPUs there are, and where.
var countedRules = []rule{
	{[]string{"ACC002"}, "the number of a GPU that is asked for, and how many there are", (*exam).tooMany},
	{[]string{"ACC002"}, "the number of a GPU that is asked for, and how many CUDA_VISIBLE_DEVICES leaves", (*exam).tooManyLeft},
	{[]string{"ACC001"}, "how many GPUs torch counts, and CUDA_VISIBLE_DEVICES", (*exam).fewerCounted},
	{[]string{"ACC011"}, "a cluster, and a node that has no nvidia-smi", (*exam).loginNode},
	{[]string{"ACC011"}, "a job of Slurm, and what was asked for it", (*exam).plainJob},
}

var launched = lazy.Regexp(`(?i)(?:nproc[_-]per[_-]node|num[_-]processes|tensor[_-]parallel[_-]size)[= ]+(\d+)`)

// tooMany: the program asks for the second GPU of one. How many there are is known where
// a list of them was read.
func (e *exam) tooMany() {
	h := e.hit("cuda-ordinal")
	n := 0
	for _, g := range e.Machine.GPUs {
		if g.Vendor == machine.NVIDIA {
			n++
		}
	}
	if h == nil || n == 0 || !e.Listed && e.Says.GPUs == 0 {
		return
	}
	there := "there is 1, with the number 0"
	if n > 1 {
		there = fmt.Sprintf("there are %d, numbered 0 to %d", n, n-1)
	}
	f := e.find("ACC002", strong, h.At, e.From.GPU).says("the program asks for a GPU number that is not there: %s", there)
	if m := launched().FindStringSubmatch(e.Did.Launch.Text); m != nil {
		f.fix(fmt.Sprintf("as many processes as GPUs: `torchrun --nproc-per-node=%d`", n), "or fewer: every process takes one GPU")
	}
}

// loginNode: a cluster's GPUs are in its compute nodes, and what is asked on the login
// node has neither a GPU nor nvidia-smi.
func (e *exam) loginNode() {
	s, ok := e.has("smi-not-found")
	if !ok || e.Place.Cluster.IsZero() || !e.Place.Container.IsZero() || strings.Contains(e.Place.Cluster.Text, "SLURM_JOB_GPUS") {
		return
	}
	at := []read.Evidence{s, e.Place.Cluster}
	e.find("ACC011", strong+2, at...).
		text("this is a node of a cluster without an NVIDIA driver, such as its login node: the GPUs are in other nodes").
		fix("ask the scheduler for one: `srun --gres=gpu:1 --pty nvidia-smi` shows it", "in a job's script: `#SBATCH --gres=gpu:1`").
		explains("DRV002", "DRV001", "GPU001", "PY001")
}

// tooManyLeft: what is visible is counted anew, from 0.
func (e *exam) tooManyLeft() {
	h := e.hit("cuda-ordinal")
	v := strings.Trim(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	if h == nil || v == "" || strings.Trim(v, "0123456789,") != "" {
		return
	}
	n := len(strings.Split(v, ","))
	f := e.find("ACC002", likely, h.At, e.From.Env["CUDA_VISIBLE_DEVICES"])
	if n == 1 {
		f.says("the program asks for a GPU number that is not there: CUDA_VISIBLE_DEVICES=%s leaves one GPU, and its number is 0", v).
			fix("`cuda:0` in the program, or `unset CUDA_VISIBLE_DEVICES`")
		return
	}
	f.says("the program asks for a GPU number that is not there: CUDA_VISIBLE_DEVICES leaves %d GPUs, numbered 0 to %d", n, n-1).
		fix(fmt.Sprintf("as many processes on a node as GPUs: `torchrun --nproc-per-node=%d`, in Slurm `--ntasks-per-node=%d`", n, n),
			"the number of a process on its node is LOCAL_RANK (SLURM_LOCALID), not RANK")
}

// plainJob: Slurm gives a job the GPUs that it asks for, and hides the others.
// Source: slurm.schedmd.com, gres.html.
func (e *exam) plainJob() {
	j := e.Jobs
	if j.Plain.IsZero() || !j.GPU.IsZero() {
		return
	}
	s, ok := e.has(noDevice...)
	if !ok && e.unavailable() {
		s, ok = e.Torch.AvailableAt, true
	}
	if !ok || e.Torch.NoCUDA {
		return
	}
	e.find("ACC011", likely, j.Plain, s).
		text("the job of Slurm asked for no GPU, so it sees none").
		fix("ask for one: `srun --gres=gpu:1 --pty bash`", "in a job's script: `#SBATCH --gres=gpu:1`").
		explains("DRV013", "DRV001", "DRV002", "ACC001", "GPU001", "PY001")
}

// fewerCounted: torch counts as many GPUs as the variable names, and there are more.
func (e *exam) fewerCounted() {
	v := strings.Trim(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	there := max(e.Says.GPUs, len(e.Machine.GPUs))
	n := len(strings.Split(v, ","))
	if v == "" || e.Jobs.Counted != n || there <= n || !e.Listed && e.Says.GPUs == 0 {
		return
	}
	e.find("ACC001", likely, e.From.Env["CUDA_VISIBLE_DEVICES"], e.Jobs.CountedAt).
		says("torch counts %d of %d GPUs, those that CUDA_VISIBLE_DEVICES=%s names", n, there, v).
		fix("`unset CUDA_VISIBLE_DEVICES`, unless the scheduler set it: then ask the scheduler for more").
		severity(know.Warning)
}
