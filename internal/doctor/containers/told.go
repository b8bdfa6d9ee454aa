package containers

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
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
	c := e.Place.Container
	if c.IsZero() || e.Place.LXC.IsZero() || e.Says.Fails.IsZero() || !mentions(e, nestedWords()) ||
		e.From.Mismatch != (evidence.Quote{}) {
		return
	}
	out.Find("CTR026", evidence.Strong.Exact(), c)
}

var nestedWords = lazy.Regexp(`(?i)\b(?:docker|podman|containerd)\b`)

// mentions reports whether a line that was kept as evidence of the place holds a word.
func mentions(e *evidence.Evidence, re interface{ MatchString(string) bool }) bool {
	kept := []evidence.Quote{e.Place.Container, e.Place.LXC, e.Says.Unseen}
	return slices.ContainsFunc(kept, func(s evidence.Quote) bool { return re.MatchString(s.Text) })
}

// podman: its containers get their GPUs by CDI. Source: docs.nvidia.com, container
// toolkit, support for the container device interface.
func podman(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	if !strings.Contains(strings.ToLower(e.Place.Container.Text), "podman") {
		return
	}
	for _, f := range found.Of("CTR001") {
		out.Anew(f).Do("`sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`, once, and anew after each update of the driver",
			"then `podman run --device nvidia.com/gpu=all …`; where SELinux is on, `--security-opt=label=disable` beside it")
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
