package containers

import (
	"fmt"
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
	for _, row := range e.Limit("asks-none").Values {
		told := strings.Split(strings.ReplaceAll(row, "{name}", bad.Name), " | ")
		if bad.Only != "" {
			told[2] = fmt.Sprintf("the pod has %s under requests alone; what counts is the limit", bad.Only)
		}
		if told[0] == bad.Kind {
			out.Find(told[1], weight, bad.At, said).Say(told[2]).Do(told[3]).As(severity)
		}
	}
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
