package access

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

var launched = lazy.Regexp(`(?i)(?:nproc[_-]per[_-]node|num[_-]processes|tensor[_-]parallel[_-]size)[= ]+(\d+)`)

// tooMany: the program asks for the second GPU of one. How many there are is known where
// a list of them was read.
func tooMany(e *evidence.Evidence, out *evidence.Findings) {
	h := e.Hit("cuda-ordinal")
	n := len(xslices.Filter(e.Machine.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA }))
	if h == nil || n == 0 || !e.Listed && e.Says.GPUs == 0 {
		return
	}
	there := say.Either(n > 1, fmt.Sprintf("there are %d, numbered 0 to %d", n, n-1), "there is 1, with the number 0")
	f := out.Find("ACC002", evidence.Strong, h.At, e.From.GPU).Says("the program asks for a GPU number that is not there: %s", there)
	if m := launched().FindStringSubmatch(e.Did.Launch.Text); m != nil {
		f.Do(fmt.Sprintf("as many processes as GPUs: `torchrun --nproc-per-node=%d`", n), "or fewer: every process takes one GPU")
	}
}

// tooManyLeft: what is visible is counted anew, from 0.
func tooManyLeft(e *evidence.Evidence, out *evidence.Findings) {
	h := e.Hit("cuda-ordinal")
	v := strings.Trim(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	if h == nil || v == "" || strings.Trim(v, "0123456789,") != "" {
		return
	}
	n := len(strings.Split(v, ","))
	f := out.Find("ACC002", evidence.Likely, h.At, e.From.Env["CUDA_VISIBLE_DEVICES"])
	if n == 1 {
		f.Says("the program asks for a GPU number that is not there: CUDA_VISIBLE_DEVICES=%s leaves one GPU, and its number is 0", v).
			Do("`cuda:0` in the program, or `unset CUDA_VISIBLE_DEVICES`")
		return
	}
	f.Says("the program asks for a GPU number that is not there: CUDA_VISIBLE_DEVICES leaves %d GPUs, numbered 0 to %d", n, n-1).
		Do(fmt.Sprintf("as many processes on a node as GPUs: `torchrun --nproc-per-node=%d`, in Slurm `--ntasks-per-node=%d`", n, n),
			"the number of a process on its node is LOCAL_RANK (SLURM_LOCALID), not RANK")
}

// fewerCounted: torch counts as many GPUs as the variable names, and there are more.
func fewerCounted(e *evidence.Evidence, out *evidence.Findings) {
	v := strings.Trim(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	there := max(e.Says.GPUs, len(e.Machine.GPUs))
	n := len(strings.Split(v, ","))
	if v == "" || e.Jobs.Counted != n || there <= n || !e.Listed && e.Says.GPUs == 0 {
		return
	}
	out.Find("ACC001", evidence.Likely, e.From.Env["CUDA_VISIBLE_DEVICES"], e.Jobs.CountedAt).
		Says("torch counts %d of %d GPUs, those that CUDA_VISIBLE_DEVICES=%s names", n, there, v).
		Do("`unset CUDA_VISIBLE_DEVICES`, unless the scheduler set it: then ask the scheduler for more").
		As(evidence.Warning)
}
