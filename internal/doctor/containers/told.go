package containers

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
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

// lostGPU: a container that had its GPU lost it: NVML says "Unknown Error" there once
// the device rules of its control group were written anew.
// Source: NVIDIA/nvidia-container-toolkit issue 48.
func lostGPU(e *evidence.Evidence, out *evidence.Findings) {
	if s, ok := e.Has("nvml-unknown"); ok && e.Machine.Platform.Environment == machine.Container {
		out.Deny("CTR001") // it had its GPU
		out.Find("CTR006", evidence.Likely, s, e.Place.Container)
	}
	d := e.Machine.Driver // in a container that was given none there is no driver either
	if e.Pasted || e.Machine.Platform.Environment != machine.Container || d == nil || d.Evidence != machine.FromNVML || len(e.GPU().Visible()) > 0 ||
		e.Around == nil || len(e.Around.Nodes) > 0 {
		return
	}
	out.Find("CTR006", evidence.Strong, evidence.Fact("NVML of driver %s does not answer, and the device files are here", d.Version)).
		Says("the container has the device files of the GPU and driver %s, and they do not answer: its device rules (cgroup) refuse them, or were written anew since it began", d.Version)
}

// nestedContainer: an unprivileged LXC guest may not write device rules, so a
// container inside it gets none.
func nestedContainer(e *evidence.Evidence, out *evidence.Findings) {
	c, nested := e.Place.Container, func(s evidence.Quote) bool { return nestedWords().MatchString(s.Text) }
	if c.IsZero() || e.Place.LXC.IsZero() || e.Says.Fails.IsZero() || !slices.ContainsFunc([]evidence.Quote{c, e.Place.LXC, e.Says.Unseen}, nested) ||
		e.From.Mismatch != (evidence.Quote{}) {
		return
	}
	out.Find("CTR026", evidence.Strong.Exact(), c)
}

var nestedWords = lazy.Regexp(`(?i)\b(?:docker|podman|containerd)\b`)

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

// smiInside: a container in which nvidia-smi works was given a GPU.
func smiInside(e *evidence.Evidence, out *evidence.Findings) {
	if !e.Says.SMIInside.IsZero() && e.From.NoGPU.IsZero() {
		out.Deny("CTR001")
	}
}

// unmappedLibrary: drivers of Windows from 555 on have a library more, which older
// container toolkits do not pass on. Source: NVIDIA/nvidia-container-toolkit issue 520.
func unmappedLibrary(e *evidence.Evidence, out *evidence.Findings) {
	s, ok := e.Has("cuda-symbol-500")
	if !ok || e.Place.Container.IsZero() || e.Place.WSL.IsZero() && !strings.Contains(strings.ToLower(e.From.OS.Text), "windows") {
		return
	}
	out.Find("DRV021", evidence.Likely, s, e.Place.Container, e.From.OS).
		Says("the driver of Windows is newer than what passes it on to containers: CUDA in them misses a library of it (libnvdxgdmal.so.1)").
		Do("update Docker Desktop to 4.31 or newer; a Docker within WSL: NVIDIA's container toolkit to 1.15 or newer",
			"or a driver of Windows before 555")
}
