package verdict

import (
	"fmt"
	"strconv"
	"strings"

	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Gate is a condition on a report that fails a job in CI: idle>30%.
type Gate struct {
	Text  string
	of    gate
	op    string
	value float64
	word  string
}

// A gate is what one may ask for: its name, where it stands in the evidence, the
// factor and the unit that it is told in.
type gate struct {
	name, key string
	scale     float64
	unit      string
}

var gates = []gate{
	{"idle", "idle_share", 100, " %"}, {"util", "gpu_util", 1, " %"}, {"loader", "loader_share", 100, " %"}, {"memory", "", 1, " %"},
	{"steps_per_s", "steps_per_s", 1, ""}, {"step_ms", "step_ms", 1, " ms"}, {"copies", "copies_per_step", 1, " a step"},
	{"syncs", "syncs_per_step", 1, " a step"}, {"rss", "", 1, " MiB"}, {"seconds", "", 1, " s"}, {"verdict", "", 0, ""},
}

// ParseGate reads NAME OP VALUE. Shares are given in percent. The error says
// what is wrong and what there is.
func ParseGate(s string) (Gate, error) {
	g := Gate{Text: strings.TrimSpace(s)}
	for _, op := range []string{">=", "<=", "!=", "==", ">", "<", "="} {
		name, value, ok := strings.Cut(g.Text, op)
		if !ok {
			continue
		}
		name, g.op, value = strings.TrimSpace(name), strings.Replace(op, "==", "=", 1), strings.TrimSpace(value)
		if g.of, ok = xslices.Find(gates, func(of gate) bool { return of.name == name }); !ok {
			return g, fmt.Errorf("%q is nothing to compare; there are %s", text.Cut(name, 60),
				strings.Join(text.Each(gates, func(of gate) string { return of.name }), ", "))
		}
		if name == "verdict" {
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
	if g.of.name == "verdict" {
		is := r.Verdict == g.word
		return is == (g.op == "="), fmt.Sprintf("%s: the verdict is %s", g.Text, r.Verdict)
	}
	v := g.measure(r)
	if !v.ok {
		return true, fmt.Sprintf("%s: not measurable here", g.Text)
	}
	hit := map[string]bool{">": v.v > g.value, ">=": v.v >= g.value, "<": v.v < g.value, "<=": v.v <= g.value, "=": v.v == g.value, "!=": v.v != g.value}[g.op]
	return hit, fmt.Sprintf("%s: it was %.3g%s", g.Text, v.v, g.of.unit)
}

func (g Gate) measure(r Report) num {
	v := measured(r, g.of.key)
	v.v *= g.of.scale
	switch g.of.name {
	case "seconds":
		v = known(r.Seconds)
	case "memory":
		for _, x := range r.GPUs {
			if x.Used && x.MemoryTotal > 0 {
				v = known(max(v.v, 100*share(x.MemoryPeak, x.MemoryTotal)))
			}
		}
	case "rss":
		v = known(0)
		for _, p := range r.Processes {
			v.v += float64(p.RSS)
		}
	}
	return v
}
