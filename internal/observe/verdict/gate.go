package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/text"
)

// A Gate is a condition on a report that fails a job in CI: idle>30%.
type Gate struct {
	Text  string
	name  string
	op    string
	value float64
	word  string
}

// gateNames are what a gate may ask for, and the unit of each.
var gateNames = []string{"idle", "util", "loader", "memory", "steps_per_s", "step_ms", "copies", "syncs", "rss", "seconds", "verdict"}

// ParseGate reads NAME OP VALUE. Shares are given in percent. The error says
// what is wrong and what there is.
func ParseGate(s string) (Gate, error) {
	g := Gate{Text: strings.TrimSpace(s)}
	for _, op := range []string{">=", "<=", "!=", "==", ">", "<", "="} {
		name, value, ok := strings.Cut(g.Text, op)
		if !ok {
			continue
		}
		g.name, g.op, value = strings.TrimSpace(name), strings.Replace(op, "==", "=", 1), strings.TrimSpace(value)
		if !slices.Contains(gateNames, g.name) {
			return g, fmt.Errorf("%q is nothing to compare; there are %s", text.Cut(g.name, 60), strings.Join(gateNames, ", "))
		}
		if g.name == "verdict" {
			if g.op != "=" && g.op != "!=" || value == "" {
				return g, fmt.Errorf("%q: a verdict is compared with = or != and a name", text.Cut(g.Text, 60))
			}
			g.word = value
			return g, nil
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "%")), 64)
		if err != nil || v != v || v < 0 || v > 1e12 {
			return g, fmt.Errorf("%q is not a number such as 30%%", text.Cut(value, 60))
		}
		g.value = v
		return g, nil
	}
	return g, fmt.Errorf("%q is not a condition such as idle>30%%", text.Cut(g.Text, 60))
}

// Fails reports whether a gate's condition holds, and says so with the value.
// What could not be measured fails too: a gate that passes unseen is none.
func (g Gate) Fails(r Report) (bool, string) {
	if g.name == "verdict" {
		is := r.Verdict == g.word
		return is == (g.op == "="), fmt.Sprintf("%s: the verdict is %s", g.Text, r.Verdict)
	}
	v, unit := g.measure(r)
	if !v.ok {
		return true, fmt.Sprintf("%s: not measurable here", g.Text)
	}
	hit := false
	switch g.op {
	case ">":
		hit = v.v > g.value
	case ">=":
		hit = v.v >= g.value
	case "<":
		hit = v.v < g.value
	case "<=":
		hit = v.v <= g.value
	case "=":
		hit = v.v == g.value
	case "!=":
		hit = v.v != g.value
	}
	return hit, fmt.Sprintf("%s: it was %.3g%s", g.Text, v.v, unit)
}

func (g Gate) measure(r Report) (num, string) {
	get := func(key string, scale float64) num {
		v := measured(r, key)
		return num{v.v * scale, v.ok}
	}
	switch g.name {
	case "idle":
		return get("idle_share", 100), " %"
	case "util":
		return get("gpu_util", 1), " %"
	case "loader":
		return get("loader_share", 100), " %"
	case "steps_per_s":
		return get("steps_per_s", 1), ""
	case "step_ms":
		return get("step_ms", 1), " ms"
	case "copies":
		return get("copies_per_step", 1), " a step"
	case "syncs":
		return get("syncs_per_step", 1), " a step"
	case "seconds":
		return known(r.Seconds), " s"
	case "memory":
		best := num{}
		for _, x := range r.GPUs {
			if x.Used && x.MemoryTotal > 0 {
				best = known(max(best.v, 100*share(x.MemoryPeak, x.MemoryTotal)))
			}
		}
		return best, " %"
	case "rss":
		total := int64(0)
		for _, p := range r.Processes {
			total += p.RSS
		}
		return known(float64(total)), " MiB"
	}
	return num{}, ""
}
