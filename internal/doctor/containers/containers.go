package containers

import (
	"fmt"
	"strconv"

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
