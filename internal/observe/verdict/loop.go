package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"envfix/internal/say"
)

// wanted is the number of workers to propose. Those that compute need a core
// each, and one stays for the loop; torch warns of more than there are CPUs. More
// than eight rarely help.
func (f *facts) wanted(computing bool) int {
	cpus := int(f.t.Host.Allowed()) / f.world()
	if computing {
		cpus--
	}
	return max(1, min(cpus, 8))
}

// worthIt is how often as fast a worker that computes must promise to make a loop: it
// has costs of its own (1.35 promised, 0.81 measured, of graphs on two busy cores).
const worthIt = 1.4

// costsNothing is a wait that no change could be seen in.
const costsNothing = 0.001

// loaderBound: the loop waits for its data.
func loaderBound(f *facts) *Finding {
	l := f.load()
	if !l.ok {
		return loaderFromOutside(f)
	}
	if l.v < f.loadLimit() || !f.waits() {
		return nil
	}
	p, ld, why := f.probe().Page, f.loader(), f.loading()
	wait, step := p.Load/float64(p.Warm), p.Step/float64(p.Warm)
	idlers := ld.Workers > 0 && slices.Contains([]string{handover, waiting}, why.kind) // workers that do nothing
	quick := !f.idle.ok && wait*(1-f.queued([]*Process{f.lead})) < costsNothing
	if quick && l.v < map[string]float64{handover: 2, computing: 0.5}[why.kind] ||
		idlers && f.noGPU && wait/step-f.queued([]*Process{f.lead})-f.queued(f.workers) < f.loadLimit() {
		return nil
	}
	x := f.finding(LoaderBound, f.sure(high), numbers{"wait_ms": round(wait * 1e3), "workers": ld.Workers, "loader_does": why.kind}, "")
	x.weight = l.v
	for k, v := range why.numbers {
		x.Evidence[k] = round(v)
	}
	x.Text = fmt.Sprintf("%sthe loop waited for data %s of %s %s (num_workers=%d%s)%s",
		f.idleWords(), seconds(wait), seconds(step), f.stepWords(), ld.Workers, why.words, f.spotWords(x.Evidence))
	f.promise(x, step, f.stepAtBest(why.kind))
	x.Fix = f.feedFix(ld, why.kind, x.Gain != nil)
	if f.queued([]*Process{f.lead}) >= crowded {
		x.Gain = nil
	}
	g, ok := x.Gain["steps_per_s"]
	return x.also(ok, fmt.Sprintf("; without the wait this run: %s → %s at best", seconds(p.Step), seconds(p.Step*g[0]/g[1])), nil)
}

func (f *facts) idleWords() string {
	return say.If(f.idle.ok && len(f.used) != 0, fmt.Sprintf("the GPU was idle %s of the time: ", pct(f.idle.v)))
}

// loaderFromOutside: without the probe, a GPU that alternates between working
// hard and not at all is most often fed too slowly.
func loaderFromOutside(f *facts) *Finding {
	if len(f.used) == 0 || f.looks() != nil || f.probe().Page.Steps > 0 && len(f.probe().Loaders) > 0 {
		return nil
	}
	if core := f.core(); f.probe().Page.Warm > 0 && core.ok && core.v >= otherBusy {
		return nil // the loop computes
	}
	s := f.gpus[f.used[0]]
	if !f.idle.ok || f.idle.v < idleHigh || s.High == 0 || float64(s.Idle+s.High) < 0.7*float64(s.N) || f.idle.v > idleNever {
		return nil
	}
	x := f.finding(LoaderBound, low, nil,
		fmt.Sprintf("the GPU was idle %s of the time and worked in bursts between: it waits to be fed, most often by the data loader", pct(f.idle.v)),
		"`envfix run -- …` with the probe measures the loader", "DataLoader(…, num_workers=4, persistent_workers=True)")
	x.weight = f.idle.v
	if cores := f.workerCPU(); len(f.workers) > 0 && cores > workerBusy*max(f.t.Host.Allowed(), 1) {
		x.Confidence, x.Evidence["worker_cores"] = medium, round(cores)
	}
	return x
}

func (f *facts) burst() (Burst, bool) {
	b := cmp.Or(f.probe().Burst, &Burst{})
	return *b, b.Steps > 0
}

// at names a place, and the job's own line that led there where it is a library's.
func at(place, own string) string {
	switch {
	case place == "":
		return ""
	case own == "" || own == place || !installed(place):
		return " (" + place + ")"
	}
	return " (" + own + ", by " + place + ")"
}

// counted is what a count may weigh beside shares of time that were measured.
const counted = 0.2

// copiesEachStep: tensors travel to the device that could stay there.
func copiesEachStep(f *facts) *Finding {
	b, _ := f.burst()
	need := float64(max(f.probe().Tensors, 1))
	n := eachPass(f, b.Copies)
	if n <= need+4 || !f.waits() {
		return nil
	}
	each := fmt.Sprintf("a %s%s", f.pass(), at(b.CopyAt, b.CopyOwn))
	x := f.finding(CopiesEachStep, medium, numbers{"batch_tensors": need}, say.Either(b.OnCPU,
		fmt.Sprintf("%.0f moves to the device %s, the batch needs %.0f: on a GPU each is a copy", n, each, need),
		fmt.Sprintf("%s%.0f copies from CPU to GPU %s; the batch needs %.0f", f.idleWords(), n, each, need)),
		"move constants to the device once, before the loop", "pin_memory=True and x.to(device, non_blocking=True) for the batch")
	x.weight = max(counted*min(1, (n-need)/20), f.share("copy"))
	return x
}

// eachPass is how often something was seen a pass, in the few steps under closer watch.
func eachPass(f *facts, n int) float64 {
	b, ok := f.burst()
	if !ok {
		return 0
	}
	return float64(n) / float64(b.Steps) / b.perStep()
}

// syncBound: the loop reads values back and waits for the GPU each time.
func syncBound(f *facts) *Finding {
	b, _ := f.burst()
	n := eachPass(f, b.Syncs)
	each := n / max(1, eachPass(f, b.Calls)) // a policy that acts reads what it says, as does a sampler
	if each < syncsMany || !f.waits() && (!f.util.ok || f.util.v >= utilLow) {
		return nil
	}
	x := f.finding(SyncBound, medium, nil, say.Either(b.OnCPU,
		fmt.Sprintf("%.0f reads of a value a %s%s: on a GPU each waits for it (.item(), float(), if tensor)", n, f.pass(), at(b.SyncAt, b.SyncOwn)),
		fmt.Sprintf("%s%.0f reads of a value a %s wait for the GPU%s: .item(), float(), if tensor", f.idleWords(), n, f.pass(), at(b.SyncAt, b.SyncOwn))),
		"log every 50 steps, not at each", "keep sums on the device: total += loss.detach()")
	x.weight = counted * min(1, each/20)
	return x
}

// batchSize is that of the batches seen, else of the loader's arguments.
func (f *facts) batchSize() int {
	if b := f.probe().Batch; b != nil && len(b.Shape) > 0 {
		return b.Shape[0]
	}
	return f.loader().Batch
}

// passTypical is what one forward and backward pass takes, with its share of the
// optimizer's step.
func (f *facts) passTypical() float64 {
	b, _ := f.burst()
	return cmp.Or(f.probe().Page.StepP50, f.step().v) / b.perStep()
}

// pass is the word for one forward and backward pass: a step, or a batch of several.
func (f *facts) pass() string {
	if b, _ := f.burst(); b.perStep() >= 1.5 {
		return "batch"
	}
	return "step"
}

func (f *facts) stepWords() string {
	if unit := f.probe().Page.Unit; unit != "" {
		return "a " + unit
	}
	if b, _ := f.burst(); b.perStep() >= 1.5 {
		return fmt.Sprintf("a step of %.0f batches", b.perStep())
	}
	return "a step"
}

// shortSteps reports whether the loop's time goes into steps that end at once, for want of
// work; if they are small, into starting it on the GPU.
func shortSteps(f *facts, small bool) bool {
	l, w := f.load(), f.looks()
	if !f.step().ok || !f.waits() || l.ok && l.v >= f.loadLimit() || modelOnCPU(f) != nil {
		return false
	}
	if w != nil && w.part(launchParts...) < launchMuch { // what the loop does beside its model takes as long for a larger batch
		return false
	}
	if f.launches() {
		return small // else a Python core that is slow is what is told
	}
	return f.passTypical()*max(0, 1-f.queued([]*Process{f.lead})) < stepTiny // less the time in which others had the processors
}

// tinyBatch: so little work a step that starting it costs more than doing it.
func tinyBatch(f *facts) *Finding {
	n := f.batchSize()
	small, mem := n > 0 && n <= 2, f.memoryShare()
	if !shortSteps(f, small) || !small && (f.noGPU || !mem.ok || mem.v >= memLow || f.share("python") >= ownMuch) {
		return nil
	}
	s := f.passTypical() * max(0, 1-f.queued([]*Process{f.lead}))
	own, _ := f.framework()
	x := f.finding(TinyBatch, medium, numbers{"batch": n}, fmt.Sprintf("%s%s%s a %s", f.idleWords(), say.If(n > 0, fmt.Sprintf("batch %d, ", n)), seconds(s), f.pass()),
		own.batch+"raise the batch size until about 80 % of the memory is used, and rescale the learning rate")
	x.weight = say.Either(small, 0.9, 0.25)
	return x.also(mem.ok && !f.noGPU, fmt.Sprintf(", %s of the memory used", pct(mem.v)), numbers{"memory_share": round(mem.v)}).
		also(true, ": starting the work costs more than doing it", nil)
}

// memoryShare is the job's share of the memory of its GPUs at most.
func (f *facts) memoryShare() (out num) {
	for _, i := range f.used {
		if all := f.t.GPUs[i].Memory; all > 0 {
			out = known(max(out.v, share(f.mine(i), all)))
		}
	}
	return out
}

// launchParts are those in which a loop starts work that the GPU does later.
var launchParts = []string{"between", "forward", "backward", "optimizer"}

// launches reports whether the loop's core is busy, mostly with starting work, and the
// GPU waits for that.
func (f *facts) launches() bool {
	b, _ := f.burst()
	if len(f.used) == 0 || modelOnCPU(f) != nil || !f.idle.ok || f.idle.v < idleHigh || f.core().v < 0.9 || eachPass(f, b.Syncs) >= syncsMany {
		return false
	}
	w := f.looks()
	return w == nil || w.surely(w.part(launchParts...)) >= launchMuch
}

// pythonBound: one Python core cannot start work as fast as the GPU does it.
func pythonBound(f *facts) *Finding {
	if l := f.load(); l.ok && l.v >= 0.10 {
		return nil
	}
	n, core := f.batchSize(), f.core().v
	if n > 0 && n <= 2 || f.probe().Page.Steps == 0 || !f.launches() { // the batch explains it
		return nil
	}
	where := ""
	if w := f.looks(); w != nil {
		where, _ = w.at(slices.MaxFunc(launchParts[:2], func(a, b string) int { return w.Parts[a] - w.Parts[b] }))
	}
	x := f.finding(PythonBound, medium, numbers{"main_core": round(core)},
		fmt.Sprintf("%sone Python core at %s starts work slower than the GPU does it%s", f.idleWords(), pct(min(core, 1)), where),
		"a larger batch", "model = torch.compile(model)", "torch.optim.…(…, fused=True)", "move work out of the loop, or into tensor operations")
	x.weight = 0.3
	return x
}
