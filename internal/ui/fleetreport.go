package ui

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"envfix/internal/fleet"
	"envfix/internal/say"
)

//go:embed fleet.html
var fleetHTML string

// FleetReport says on one screen how many machines are right, and which are not, why.
func FleetReport(r *fleet.Report, s Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", Count(r.Machines, "machine"), countText(r.Count))
	for _, c := range r.Classes {
		name := Clean(c.Name) + say.With(", profile ", Clean(c.Profile), "")
		b.WriteString("\n" + s.Bold(name) + "\n")
		for _, st := range fleet.Statuses {
			if all := c.Hosts[st]; len(all) > 0 {
				b.WriteString(Hang(fmt.Sprintf("  %-8s %-6d", st, len(all)), Hosts(all)))
			}
		}
	}
	for _, g := range sameWhy(r.Hosts) {
		b.WriteString("\n" + s.Warn(Clean(string(g.Status))) + "  " + Hosts(g.Hosts) + "\n")
		for _, why := range g.Why {
			b.WriteString(Hang("  ", Clean(why)))
		}
	}
	return b.String()
}

func countText(count map[fleet.Status]int) string {
	var parts []string
	for _, st := range slices.Backward(fleet.Statuses) {
		parts = append(parts, say.If(count[st] > 0, fmt.Sprintf("%d %s", count[st], st)))
	}
	return cmp.Or(say.List(", ", parts...), "none")
}

// A sameReason is machines of one status with the same reasons.
type sameReason struct {
	Status fleet.Status
	Why    []string
	Hosts  []string
}

// sameWhy groups those that are not right, the worst first.
func sameWhy(hosts []fleet.HostReport) []sameReason {
	var out []sameReason
	for _, st := range fleet.Statuses {
		at := map[string]int{}
		for _, h := range hosts {
			if h.Status != st || st == fleet.Right {
				continue
			}
			key := strings.Join(h.Why, "\n")
			n, ok := at[key]
			if !ok {
				n = len(out)
				at[key] = n
				why := h.Why
				if len(why) == 0 {
					why = []string{"nothing was told of what it has: `envfix verify --static --json` there tells it"}
				}
				out = append(out, sameReason{Status: st, Why: why})
			}
			out[n].Hosts = append(out[n].Hosts, h.Host)
		}
	}
	return out
}

// FleetPage is a report as one page of HTML. It loads nothing from anywhere and holds
// no script.
func FleetPage(r *fleet.Report) ([]byte, error) {
	data := struct {
		*fleet.Report
		Counted  string
		Statuses []fleet.Status
		Same     []sameReason
	}{r, countText(r.Count), fleet.Statuses, sameWhy(r.Hosts)}
	return reportPage(fleetHTML, template.FuncMap{"folded": Hosts, "count": Count}, data)
}
