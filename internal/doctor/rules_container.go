package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
)

// containerRules look at how a container is started and built, as text describes
// it. They come last: such a file is at fault only where a GPU is not seen, or
// where nothing else is.
var containerRules = []rule{
	{
		[]string{"CTR001", "CTR018", "CTR022", "CTR024"},
		"a compose file, a pod or a command line that asks for no GPU", (*exam).asksForNone,
	},
	{[]string{"CTR018"}, "a reservation of devices without the capability gpu", (*exam).noCapability},
	{[]string{"CTR002"}, "a Docker that refuses GPUs, and the toolkit that is installed", (*exam).toolkitUnread},
	{[]string{"HW001"}, "a Docker that refuses GPUs, and a machine without NVIDIA's", (*exam).nothingToGive},
	{[]string{"CTR003", "CTR002"}, "the runtimes that docker knows, and what asks for NVIDIA's", (*exam).runtimes},
	{[]string{"CTR022"}, "a pod with a GPU and without a runtime class", (*exam).podRuntime},
	{[]string{"PY001", "IDX003", "CTR010", "CTR001"}, "a Dockerfile", (*exam).dockerfile},
}

// unseen reports whether the text says that no GPU is seen, and where.
func (e *exam) unseen() (read.Evidence, bool) {
	if said, ok := e.has(append([]string{"ngc-no-gpu", "torch-no-kernel-driver"}, noDevice...)...); ok {
		return said, true
	}
	if e.unavailable() {
		return e.Torch.AvailableAt, true
	}
	return e.Says.Unseen, !e.Says.Unseen.IsZero()
}

// quiet reports whether nothing else was found that is wrong.
func (e *exam) quiet() bool {
	return !slices.ContainsFunc(e.out, func(f *finding) bool { return f.Severity > know.Note && f.weight >= weak })
}

// gpuWords name what does nothing sensible without a GPU.
var gpuWords = lazy.Regexp(`(?i)cuda|nvidia|nvcr\.io|\bgpu\b|vllm|text-generation-inference|tensorrt|sglang|[-_:]gpu\b`)

// usualWords name what mostly runs on one.
var usualWords = lazy.Regexp(`(?i)torch|ollama|tensorflow|comfy|diffusion|whisper|llama|localai|\bml\b|train|` +
	`infer|jax|jupyter|notebook|python|app|worker|model|ai\b`)

// asksForNone: a container that wants a GPU is started without.
func (e *exam) asksForNone() {
	said, unseen := e.unseen()
	if !e.Pasted || len(e.Containers.Workloads) == 0 || !unseen && !e.quiet() {
		return
	}
	var bad *read.Workload
	for _, w := range e.Containers.Workloads {
		switch {
		case w.Asks != "" || w.Wants:
			return // one of them has what the others lack: which of them fails, nothing says
		case gpuWords().MatchString(w.About) && (bad == nil || !gpuWords().MatchString(bad.About)):
			bad = w
		case unseen && bad == nil && (usualWords().MatchString(w.About) || len(e.Containers.Workloads) == 1):
			bad = w
		}
	}
	if bad == nil {
		return
	}
	weight := likely
	if !unseen {
		weight = strong
	}
	what := fmt.Sprintf("the service %s of the compose file asks for no GPU", quote(bad.Name))
	check, fix := "CTR018", []string{
		"`deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}` in the service, or `gpus: all` (compose 2.30 and newer)",
	}
	switch bad.Kind {
	case "docker":
		check, what, fix = "CTR001", fmt.Sprintf(
			"`%s` starts the container without a GPU",
			bad.Name,
		), []string{
			fmt.Sprintf("`%s --gpus all …`; with CDI `--device nvidia.com/gpu=all`",
				bad.Name),
		}
	case "apptainer":
		check, what, fix = "CTR024", fmt.Sprintf("`%s` without --nv starts the container without a GPU",
			bad.Name), []string{fmt.Sprintf("`%s --nv …`", bad.Name)}
	case "pod":
		check, what, fix = "CTR022", "the pod has no limit nvidia.com/gpu: it gets no GPU", []string{
			"`resources: {limits: {nvidia.com/gpu: 1}}` in the container",
		}
		if bad.Only != "" {
			what = fmt.Sprintf("the pod has %s under requests alone; what counts is the limit", bad.Only)
		}
	}
	f := e.find(check, weight, bad.At, said).text(what).fix(fix...)
	f.Severity = know.Warning
	if unseen {
		f.Severity = know.Error
		f.over = []string{"DRV001", "DRV002", "CTR001", "ACC001"}
	}
}

// noCapability: compose wants the capability named (docs.docker.com, compose
// deploy specification: capabilities is required).
func (e *exam) noCapability() {
	if !e.Pasted {
		return
	}
	for _, w := range e.Containers.Workloads {
		if w.Wants && !w.GPUCap && w.Kind == "compose" {
			said, _ := e.unseen()
			e.find("CTR018", likely, w.At, said).
				says("the service %s reserves a device without the capability gpu", quote(w.Name)).
				fix("`capabilities: [gpu]` beside `driver: nvidia`; compose refuses or ignores the entry without it").
				severity(know.Error)
		}
	}
}

// toolkitUnread: the toolkit is installed and docker finds no driver of GPUs: its daemon
// did not read the configuration. Docker Desktop, the snap and the rootless daemon have
// one of their own. Source: NVIDIA/nvidia-docker issue 1642, NVIDIA/nvidia-container-toolkit
// issue 854.
func (e *exam) toolkitUnread() {
	s, refused := e.has("docker-no-driver")
	if t := e.Containers.Toolkit; refused && !t.IsZero() && strings.Contains(s.Text, "could not select") {
		e.find("CTR002", likely, s, t).
			text("the NVIDIA container toolkit is installed, and this Docker daemon does not know it: "+
				"it was not restarted since, or it is another daemon than the one that was configured").
			fix("`sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker`, then `docker info | grep -i runtimes` names nvidia",
				"`docker context ls`: Docker Desktop's daemon is another one, `docker context use default` takes the system's",
				"Docker from snap reads no /etc/docker/daemon.json: `sudo snap remove docker`, and Docker from its own packages; "+
					"a rootless daemon reads ~/.config/docker/daemon.json")
	}
}

// nothingToGive: `--gpus` asks for NVIDIA's GPUs, and the machine has another vendor's alone.
func (e *exam) nothingToGive() {
	if s, refused := e.has("docker-no-driver"); refused && e.Pasted && e.onlyForeign() && e.Machine.Driver == nil {
		e.find("HW001", likely, s, e.From.GPU).
			says("`--gpus` gives out NVIDIA's GPUs, and this machine shows the %s alone", nameOr(e.Machine.GPUs[0])).
			fix("leave `--gpus` away, and tell the program to use the CPU (often `--device cpu`)",
				"AMD: `--device=/dev/kfd --device=/dev/dri` and a ROCm image; Intel: `--device=/dev/dri` and an XPU one").
			explains("CTR002", "CTR001")
	}
}

// podRuntime: the pod is given a GPU, and its program finds no driver: where NVIDIA's runtime
// is not the default of containerd, the pod has to name it.
// Source: NVIDIA/k8s-device-plugin, README, "Configure containerd".
func (e *exam) podRuntime() {
	s, ok := e.has("cudart-insufficient", "torch-no-nvidia-driver", "libcuda-missing", "smi-not-found", "cuda-no-device", "torch-no-gpus")
	if !ok || !e.Pasted || e.Machine.Driver != nil {
		return
	}
	for _, w := range e.Containers.Workloads {
		if w.Kind != "pod" || !strings.Contains(w.Asks, ".com/") || w.Class {
			continue
		}
		e.find("CTR022", likely, w.At, s).
			text("the pod is given a GPU, and no driver: it runs with a container runtime that passes none on").
			fix("`runtimeClassName: nvidia` in the pod's spec, beside containers", "where there is no such class: `kubectl get runtimeclass` lists them; "+
				"NVIDIA's GPU operator makes it, or `sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default` on the node").
			explains("DRV005", "DRV002", "CTR001", "ACC001", "TK012")
		return
	}
}

// runtimes: a container asks for NVIDIA's runtime, and docker has none.
func (e *exam) runtimes() {
	said := e.Containers.Runtimes
	if !e.Pasted || said.IsZero() || strings.Contains(said.Text, "nvidia") || !e.Containers.NVIDIARuntime.IsZero() {
		return
	}
	for _, w := range e.Containers.Workloads {
		if strings.HasPrefix(w.Asks, "runtime") || w.Asks == "--runtime" {
			e.find("CTR003", proven, said, w.At).says("docker has no runtime nvidia, and the container asks for it")
			return
		}
	}
	if where, unseen := e.unseen(); unseen {
		e.find("CTR002", strong, said, where).says("docker has no runtime of NVIDIA's")
	}
}

// dockerfile: what an image is built with.
func (e *exam) dockerfile() {
	d := e.Containers.Image
	said, unseen := e.unseen()
	if !e.Pasted || d.From.IsZero() {
		return
	}
	if !d.Driver.IsZero() {
		e.find("CTR010", strong, d.Driver).
			says("the image installs a driver of its own; the one that counts is the host's").
			fix(
				"remove the driver's packages from the Dockerfile: the container toolkit brings the host's libraries",
			)
	}
	if !unseen && !e.quiet() {
		return
	}
	switch {
	case !d.CPUIndex.IsZero():
		e.find("PY001", likely, d.CPUIndex, said).
			says("the Dockerfile installs the CPU build of torch").
			fix(
				"remove `--index-url https://download.pytorch.org/whl/cpu`: on Linux the default index carries the CUDA build",
				"`envfix plan` names the index of another one",
			)
	case unseen && !d.BuildCheck.IsZero():
		e.find("CTR001", message, d.BuildCheck, said).
			says("a build of an image sees no GPU: what a RUN line asks of it fails, whatever the machine has").
			fix("ask when the container starts, not while it is built")
	case strings.Contains(d.Base, "alpine") && e.Installed("torch") == nil && !e.Did.PipTorch.IsZero():
		e.find("IDX003", likely, d.From, e.Did.PipTorch).
			text("the image is built on " + quote(d.Base) + ", whose C library is musl: there are no wheels of torch for it").
			fix("a Debian image, such as `python:3.12-slim`")
	}
}
