package containers

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/say"
	"envfix/internal/version"
)

// staleCDI: a description that names what is gone breaks every container with a GPU.
func staleCDI(e *evidence.Evidence, out *evidence.Findings) {
	if e.Around == nil {
		return
	}
	d := e.Machine.Driver
	for _, s := range e.Around.CDI {
		other := false
		if v, err := version.ParseDotted(s.Driver); err == nil && d != nil && !d.Version.IsZero() {
			other = v.Compare(d.Version) != 0
		}
		switch {
		case other:
			out.Find("CTR008", evidence.Likely, evidence.Fact("%s names libraries of driver %s", s.File, s.Driver), e.From.Driver).
				Says("the CDI description %s is of driver %s, and this is %s: containers do not start with a GPU", s.File, s.Driver, d.Version).
				As(evidence.Warning)
		case len(s.Gone) > 0:
			out.Find("CTR008", evidence.Likely, evidence.Fact("%s names %s", s.File, strings.Join(s.Gone[:min(3, len(s.Gone))], " "))).
				Says("the CDI description %s names what is not there, %s first: containers do not start with a GPU", s.File, s.Gone[0]).
				As(evidence.Warning)
		}
	}
}

// starters are the programs beside docker that start containers: what the GPU fails of there,
// and the way to it. Sources: docs.nvidia.com, container toolkit, support for the container
// device interface; NVIDIA/k8s-device-plugin, README; NVIDIA/pyxis issues 47 and 73.
var starters = map[string]struct {
	text string
	ways []string
}{
	"podman": {"", []string{"`sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`, once, and anew after each update of the driver",
		"then `podman run --device nvidia.com/gpu=all …`; where SELinux is on, `--security-opt=label=disable` beside it"}},
	"kubernetes": {"the pod has no access to the GPU: it asks for none, or its container runtime is not NVIDIA's and passes no driver on",
		[]string{"`resources: {limits: {nvidia.com/gpu: 1}}` in the container; `kubectl describe node` shows whether the device plugin offers any",
			"`runtimeClassName: nvidia` in the pod's spec, that of the device plugin as well; `kubectl get runtimeclass` lists what there is, or on " +
				"the node `sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default`, and containerd anew",
			"on GKE the driver lies in /usr/local/nvidia: `export LD_LIBRARY_PATH=/usr/local/nvidia/lib64`, which NVIDIA's images have set"}},
	"compose": {"the container asks for a GPU, and CUDA in it finds none: it was given no driver, or not its part for CUDA",
		[]string{"`capabilities: [gpu, compute, utility]` in its reservation, or NVIDIA_DRIVER_CAPABILITIES=compute,utility in its environment",
			"`docker run --rm --gpus all ubuntu nvidia-smi` says whether the container toolkit itself works; " +
				"`docker compose up --force-recreate` starts it as the file says now"}},
	"pyxis": {"in the container that Slurm's pyxis starts CUDA finds no GPU: it counts those that it was given from 0, and Slurm's variable may count the node's",
		[]string{"`unset CUDA_VISIBLE_DEVICES` in the container, or `ConstrainDevices=yes` in the node's cgroup.conf, so that both count the same",
			"with --gpus-per-task each task is bound to its own GPU, which the others do not see: `--gpu-bind=none` beside it",
			"`nvidia-smi -L` in the container says what it was given"}},
}

// startedBy: which program starts the container decides how it gets its GPU; one that asks
// for it in its compose file is not told to ask.
func startedBy(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	asks := func(w *evidence.Workload) bool { return w.Kind == "compose" && (w.Asks != "" || w.Wants && w.GPUCap) }
	starter := say.Either(slices.ContainsFunc(e.Containers.Workloads, asks), "compose", e.Place.Starter)
	if f := found.Of("CTR005"); len(f) > 0 && !e.Place.LXC.IsZero() {
		out.Anew(f[0]).Say("the LXC guest has no libraries of the driver: it needs those of the host's kernel module, of the same version").
			Do(e.Knowledge.Checks["CTR023"].Fix...)
	}
	for _, f := range found.Of("CTR001") {
		if s, ok := starters[starter]; ok {
			out.Anew(f).Say(s.text).Do(s.ways...)
		}
	}
}

// runtimeImage: images named …-runtime hold neither nvcc nor headers; those named …-devel do.
func runtimeImage(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	image := e.Containers.Runtime
	if image == "" {
		return
	}
	for _, f := range found.Of("TK013", "TK003") {
		devel := image[:strings.LastIndex(image, "-")] + "-devel"
		out.Anew(f).Do("the image "+devel+" in place of "+image+": it has the compiler and the headers",
			"or take a wheel that is built already")
	}
}
