package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"envfix/internal/say"
	"envfix/internal/text"
)

// The values of Finding.Confidence.
const (
	high   = "high"
	medium = "medium"
	low    = "low"
)

// The verdicts. Other programs read them; they never change meaning.
const (
	Healthy           = "healthy"
	CPUBuild          = "cpu_build"
	ModelOnCPU        = "model_on_cpu"
	CUDAUnusable      = "cuda_unusable"
	NoGPU             = "no_gpu"
	NotTraining       = "not_training"
	LoaderBound       = "loader_bound"
	CopiesEachStep    = "copies_each_step"
	SyncBound         = "sync_bound"
	PythonBound       = "python_bound"
	OtherProcess      = "other_process"
	OOM               = "oom"
	WorkersOverQuota  = "workers_over_quota"
	TinyBatch         = "tiny_batch"
	FP32NoTensorCores = "fp32_no_tensor_cores"
	MemoryButIdle     = "memory_but_idle"
	Thermal           = "thermal"
	PowerCap          = "power_cap"
	PCIeLink          = "pcie_link"
	OneGPUOfN         = "one_gpu_of_n"
	DataParallel      = "data_parallel"
	DDPSkew           = "ddp_skew"
	WrongGPU          = "wrong_gpu"
	StalledLoader     = "stalled_loader"
	HostOOM           = "host_oom"
	ShmTooSmall       = "shm_too_small"
	WorkerRespawn     = "worker_respawn"
	CompileWarmup     = "compile_warmup"
	CheckpointBound   = "checkpoint_bound"
	LoggingBound      = "logging_bound"
	EvalBound         = "eval_bound"
	MetricBound       = "metric_bound"
	GCBound           = "gc_bound"
	Recompiles        = "recompiles"
	Died              = "died"
)

// A Finding is one cause with its numbers.
type Finding struct {
	Verdict    string         `json:"verdict"`
	Confidence string         `json:"confidence"`
	Text       string         `json:"text"`
	Evidence   map[string]any `json:"evidence"`
	Fix        []string       `json:"fix"`            // a flag, a command, or a changed line of the user's own file
	Gain       Gain           `json:"gain,omitempty"` // what the fix could bring at most
	weight     float64        // share of the step, among causes that compete
	group      int            // of the rule that found it
}

// A Gain maps a quantity to its value now and the upper bound after the fix.
type Gain map[string][2]float64

// A Report is the answer, as `--report FILE` writes it.
type Report struct {
	Format int `json:"format"`
	Finding
	Others    []Finding       `json:"others"`
	GPUs      []GPUReport     `json:"gpus"`
	Processes []ProcessReport `json:"processes"`
	Seconds   float64         `json:"seconds"`
	Exit      int             `json:"exit"`
	Signal    string          `json:"signal,omitempty"`
	IdleHours *float64        `json:"idle_gpu_hours,omitempty"` // of one GPU, an estimate: share of the time without a kernel × time
	Notes     []string        `json:"notes,omitempty"`
}

// A rule judges one cause; nil means that it is not there or cannot be told.
type rule struct {
	id    string // of the study, from R01 on
	group int    // facts that end or bar a job come before shares of time, and those before advice
	judge func(*facts) *Finding
}

// rules lists the rules in the order of their weight. Within the group that
// competes for the step's time the largest share wins.
func rules() []rule {
	list := []rule{
		{"R23", 0, hostOOM}, {"R24", 0, shmTooSmall}, {"R10", 0, oom}, {"R22", 0, stalledLoader}, {"R31", 0, died},
		{"R01", 1, cpuBuild}, {"R03", 1, cudaUnusable}, {"R02", 1, modelOnCPU}, {"R21", 1, wrongGPU}, {"R09", 1, otherProcess},
		{"R03b", 1, cudaSaidNo}, {"R18", 1, oneGPUOfN}, {"R14", 1, memoryButIdle}, {"R04", 1, notTraining},
		{"R11", 2, workersOverQuota}, {"R25", 2, workerRespawn},
		{"R05", sharing, loaderBound}, {"R06", sharing, copiesEachStep}, {"R07", sharing, syncBound}, {"R12", sharing, tinyBatch}, {"R08", sharing, pythonBound},
		{"R15", 4, thermal}, {"R16", 4, powerCap}, {"R17", 4, pcieLink}, {"R19", 4, dataParallel}, {"R20", 4, ddpSkew},
		{"R13", 5, fp32NoTensorCores}, {"R26", 5, compileWarmup},
	}
	list = append(list, text.Each(works, func(k work) rule { return rule{"R30 " + k.part, sharing, k.judge} })...)
	return list
}

const sharing = 3 // the group whose causes compete for the step's time

// mostCauses is how many causes a report names at most.
const mostCauses = 2

// Judge turns a trace into a report. It always answers; "healthy" with low
// confidence says that nothing was found, not that nothing is wrong.
func Judge(t *Trace) Report {
	f := gather(t)
	var found []Finding
	for _, r := range rules() {
		x := r.judge(f)
		if x == nil || len(found) > 0 && (x.Verdict == NotTraining || x.Confidence == low) {
			continue // what was found already says why
		}
		x.group = r.group
		found = append(found, *x)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		if a.group == sharing && b.group == sharing {
			return cmp.Compare(b.weight, a.weight)
		}
		return a.group - b.group
	})
	var causes []Finding
	for _, x := range found {
		if !slices.ContainsFunc(causes, func(c Finding) bool { return c.Verdict == x.Verdict }) {
			causes = append(causes, x)
		}
	}
	causes = causes[:min(len(causes), mostCauses)]
	rep := Report{Format: Format, Others: []Finding{}, Seconds: t.Seconds, Exit: t.Exit, Signal: t.Signal, Notes: t.Notes,
		GPUs: gpuReports(f), Processes: processReports(f), IdleHours: f.idleHours()}
	switch {
	case f.noGPU && len(causes) == 0:
		rep.Finding = noGPU(f)
	case len(causes) == 0:
		rep.Finding = healthy(f)
	default: // what was measured leads: it would be the same with a GPU
		rep.Finding, rep.Others = causes[0], append(rep.Others, causes[1:]...)
		if f.noGPU {
			rep.Others = append(rep.Others, noGPU(f))
			if rep.group > 1 {
				rep.Text = "this would hold a GPU back: " + rep.Text
			}
		}
	}
	return rep
}

func noGPU(f *facts) Finding {
	text := "no GPU was seen on this machine: NVML found none and the job opened none" +
		say.If(f.t.Host.Visible != nil && hidden(f.t.Host.Visible), "; CUDA_VISIBLE_DEVICES hides whatever there may be")
	x := Finding{Verdict: NoGPU, Confidence: high, Text: text + outside(f), Evidence: f.evidence(),
		Fix: []string{"`envfix doctor` looks for a GPU that the driver does not show"}}
	if d := f.t.Doctor; d != nil {
		x.Evidence["doctor"] = d.Check
		x.Text, x.Fix = d.Text+outside(f), append(slices.Clone(d.Fix), "`"+cmp.Or(d.Command, "envfix doctor")+"` says what else it found")
	}
	return x
}

func healthy(f *facts) Finding {
	x := Finding{Verdict: Healthy, Evidence: f.evidence(), Fix: []string{}}
	switch {
	case !f.util.ok:
		x.Confidence = low
		x.Text = "nothing was found; the GPU's utilisation is not measurable here"
		if w := f.powerShare(); w.ok {
			x.Text += fmt.Sprintf(", but it drew %s of its power limit", pct(w.v))
		}
	case f.idle.v < idleHigh && f.util.v >= UtilBusy:
		x.Confidence = high
		x.Text = fmt.Sprintf("the GPU was busy %s of the time; nothing to fix", pct(f.util.v/100))
	case f.idle.v < idleHigh:
		x.Confidence = medium
		x.Text = fmt.Sprintf("the GPU was rarely idle and busy %s on average; nothing to fix was found", pct(f.util.v/100))
	default:
		x.Confidence = low
		x.Text = fmt.Sprintf("the GPU was idle %s of the time, and no cause was found in what could be measured", pct(f.idle.v))
		x.Text += say.If(f.lead.Probe == nil, "; the probe was not in the job")
		x.Text += outside(f)
	}
	if te := f.mean(GPUFrame.tensor); te.ok && x.Confidence == high {
		x.Text += fmt.Sprintf(". Busy is not efficient: tensor cores %s", pct(te.v/100))
	}
	return x
}

// numbers are those that a finding has beside what every one carries.
type numbers map[string]any

// finding is a cause with its numbers and what to do.
func (f *facts) finding(verdict, confidence string, own numbers, text string, fix ...string) *Finding {
	e := f.evidence()
	maps.Copy(e, own)
	return &Finding{Verdict: verdict, Confidence: confidence, Evidence: e, Text: text, Fix: append([]string{}, fix...)}
}

// also says what is so besides, with its numbers.
func (x *Finding) also(so bool, words string, own numbers) *Finding {
	if so {
		x.Text += words
		maps.Copy(x.Evidence, own)
	}
	return x
}

// promise says how much faster steps could be at best: none is shorter than the GPU
// works in it.
func (f *facts) promise(x *Finding, step, after float64) {
	if f.idle.ok && len(f.used) > 0 {
		after = max(after, step*(1-f.idle.v))
	}
	if after < 0.95*step {
		x.Gain = Gain{"steps_per_s": {round(1 / step), round(1 / after)}}
	}
}

// evidence is the set of numbers that every verdict carries, as far as known.
func (f *facts) evidence() map[string]any {
	e := map[string]any{}
	put := func(key string, v num) {
		if v.ok {
			e[key] = round(v.v)
		}
	}
	put("idle_share", f.idle)
	put("gpu_util", f.util)
	put("loader_share", f.load())
	if s := f.step(); s.ok {
		e["step_ms"] = round(s.v * 1e3)
		if s.v > 0 {
			e["steps_per_s"] = round(1 / s.v)
		}
	}
	if p := f.probe().Page; p.Steps > 0 {
		e["steps"] = p.Steps
	}
	if b, ok := f.burst(); ok {
		e["copies_per_step"], e["syncs_per_step"] = round(float64(b.Copies)/float64(b.Steps)), round(float64(b.Syncs)/float64(b.Steps))
		if n := b.perStep(); n > 1 {
			e["passes_per_step"] = round(n)
		}
	}
	return e
}
