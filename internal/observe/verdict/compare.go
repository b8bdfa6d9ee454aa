package verdict

import (
	"slices"

	"envfix/internal/xslices"
)

// A Comparison says what changed from one run of a job to another.
type Comparison struct {
	Format  int      `json:"format"`
	Before  Run      `json:"before"`
	After   Run      `json:"after"`
	Gone    []string `json:"gone"`    // causes that were found before alone
	Stayed  []string `json:"stayed"`  // and after
	New     []string `json:"new"`     // after alone
	Changes []Change `json:"changes"` // of what both runs measured
}

// A Run is one of the runs that are compared.
type Run struct {
	Verdict   string   `json:"verdict"`
	Seconds   float64  `json:"seconds"`
	IdleHours *float64 `json:"idle_gpu_hours,omitempty"` // an estimate; nil: not measurable
}

// A Change is a quantity before and after, by its name in the evidence.
type Change struct {
	Name   string  `json:"name"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// compared are the quantities that a comparison names, in its order.
var compared = []string{"steps_per_s", "step_ms", "idle_share", "gpu_util", "loader_share", "copies_per_step", "syncs_per_step"}

// Compare compares two runs.
func Compare(before, after Report) Comparison {
	c := Comparison{Format: Format, Before: runOf(before), After: runOf(after), Gone: []string{}, Stayed: []string{}, New: []string{}, Changes: []Change{}}
	was, is := causes(before), causes(after)
	c.Stayed = append(c.Stayed, xslices.Filter(was, func(v string) bool { return slices.Contains(is, v) })...)
	c.Gone = append(c.Gone, xslices.Filter(was, func(v string) bool { return !slices.Contains(is, v) })...)
	c.New = append(c.New, xslices.Filter(is, func(v string) bool { return !slices.Contains(was, v) })...)
	for _, name := range compared {
		a, b := measured(before, name), measured(after, name)
		if a.ok && b.ok {
			c.Changes = append(c.Changes, Change{name, a.v, b.v})
		}
	}
	return c
}

func runOf(r Report) Run { return Run{Verdict: r.Verdict, Seconds: r.Seconds, IdleHours: r.IdleHours} }

// causes are what a report found, without that nothing was.
func causes(r Report) (out []string) {
	for _, f := range append([]Finding{r.Finding}, r.Others...) {
		if f.Verdict != Healthy && f.Verdict != NoGPU {
			out = append(out, f.Verdict)
		}
	}
	return out
}

// measured is a number of a report's evidence.
func measured(r Report, key string) num {
	for _, f := range append([]Finding{r.Finding}, r.Others...) {
		switch v := f.Evidence[key].(type) {
		case float64:
			return known(v)
		case int:
			return known(float64(v))
		}
	}
	return num{}
}

// idleHours estimates for how long the job's GPUs did nothing, in hours of one GPU:
// the share of the time without a kernel, over the whole run.
func (f *facts) idleHours() *float64 {
	idle, n := f.total(f.whole, GPUFrame.idle)
	return num{idle * f.t.Seconds / 3600, n > 0}.ptr()
}
