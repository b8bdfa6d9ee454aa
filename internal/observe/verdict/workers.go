package verdict

import (
	"fmt"
	"slices"
)

// workersOverQuota: more loader workers than CPUs, and it hurts: they are
// throttled, or want more CPUs than there are. Many that only wait for a disk do
// no harm.
func workersOverQuota(f *facts) *Finding {
	ld := f.loader()
	n, cpus := max(ld.Workers, 0), f.t.Host.Allowed()
	if n == 0 || cpus == 0 || !f.waits() {
		return nil
	}
	wall, delay := 0.0, 0.0
	for _, p := range append([]*Process{f.lead}, f.workers...) {
		if p.Wall > 0 {
			wall, delay = wall+p.Wall, delay+p.Delay
		}
	}
	wanted := f.workerCPU() + f.core().v
	if wall > 0 {
		wanted += delay / wall * float64(n+1)
	}
	cores, starved := f.workerCPU()+f.core().v, wall > 0 && delay/wall > 0.2
	excess := float64(n+1) > 2*cpus
	throttled := f.t.Host.Throttled > throttledHigh && float64(n+1) > cpus
	crowded := cores > workerBusy*cpus && (starved || cores > 0.9*cpus)
	late := f.load().v >= f.loadLimit() && wanted > workerBusy*cpus // data comes late, and for want of CPUs
	if !throttled && !(excess && (crowded || late)) {
		return nil
	}
	e := f.evidence()
	e["workers"], e["cpus"], e["cores_used"], e["cores_wanted"] = n, cpus, round(cores), round(wanted)
	limit := "affinity"
	if f.t.Host.Quota > 0 && f.t.Host.Quota <= cpus {
		limit = "cgroup limit"
	}
	text := fmt.Sprintf("%s share %.3g CPUs (%s)", plural(n, "worker"), cpus, limit)
	if cpus == 1 {
		text = fmt.Sprintf("%s share 1 CPU (%s)", plural(n, "worker"), limit)
	}
	if f.t.Host.Throttled > 0 {
		e["throttled_share"] = round(f.t.Host.Throttled)
		text += fmt.Sprintf("; throttled %s of the time", pct(f.t.Host.Throttled))
	}
	if starved {
		e["waiting_for_cpu_share"] = round(delay / wall)
		text += fmt.Sprintf("; they wait for a CPU %s of the time", pct(delay/wall))
	}
	fix := f.setLoader(ld, [2]string{"num_workers", fmt.Sprint(f.wanted(true))})
	return &Finding{Verdict: WorkersOverQuota, Confidence: high, Evidence: e, Text: text,
		Fix: append(fix, "or more CPUs for the container: docker run --cpus=N …")}
}

// workerRespawn: the run's time goes into starting and stopping workers at
// each epoch.
func workerRespawn(f *facts) *Finding {
	p := f.probe().Page
	where, anew := f.rebuilt()
	i := slices.IndexFunc(f.probe().Loaders, func(l Loader) bool { return l.Workers > 0 && (anew && l.Where == where || !anew && !l.Persistent) })
	run := p.LastAt - (p.WarmAt - p.First)
	if i < 0 || p.Epochs < 3 || run <= 0 || p.Edge/run < edgeHigh || !f.waits() {
		return nil
	}
	ld, s, e := f.probe().Loaders[i], min(p.Edge/run, 1), f.evidence()
	e["edge_share"], e["epochs"], e["workers"] = round(s), p.Epochs, ld.Workers
	x := &Finding{Verdict: WorkerRespawn, Confidence: high, Evidence: e,
		Text: fmt.Sprintf("%s of the run starts and stops workers: %d epochs × %s", pct(s), p.Epochs, plural(ld.Workers, "worker")),
		Fix:  f.setLoader(ld, [2]string{"persistent_workers", "True"})}
	if anew { // workers that stay belong to a loader that stays
		e["loaders"] = max(f.probe().Made, len(f.probe().Loaders))
		x.Text = fmt.Sprintf(
			"%s of the run starts and stops workers: the DataLoader is built anew for each of %d epochs%s",
			pct(s),
			p.Epochs,
			at(ld.Where, ld.Own),
		)
		x.Fix = []string{"build it once, before the loop over the epochs, with persistent_workers=True"}
	}
	if s < 0.99 {
		rate := float64(p.Steps) / run
		x.Gain = Gain{"steps_per_s": {round(rate), round(rate / (1 - s))}}
	}
	return x
}

// rebuilt reports whether the loop makes a DataLoader with workers for each epoch,
// and at which line.
func (f *facts) rebuilt() (where string, yes bool) {
	p, made := f.probe(), map[string]int{}
	for _, l := range p.Loaders {
		if l.Workers > 0 {
			made[l.Where]++
		}
		if made[l.Where] > made[where] {
			where = l.Where
		}
	}
	return where, made[where] >= 3 && 2*p.Page.Epochs <= uint64(3*max(p.Made, len(p.Loaders)))
}

// ddpSkew: all ranks step together, so one that comes late holds up all the
// others. Step times are equal then; what differs is the wait for data, and the
// time up to the backward pass, where the ranks meet.
func ddpSkew(f *facts) *Finding {
	if len(f.ranks) < 2 {
		return nil
	}
	step := 0.0
	for _, r := range f.ranks {
		if r.Probe.Page.Warm == 0 || r.Probe.World < 2 { // trainings side by side are no ranks
			return nil
		}
		step = max(step, r.Probe.Page.perStep(r.Probe.Page.Step))
	}
	waits := func(p *Probe) float64 { return p.Page.perStep(p.Page.Load) }
	if worst, most, median := f.latest(waits); most-median >= skewHigh*step {
		x := f.skew(worst, step, most-median)
		x.Evidence["wait_ms"], x.Evidence["median_wait_ms"] = round(most*1e3), round(median*1e3)
		x.Text = fmt.Sprintf("%s waits %s a step for data, the median rank %s: all ranks wait for it", worst.rank(), seconds(most), seconds(median))
		x.Fix = []string{"look at that rank's shard and its storage", "give every rank the same number of workers and CPUs"}
		return x
	}
	alone := func(p *Probe) float64 {
		if p.Burst == nil || p.Burst.Steps == 0 {
			return 0
		}
		return p.Burst.Own / float64(p.Burst.Steps)
	}
	worst, most, median := f.latest(alone)
	if median == 0 || most-median < skewHigh*step {
		return nil
	}
	x := f.skew(worst, step, min(most-median, 0.95*step)) // a few steps, beside all of them
	x.Evidence["own_ms"], x.Evidence["median_own_ms"] = round(most*1e3), round(median*1e3)
	x.Text = fmt.Sprintf(
		"%s takes %s a step until its backward pass, the median rank %s: all ranks wait for it",
		worst.rank(),
		seconds(most),
		seconds(median),
	)
	x.Fix = []string{
		"give every rank the same amount of work: batch size, sequence lengths, evaluation and logging",
		"look whether something else runs on that rank's CPU or GPU: `envfix watch`",
	}
	return x
}

// perStep spreads a sum over the measured steps.
func (p Page) perStep(sum float64) float64 { return sum / float64(max(p.Warm, 1)) }

// latest finds the rank with the largest value, and the median of all.
func (f *facts) latest(of func(*Probe) float64) (worst *Process, most, median float64) {
	var all []float64
	for _, r := range f.ranks {
		v := of(r.Probe)
		all = append(all, v)
		if worst == nil || v > most {
			worst, most = r, v
		}
	}
	slices.Sort(all)
	return worst, most, all[(len(all)-1)/2]
}

func (p *Process) rank() string {
	if p.Probe.Rank != nil {
		return fmt.Sprintf("rank %d", *p.Probe.Rank)
	}
	return fmt.Sprintf("PID %d", p.PID)
}

func (f *facts) skew(worst *Process, step, excess float64) *Finding {
	e := f.evidence()
	e["rank"], e["ranks"] = worst.rank(), len(f.ranks)
	return &Finding{Verdict: DDPSkew, Confidence: medium, Evidence: e,
		Gain: Gain{"steps_per_s": {round(1 / step), round(1 / (step - excess))}}}
}

// compileWarmup: what looks slow is the compiler, once.
func compileWarmup(f *facts) *Finding {
	p := f.probe()
	run := p.Page.LastAt - (p.Page.WarmAt - p.Page.First)
	if !p.Compiled || run <= 0 || p.Page.First < 0.3*run || p.Page.First < 30*p.Page.StepP50 {
		return nil
	}
	e := f.evidence()
	e["first_steps_s"] = round(p.Page.First)
	return &Finding{Verdict: CompileWarmup, Confidence: medium, Evidence: e,
		Text: fmt.Sprintf("torch.compile took %s of %s in the first steps: normal for a short run", seconds(p.Page.First), seconds(run)),
		Fix:  []string{"TORCHINDUCTOR_CACHE_DIR on a disk that stays", "torch.compile(model, dynamic=True) where shapes change"}}
}
