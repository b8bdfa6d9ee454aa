package machine

// hosts lend machines, and a GPU comes with them or not: by a variable that the host sets.
// One that runs within another stands before it. Sources: kaggle.com/docs/notebooks;
// research.google.com/colaboratory/faq.html; docs.runpod.io, environment variables;
// containers.dev, devcontainer.json; docs.github.com, default environment variables;
// docs.gitlab.com, predefined variables; slurm.schedmd.com, sbatch, --gres;
// jupyterhub.readthedocs.io, spawners; kubernetes.io, schedule GPUs.
var hosts = []struct{ variable, name, way string }{
	{"KAGGLE_KERNEL_RUN_TYPE", "Kaggle notebook", "Settings → Accelerator gives it one, in a new session"},
	{"COLAB_RELEASE_TAG", "Colab runtime", "Runtime → Change runtime type gives one; what was installed is gone then"},
	{"CODESPACES", "codespace", "`envfix plan --gpu NAME --driver VERSION` plans for a machine that has one"},
	{"RUNPOD_POD_ID", "pod of RunPod", "a pod gets its GPU when it is made; only /workspace on a network volume outlives it"},
	{"REMOTE_CONTAINERS", "dev container", "`\"runArgs\": [\"--gpus\", \"all\"]` in devcontainer.json, then rebuild the container"},
	{"GITHUB_ACTIONS", "GitHub runner", "`runs-on` names a runner that has one; `envfix plan --gpu NAME --driver VERSION` plans for another machine"},
	{"GITLAB_CI", "GitLab job", "`tags` names a runner that has one; `envfix plan --gpu NAME --driver VERSION` plans for another machine"},
	{"SLURM_JOB_ID", "job of Slurm", "`--gres=gpu:1` asks for one"},
	{"JUPYTERHUB_API_URL", "server of JupyterHub", "stop it in the hub's control panel, and start one with a GPU where the hub offers it"},
	{"KUBERNETES_SERVICE_HOST", "pod of Kubernetes", "a limit `nvidia.com/gpu: 1` in its resources gives it one"},
}

// Lent is what m is where a host lends it without a GPU, and how it gets one there; "" it
// is nothing of the kind, or nothing says so.
func (m Machine) Lent() (name, way string) {
	for _, h := range hosts {
		if m.Env[h.variable] != "" {
			return h.name, h.way
		}
	}
	return "", ""
}
