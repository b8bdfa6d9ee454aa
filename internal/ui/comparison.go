package ui

import (
	"fmt"
	"strings"

	"envfix/internal/observe/verdict"
)

// quantities are the words for what a comparison measures; percent: a share.
var quantities = map[string]struct {
	words   string
	percent bool
}{
	"steps_per_s": {"steps a second", false}, "step_ms": {"milliseconds a step", false}, "idle_share": {"GPU idle", true},
	"gpu_util":     {"GPU busy, percent", false},
	"loader_share": {"waiting for data", true}, "copies_per_step": {"copies a step", false}, "syncs_per_step": {"reads of a value a step", false},
}

// Comparison says what changed between two runs. price is of an hour of one GPU,
// in whatever money the user thinks in; 0: not given.
func Comparison(c verdict.Comparison, price float64) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		for _, l := range hung(Wrap(Clean(fmt.Sprintf(format, args...)), Width-3)) {
			b.WriteString(l + "\n")
		}
	}
	line("before: %s: %s", c.Before.Verdict, verdictTitle(c.Before.Verdict))
	line("after: %s: %s", c.After.Verdict, verdictTitle(c.After.Verdict))
	for _, set := range []struct {
		words string
		of    []string
	}{{"gone", c.Gone}, {"still there", c.Stayed}, {"new", c.New}} {
		for _, v := range set.of {
			line("%s: %s (%s)", set.words, v, verdictTitle(v))
		}
	}
	for _, x := range c.Changes {
		q := quantities[x.Name]
		if q.percent {
			line("%s: %.0f %% → %.0f %%", q.words, x.Before*100, x.After*100)
		} else {
			line("%s: %s → %s", q.words, three(x.Before), three(x.After))
		}
	}
	if c.Before.IdleHours != nil && c.After.IdleHours != nil {
		text := fmt.Sprintf("idle GPU-hours, an estimate: %s → %s", three(*c.Before.IdleHours), three(*c.After.IdleHours))
		if price > 0 {
			text += fmt.Sprintf("; at %s an hour: %.2f → %.2f", three(price), *c.Before.IdleHours*price, *c.After.IdleHours*price)
		}
		line("%s", text)
	}
	return b.String()
}

// idleCost is what idling cost in one run; "" where it cost next to nothing.
func idleCost(r verdict.Report, price float64) string {
	if r.IdleHours == nil || *r.IdleHours < 0.01 && price == 0 {
		return ""
	}
	text := fmt.Sprintf("idle: %s GPU-hours of this run (an estimate: share of the time without a kernel × time)", three(*r.IdleHours))
	if price > 0 {
		text += fmt.Sprintf(", %.2f at %s an hour", *r.IdleHours*price, three(price))
	}
	return text
}
