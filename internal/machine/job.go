package machine

import "slices"

// jobs begin a command in a job with one GPU, by the program that submits jobs. Sources:
// slurm.schedmd.com, srun, --gres; IBM's documentation of LSF, bsub -gpu;
// flux-framework.readthedocs.io, flux-run(1), --gpus-per-task.
var jobs = []struct{ tool, begin string }{
	{"sbatch", "srun --gres=gpu:1"}, {"bsub", "bsub -I -gpu num=1"}, {"flux", "flux run --gpus-per-task=1"},
}

// InJob is, for a text, a command in a job with a GPU of the cluster that m is a node of.
// For qsub's GPUs each site has its own words.
func (m Machine) InJob(command string) string {
	for _, j := range jobs {
		if slices.ContainsFunc(m.Tools, func(t Tool) bool { return t.Name == j.tool }) {
			return "`" + j.begin + " " + command + "`"
		}
	}
	return "`" + command + "` in a job with a GPU"
}
