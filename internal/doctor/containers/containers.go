package containers

import (
	"fmt"
	"strconv"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
)

// gpuWords name what does nothing sensible without a GPU.
var gpuWords = lazy.Regexp(`(?i)cuda|nvidia|nvcr\.io|\bgpu\b|vllm|text-generation-inference|tensorrt|sglang|[-_:]gpu\b`)

// usualWords name what mostly runs on one.
var usualWords = lazy.Regexp(`(?i)torch|ollama|tensorflow|comfy|diffusion|whisper|llama|localai|\bml\b|train|` +
	`infer|jax|jupyter|notebook|python|app|worker|model|ai\b`)

// asksForNone: a container that wants a GPU is started without.
func asksForNone(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	said, unseen := e.Unseen()
	if !e.Pasted || len(e.Containers.Workloads) == 0 || !unseen && !found.Quiet() {
		return
	}
	bad := withoutGPU(e.Containers.Workloads, unseen)
	if bad == nil || !e.Says.SMIInside.IsZero() {
		return
	}
	weight, severity := evidence.Strong, evidence.Warning
	if unseen {
		weight, severity = evidence.Likely, evidence.Error
	}
	check, what := "CTR018", "the service "+strconv.Quote(bad.Name)+" of the compose file asks for no GPU"
	fix := "`deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}` in the service, " +
		"or `gpus: all` (compose 2.30 and newer)"
	switch bad.Kind {
	case "docker":
		check, what = "CTR001", "`"+bad.Name+"` starts the container without a GPU"
		fix = "`" + bad.Name + " --gpus all …`; with CDI `--device nvidia.com/gpu=all`"
	case "apptainer":
		check, what = "CTR024", "`"+bad.Name+"` without --nv starts the container without a GPU"
		fix = "`" + bad.Name + " --nv …`"
	case "pod":
		check, what = "CTR022", "the pod has no limit nvidia.com/gpu: it gets no GPU"
		fix = "`resources: {limits: {nvidia.com/gpu: 1}}` in the container"
		if bad.Only != "" {
			what = fmt.Sprintf("the pod has %s under requests alone; what counts is the limit", bad.Only)
		}
	}
	out.Find(check, weight, bad.At, said).Say(what).Do(fix).As(severity)
}

// withoutGPU is the workload that wants a GPU most likely, where none of them asks for one;
// nil: there is none, or one asks, and which of them fails, nothing says.
func withoutGPU(all []*evidence.Workload, unseen bool) (bad *evidence.Workload) {
	for _, w := range all {
		switch {
		case w.Asks != "" || w.Wants:
			return nil
		case gpuWords().MatchString(w.About) && (bad == nil || !gpuWords().MatchString(bad.About)):
			bad = w
		case unseen && bad == nil && (usualWords().MatchString(w.About) || len(all) == 1):
			bad = w
		}
	}
	return bad
}

// noCapability: compose wants the capability named (docs.docker.com, compose
// deploy specification: capabilities is required).
func noCapability(e *evidence.Evidence, out *evidence.Findings) {
	if !e.Pasted {
		return
	}
	for _, w := range e.Containers.Workloads {
		if w.Wants && !w.GPUCap && w.Kind == "compose" {
			said, _ := e.Unseen()
			out.Find("CTR018", evidence.Likely, w.At, said).
				Says("the service %s reserves a device without the capability gpu", strconv.Quote(w.Name)).
				Do("`capabilities: [gpu]` beside `driver: nvidia`; compose refuses or ignores the entry without it").
				As(evidence.Error)
		}
	}
}

// nothingToGive: `--gpus` asks for NVIDIA's GPUs, and the machine has another vendor's alone.
func nothingToGive(e *evidence.Evidence, out *evidence.Findings) {
	if s, refused := e.Has("docker-no-driver"); refused && e.Pasted && e.GPU().OnlyForeign() && e.Machine.Driver == nil {
		out.Find("HW001", evidence.Likely, s, e.From.GPU).
			Says("`--gpus` gives out NVIDIA's GPUs, and this machine shows the %s alone", evidence.NameOf(e.Machine.GPUs[0])).
			Do("leave `--gpus` away, and tell the program to use the CPU (often `--device cpu`)",
				"AMD: `--device=/dev/kfd --device=/dev/dri` and a ROCm image; Intel: `--device=/dev/dri` and an XPU one")
	}
}

// podRuntime: the pod is given a GPU, and its program finds no driver: where NVIDIA's runtime
// is not the default of containerd, the pod has to name it.
// Source: NVIDIA/k8s-device-plugin, README, "Configure containerd".
func podRuntime(e *evidence.Evidence, out *evidence.Findings) {
	s, ok := e.Has("cudart-insufficient", "torch-no-nvidia-driver", "libcuda-missing", "smi-not-found", "cuda-no-device", "torch-no-gpus")
	if !ok || !e.Pasted || e.Machine.Driver != nil {
		return
	}
	for _, w := range e.Containers.Workloads {
		if w.Kind != "pod" || !strings.Contains(w.Asks, ".com/") || w.Class {
			continue
		}
		out.Find("CTR022", evidence.Likely, w.At, s).
			Say("the pod is given a GPU, and no driver: it runs with a container runtime that passes none on").
			Do("`runtimeClassName: nvidia` in the pod's spec, beside containers", "where there is no such class: `kubectl get runtimeclass` lists them; "+
				"NVIDIA's GPU operator makes it, or `sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default` on the node")
		return
	}
}

// runtimes: a container asks for NVIDIA's runtime, and docker has none.
func runtimes(e *evidence.Evidence, out *evidence.Findings) {
	said := e.Containers.Runtimes
	if !e.Pasted || said.IsZero() || strings.Contains(said.Text, "nvidia") || !e.Containers.NVIDIARuntime.IsZero() {
		return
	}
	for _, w := range e.Containers.Workloads {
		if strings.HasPrefix(w.Asks, "runtime") || w.Asks == "--runtime" {
			out.Find("CTR003", evidence.Proven, said, w.At).Says("docker has no runtime nvidia, and the container asks for it")
			return
		}
	}
	if where, unseen := e.Unseen(); unseen {
		out.Find("CTR002", evidence.Strong, said, where).Says("docker has no runtime of NVIDIA's")
	}
}

// dockerfile: what an image is built with.
func dockerfile(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	d := e.Containers.Image
	said, unseen := e.Unseen()
	if !e.Pasted || d.From.IsZero() {
		return
	}
	if !d.Driver.IsZero() {
		out.Find("CTR010", evidence.Strong, d.Driver).
			Says("the image installs a driver of its own; the one that counts is the host's").
			Do(
				"remove the driver's packages from the Dockerfile: the container toolkit brings the host's libraries",
			)
	}
	if !unseen && !found.Quiet() {
		return
	}
	switch {
	case !d.CPUIndex.IsZero():
		out.Find("PY001", evidence.Likely, d.CPUIndex, said).
			Says("the Dockerfile installs the CPU build of torch").
			Do(
				"remove `--index-url https://download.pytorch.org/whl/cpu`: on Linux the default index carries the CUDA build",
				"`envfix plan` names the index of another one",
			)
	case unseen && !d.BuildCheck.IsZero():
		out.Find("CTR001", evidence.Message, d.BuildCheck, said).
			Says("a build of an image sees no GPU: what a RUN line asks of it fails, whatever the machine has").
			Do("ask when the container starts, not while it is built")
	case strings.Contains(d.Base, "alpine") && e.Installed("torch") == nil && !e.Did.PipTorch.IsZero():
		out.Find("IDX003", evidence.Likely, d.From, e.Did.PipTorch).
			Say("the image is built on " + strconv.Quote(d.Base) + ", whose C library is musl: there are no wheels of torch for it").
			Do("a Debian image, such as `python:3.12-slim`")
	}
}
