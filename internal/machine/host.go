package machine

import (
	"slices"
	"strings"

	"envfix/internal/xslices"
)

// A lender is known by a sign: it has a name, and a way to a GPU.
type lender struct{ sign, name, way string }

// hosts lend machines, and a GPU comes with them or not: by a variable that the host sets.
// One that runs within another stands before it. Sources: kaggle.com/docs/notebooks;
// research.google.com/colaboratory/faq.html; docs.runpod.io, environment variables;
// docs.vast.ai, docker environment; lightning.ai/docs, studios; modal.com/docs, gpu;
// docs.aws.amazon.com/sagemaker, spaces; docs.digitalocean.com, Paperspace notebooks;
// containers.dev, devcontainer.json; docs.github.com, default environment variables;
// docs.gitlab.com, predefined variables; circleci.com/docs, variables; jenkins.io/doc,
// environment variables; buildkite.com/docs, environment variables; learn.microsoft.com,
// Azure Pipelines, predefined variables; slurm.schedmd.com, sbatch, --gres; PBS Professional,
// qsub, ngpus; IBM Spectrum LSF, bsub -gpu; jupyterhub.readthedocs.io, spawners;
// kubernetes.io, schedule GPUs.
var hosts = []lender{
	{"KAGGLE_KERNEL_RUN_TYPE", "Kaggle notebook", "Settings → Accelerator gives it one, in a new session"},
	{"COLAB_RELEASE_TAG", "Colab runtime", "Runtime → Change runtime type gives one; what was installed is gone then"},
	{"CODESPACES", "codespace", otherMachine},
	{"LIGHTNING_CLOUD_SPACE_ID", "Lightning studio", "its menu of machines switches it to one with a GPU; the studio's files stay"},
	{"SAGEMAKER_SPACE_NAME", "SageMaker space", "stop it, choose an instance of ml.g or ml.p, and run it again"},
	{"PAPERSPACE_NOTEBOOK_REPO_ID", "Paperspace notebook", "stop it and start it on a machine with a GPU; only /notebooks and /storage outlive it"},
	{"MODAL_TASK_ID", "function of Modal", "`gpu=` in its decorator asks for one"},
	{"RUNPOD_POD_ID", "pod of RunPod", "a pod gets its GPU when it is made; only /workspace on a network volume outlives it"},
	{"VAST_CONTAINERLABEL", "instance of Vast.ai", "an instance gets its GPU when it is made: make another"},
	{"REMOTE_CONTAINERS", "dev container", "`\"runArgs\": [\"--gpus\", \"all\"]` in devcontainer.json, then rebuild the container"},
	{"GITHUB_ACTIONS", "GitHub runner", "`runs-on` names a runner that has one; " + otherMachine},
	{"GITLAB_CI", "GitLab job", "`tags` names a runner that has one; " + otherMachine},
	{"CIRCLECI", "CircleCI job", "`resource_class` names a machine that has one; " + otherMachine},
	{"JENKINS_URL", "Jenkins build", "`agent { label … }` names an agent that has one; " + otherMachine},
	{"BUILDKITE", "Buildkite job", "`agents` names an agent that has one; " + otherMachine},
	{"TF_BUILD", "job of Azure Pipelines", "`pool` names agents that have one; " + otherMachine},
	{"SLURM_JOB_ID", "job of Slurm", "`--gres=gpu:1` asks for one"},
	{"PBS_JOBID", "job of PBS", "`-l select=1:ngpus=1` asks for one"},
	{"LSB_JOBID", "job of LSF", "`-gpu num=1` asks for one"},
	{"JUPYTERHUB_API_URL", "server of JupyterHub", "stop it in the hub's control panel, and start one with a GPU where the hub offers it"},
	{"KUBERNETES_SERVICE_HOST", "pod of Kubernetes", "a limit `nvidia.com/gpu: 1` in its resources gives it one"},
	{"CI", "job of a CI", otherMachine},
}

const otherMachine = "`envfix plan --gpu NAME --driver VERSION` plans for a machine that has one"

// clouds name their machines in the firmware, as Platform.Product tells it. Sources:
// docs.aws.amazon.com/ec2, instance types; cloud.google.com/compute/docs/gpus;
// learn.microsoft.com/azure, sizes for GPUs.
var clouds = []lender{
	{"Amazon EC2", "instance of Amazon EC2", "stop it and change its type: those of G and P have one"},
	{"Google Compute Engine", "instance of Google Cloud", "stop it and add a GPU, or change its machine type: those of A2, A3, A4, G2 and G4 have one"},
	{"Microsoft Azure", "virtual machine of Azure", "resize it: the sizes of N have one"},
}

// IsHost says whether a host sets the variable name on the machines that it lends.
func IsHost(name string) bool {
	return slices.ContainsFunc(hosts, func(l lender) bool { return l.sign == name })
}

// Lent is what m is where a host lends it without a GPU, and how it gets one there; "" it
// is nothing of the kind, or nothing says so.
func (m Machine) Lent() (name, way string) {
	by, ok := xslices.Find(hosts, func(l lender) bool { return m.Env[l.sign] != "" })
	if !ok {
		by, _ = xslices.Find(clouds, func(l lender) bool { return strings.HasPrefix(m.Platform.Product, l.sign) })
	}
	return by.name, by.way
}
