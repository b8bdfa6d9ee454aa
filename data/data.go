// Package data embeds the compatibility matrix that envfix was built with. It
// holds no logic; package matrix reads it.
package data

import _ "embed"

// Knowledge are the files of FS that the doctor's package know reads, in the order in which
// one names what is in another.
var Knowledge = []string{
	"causes.yaml", "checks.yaml", "messages.yaml", "clues.yaml", "xids.yaml", "limits.yaml", "rules_torch.yaml", "rules_driver.yaml",
	"rules_code.yaml", "rules_machine.yaml", "rules_containers.yaml", "rules_environment.yaml", "rules_around.yaml",
	"rules_libraries.yaml", "readers_torch.yaml", "readers_around.yaml", "installers.yaml", "classes.yaml",
}

// The compiled forms of FS, made by `go generate ./data`: one for each part, so
// that a command reads what it needs. Tests keep them in step with the files.
//
//go:generate go run envfix/internal/compile .
var (
	//go:embed matrix.bin
	Matrix string
	//go:embed devices.bin
	Devices string
	//go:embed doctor.bin
	Doctor string
	//go:embed catalogue.bin
	Catalogue string
	// Modules are the modules that distributions bring; it has no other form.
	//go:embed modules.tsv
	Modules string
	// Verdicts are those on a job, in words; it has no other form either.
	//go:embed verdicts.tsv
	Verdicts string
	// Hosts lend machines, a GPU with them or not, in columns: host, a variable that it sets, what
	// it lends, how a GPU is got there, {described} standing for what plans for another machine;
	// clouds name theirs in the firmware. One that runs within another stands before it. Sources:
	// kaggle.com/docs/notebooks; research.google.com/colaboratory/faq.html; docs.runpod.io,
	// environment variables; docs.vast.ai, docker environment; lightning.ai/docs, studios;
	// modal.com/docs, gpu; docs.aws.amazon.com/sagemaker, spaces; docs.digitalocean.com, Paperspace
	// notebooks; containers.dev, devcontainer.json; docs.github.com, default environment variables;
	// docs.gitlab.com, predefined variables; circleci.com/docs, variables; jenkins.io/doc, environment
	// variables; buildkite.com/docs, environment variables; learn.microsoft.com, Azure Pipelines,
	// predefined variables; slurm.schedmd.com, sbatch, --gres; PBS Professional, qsub, ngpus; IBM
	// Spectrum LSF, bsub -gpu; jupyterhub.readthedocs.io, spawners; kubernetes.io, schedule GPUs;
	// docs.aws.amazon.com/ec2, instance types; cloud.google.com/compute/docs/gpus;
	// learn.microsoft.com/azure, sizes for GPUs. It is read as it is.
	//go:embed hosts.tsv
	Hosts string
)
