package verdict

import (
	"fmt"
	"slices"

	"envfix/internal/say"
	"envfix/internal/text"
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
	delay := f.queued(append([]*Process{f.lead}, f.workers...))
	cores, starved := f.workerCPU()+f.core().v, delay > 0.2
	wanted := cores + delay*float64(n+1)
	excess := float64(n+1) > 2*cpus
	throttled := f.t.Host.Throttled > throttledHigh && float64(n+1) > cpus
	crowded := cores > workerBusy*cpus && (starved || cores > 0.9*cpus)
	late := f.load().v >= f.loadLimit() && wanted > workerBusy*cpus // data comes late, and for want of CPUs
	if !throttled && !(excess && (crowded || late)) {
		return nil
	}
	by := say.Either(f.t.Host.Quota > 0 && f.t.Host.Quota <= cpus, "cgroup limit", "affinity")
	return f.finding(WorkersOverQuota, high, numbers{"workers": n, "cpus": cpus, "cores_used": round(cores), "cores_wanted": round(wanted)},
		fmt.Sprintf("%s share %.3g CPU%s (%s)", text.Count(n, "worker"), cpus, say.If(cpus != 1, "s"), by),
		append(f.setLoader(ld, [2]string{"num_workers", fmt.Sprint(f.wanted(true))}), "or more CPUs for the container: docker run --cpus=N …")...).
		also(f.t.Host.Throttled > 0, fmt.Sprintf("; throttled %s of the time", pct(f.t.Host.Throttled)), numbers{"throttled_share": round(f.t.Host.Throttled)}).
		also(starved, fmt.Sprintf("; they wait for a CPU %s of the time", pct(delay)), numbers{"waiting_for_cpu_share": round(delay)})
}

// workerRespawn: the run's time goes into starting and stopping workers at
// each epoch.
func workerRespawn(f *facts) *Finding {
	p := f.probe().Page
	where, anew := rebuilt(f)
	i := slices.IndexFunc(f.probe().Loaders, func(l Loader) bool { return l.Workers > 0 && (anew && l.Where == where || !anew && !l.Persistent) })
	run := p.LastAt - (p.WarmAt - p.First)
	if i < 0 || p.Epochs < 3 || run <= 0 || p.Edge/run < edgeHigh || !f.waits() {
		return nil
	}
	ld, s := f.probe().Loaders[i], min(p.Edge/run, 1)
	x := f.finding(WorkerRespawn, high, numbers{"edge_share": round(s), "epochs": p.Epochs, "workers": ld.Workers},
		fmt.Sprintf("%s of the run starts and stops workers: %d epochs × %s", pct(s), p.Epochs, text.Count(ld.Workers, "worker")),
		f.setLoader(ld, [2]string{"persistent_workers", "True"})...)
	if ld.Changes && !anew {
		x.Fix = []string{"the job changes the data set between epochs, which workers that stay would not see: num_workers=0, or longer epochs"}
	}
	if anew { // workers that stay belong to a loader that stays
		x.Evidence["loaders"] = max(f.probe().Made, len(f.probe().Loaders))
		x.Text = fmt.Sprintf(
			"%s of the run starts and stops workers: the DataLoader is built anew for each of %d epochs%s",
			pct(s), p.Epochs, at(ld.Where, ld.Own))
		x.Fix = []string{"build it once, before the loop over the epochs, with persistent_workers=True"}
	}
	if each := run / float64(max(p.Steps, 1)); s < 0.5 { // of more, what is left waits for new workers too (7 times promised, 51 measured)
		f.promise(x, each, each*(1-s))
	}
	return x
}

// rebuilt reports whether the loop makes a DataLoader with workers for each epoch,
// and at which line.
func rebuilt(f *facts) (where string, yes bool) {
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

// compileWarmup: what looks slow is the compiler, once, or again and again in steps so long
// that too few were seen for a look at them.
func compileWarmup(f *facts) *Finding {
	p, run, w := f.probe(), f.t.Seconds, f.probe().Where
	took := p.Page.First
	if w != nil && w.CompileS > 0 {
		took = w.CompileS
	} else {
		run = p.Page.LastAt - (p.Page.WarmAt - p.Page.First)
	}
	if !p.Compiled || run <= 0 || took < 0.3*run || took < 30*p.Page.StepP50 {
		return nil
	}
	if w != nil && w.Reason != "" {
		return f.finding(Recompiles, medium, numbers{"compiles": w.Compiles, "compile_s": round(took)},
			fmt.Sprintf("torch.compile took %s of %s: it compiles again, %d times, last %s: %s", seconds(took), seconds(run), w.Compiles, w.CompileAt, w.Reason),
			keepShapes...)
	}
	return f.finding(CompileWarmup, medium, numbers{"first_steps_s": round(took)},
		fmt.Sprintf("torch.compile took %s of %s in the first steps: normal for a short run", seconds(took), seconds(run)),
		"TORCHINDUCTOR_CACHE_DIR on a disk that stays", "torch.compile(model, dynamic=True) where shapes change")
}
