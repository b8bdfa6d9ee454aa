package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// countedRules look at how many GPUs there are, and where.
var countedRules = []rule{
	{[]string{"ACC002"}, "the number of a GPU that is asked for, and how many there are", (*exam).tooMany},
	{[]string{"ACC011"}, "a cluster, and a node that has no nvidia-smi", (*exam).loginNode},
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
