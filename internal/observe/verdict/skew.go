package verdict

import (
	"fmt"
	"slices"

	"envfix/internal/say"
)

// ddpSkew: all ranks step together, so one that comes late holds up all the others,
// which wait for it in their backward pass. Step times are equal then; what differs is
// the wait for data and, by the looks at each loop, what else a rank does longer.
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
	worst, most, median := f.latest(func(r *Process) float64 { return r.Probe.Page.perStep(r.Probe.Page.Load) })
	_, _, often := f.latest(func(r *Process) float64 { return r.Probe.Page.LoadP90 })
	what := "data"
	if p90 := worst.Probe.Page.LoadP90; p90 > 0 && p90 <= often || !f.skewed(worst, most-median, step) { // a few long waits are no skew
		what, most, median = "", 0, 0
		for _, part := range []string{"copy", "saving", "logging", "metrics", "evaluation", "compile", "sync", "python", "forward"} {
			w, m, mid := f.latest(func(r *Process) float64 { return r.Probe.seconds(part) })
			if m-mid > 1.1*(most-median) && f.skewed(w, m-mid, step) { // buffers of a model are shared in its forward pass, where the others wait too
				what, worst, most, median = part, w, m, mid
			}
		}
	}
	if what == "" {
		return nil
	}
	x := f.finding(DDPSkew, medium, numbers{"rank": worst.rank(), "ranks": len(f.ranks), "rank_ms": round(most * 1e3), "median_ms": round(median * 1e3)}, "")
	f.promise(x, step, step-min(most-median, 0.95*step))
	others := say.Either(len(f.ranks) == 2, "the other", "the median rank")
	if what == "data" {
		x.Text = fmt.Sprintf("%s waits %s a step for data, %s %s: all ranks wait for it", worst.rank(), seconds(most), others, seconds(median))
		x.Fix = []string{"look at that rank's shard and its storage", "give every rank the same number of workers and CPUs"}
		return x
	}
	where, _ := worst.Probe.Where.at(what)
	x.Text = fmt.Sprintf("%s takes %s a step for %s%s; %s %s: all ranks wait for it", worst.rank(), seconds(most), what, where, others, seconds(median))
	x.Fix = []string{"give every rank the same amount of work: batch size, sequence lengths, evaluation and logging",
		"look whether something else runs on that rank's CPU or GPU: `envfix watch`"}
	return x
}

// seconds is what a part of the loop takes of a step, by the looks at it.
func (b *Probe) seconds(part string) float64 {
	if b.Where == nil || b.Where.Count < looksEnough {
		return 0
	}
	return b.Where.part(part) * b.Page.perStep(b.Page.Step)
}

// skewed reports whether what a rank takes longer than the others costs something:
// a share of the step, and more than the time that it was ready and other programs
// had its processor.
func (f *facts) skewed(worst *Process, excess, step float64) bool {
	of := func(r *Process) float64 { return r.Probe.Page.perStep(r.Delay) }
	_, _, delay := f.latest(of)
	excess -= max(0, of(worst)-delay)
	return excess >= skewLeast && excess >= skewHigh*step
}

// perStep spreads a sum over the measured steps.
func (p Page) perStep(sum float64) float64 { return sum / float64(max(p.Warm, 1)) }

// latest finds the rank with the largest value, and the median of all.
func (f *facts) latest(of func(*Process) float64) (worst *Process, most, median float64) {
	var all []float64
	for _, r := range f.ranks {
		v := of(r)
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
