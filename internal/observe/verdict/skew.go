package verdict

import (
	"fmt"
	"slices"
)

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
	if x := f.skewedLoad(step); x != nil {
		return x
	}
	return f.skewedWork(step)
}

// skewedLoad: one rank waits longer for its data.
func (f *facts) skewedLoad(step float64) *Finding {
	worst, most, median := f.latest(func(r *Process) float64 { return r.Probe.Page.perStep(r.Probe.Page.Load) })
	_, _, often := f.latest(func(r *Process) float64 { return r.Probe.Page.LoadP90 })
	p := worst.Probe.Page
	if !f.skewed(worst, most-median, step) || p.LoadP90 > 0 && p.LoadP90 <= often { // a few long waits are no skew
		return nil
	}
	x := f.skew(worst, step, most-median)
	x.Evidence["wait_ms"], x.Evidence["median_wait_ms"] = round(most*1e3), round(median*1e3)
	x.Text = fmt.Sprintf("%s waits %s a step for data, %s %s: all ranks wait for it", worst.rank(), seconds(most), f.others(), seconds(median))
	x.Fix = []string{"look at that rank's shard and its storage", "give every rank the same number of workers and CPUs"}
	return x
}

// skewedWork: one rank takes longer to come to its backward pass, in each of the
// steps that were looked at.
func (f *facts) skewedWork(step float64) *Finding {
	worst, most, median := f.latest(func(r *Process) float64 { return r.Probe.Burst.leastOwn() })
	if median == 0 || !f.skewed(worst, most-median, step) {
		return nil
	}
	x := f.skew(worst, step, min(most-median, 0.95*step)) // a few steps, beside all of them
	x.Evidence["own_ms"], x.Evidence["median_own_ms"] = round(most*1e3), round(median*1e3)
	x.Text = fmt.Sprintf(
		"%s takes %s a step until its backward pass, %s %s: all ranks wait for it",
		worst.rank(),
		seconds(most),
		f.others(),
		seconds(median),
	)
	x.Fix = []string{
		"give every rank the same amount of work: batch size, sequence lengths, evaluation and logging",
		"look whether something else runs on that rank's CPU or GPU: `envfix watch`",
	}
	return x
}

// skewed reports whether what a rank takes longer than the others costs something:
// a share of the step, and more than the time that it was ready and other programs
// had its processor.
func (f *facts) skewed(worst *Process, excess, step float64) bool {
	_, _, delay := f.latest((*Process).delayPerStep)
	excess -= max(0, worst.delayPerStep()-delay)
	return excess >= skewLeast && excess >= skewHigh*step
}

func (p *Process) delayPerStep() float64 { return p.Probe.Page.perStep(p.Delay) }

// leastOwn is what a rank does alone in each step, at least: of an old recording
// on average.
func (b *Burst) leastOwn() float64 {
	switch {
	case b == nil || b.Steps == 0:
		return 0
	case b.OwnLeast > 0:
		return b.OwnLeast
	}
	return b.Own / float64(b.Steps)
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

func (f *facts) others() string {
	if len(f.ranks) == 2 {
		return "the other"
	}
	return "the median rank"
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
