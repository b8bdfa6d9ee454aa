package ui

import (
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"envfix/internal/apply"
	"envfix/internal/say"
	"envfix/internal/text"
)

//go:embed history.html
var historyHTML string

// HistoryPage is one page of HTML with an environment's past. It loads nothing from
// anywhere and holds no script; text from outside is escaped and cleaned.
func HistoryPage(h apply.History, day string) ([]byte, error) {
	type row struct {
		apply.Event
		Changes []string
	}
	page := struct {
		apply.History
		Day, Back string // Back is an environment to go back to; "" none
		Rows      []row  // the newest first
	}{History: h, Day: day}
	gens := map[string]apply.Generation{}
	for _, g := range h.Generations {
		gens[g.ID] = g
		page.Back = say.Either(g.ID == h.Current, page.Back, g.ID)
	}
	use := "" // what was there before envfix has no packages to compare
	for _, ev := range h.Events {
		r := row{Event: ev}
		if ev.State == "done" && ev.What != "collect" {
			r.Changes = packageChanges(gens[use], gens[ev.Gen])
			use = ev.Gen
		}
		page.Rows = append(page.Rows, r)
	}
	slices.Reverse(page.Rows)
	return reportPage(historyHTML, template.FuncMap{"moment": moment, "took": took, "note": eventNote, "class": class, "held": heldWords, "proven": provenWords}, page)
}

// class is how an event's dot is drawn: filled where the environment in use is another one
// from then on.
func class(ev apply.Event) string {
	word, _, _ := strings.Cut(say.Either(ev.What == "collect", ev.What, ev.State), " ")
	return word
}

// History tells what envfix did to an environment, the oldest first.
func History(h apply.History, look Style) string {
	if len(h.Events) == 0 {
		return "envfix did nothing to " + Clean(h.Env) + " yet\n"
	}
	var b strings.Builder
	for _, ev := range h.Events {
		note := eventNote(ev) + say.If(alike(h.Events, ev) > 1, ", "+ev.Gen) + say.With(" (at step ", ev.Step, ")")
		lead := Clean(fmt.Sprintf("%s  %-8s  %-9s  ", strings.TrimSuffix(moment(ev.Time), " UTC"), ev.What, ev.State))
		b.WriteString(look.Hang(lead, Clean(note)))
	}
	if len(h.Generations) == 0 {
		return b.String()
	}
	b.WriteString("\nenvironments (`envfix rollback ID` goes to one)\n")
	for _, g := range h.Generations {
		what := say.Either(g.Adopted, "as it was before envfix", "torch "+g.Torch) + say.If(g.ID == h.Current, ", in use")
		fmt.Fprintf(&b, "  %-18s  %s\n", Clean(g.ID), Clean(what))
	}
	return b.String()
}

// eventNote says what an event was, where its journal line says only which environment.
func eventNote(ev apply.Event) string {
	return say.Either(ev.What == "collect" && ev.Note == "", ev.Gen+", an older environment, was removed", ev.Note)
}

// alike counts the events that would read like one.
func alike(all []apply.Event, as apply.Event) int {
	n := 0
	for _, ev := range all {
		if ev.What == as.What && ev.State == as.State && ev.Note == as.Note && ev.Gen != "" {
			n++
		}
	}
	return n
}

// moment is a time of the journal for people: 2026-11-21 10:20:30, UTC.
func moment(rfc3339 string) string {
	return say.If(rfc3339 != "", strings.Replace(strings.TrimSuffix(rfc3339, "Z"), "T", " ", 1)+" UTC")
}

// took is how long an event went on, where it did not end at once.
func took(ev apply.Event) string {
	from, err := time.Parse(time.RFC3339, ev.Time)
	to, err2 := time.Parse(time.RFC3339, ev.Ended)
	return say.If(err == nil && err2 == nil && to.Sub(from) >= time.Second, to.Sub(from).String())
}

func heldWords(g apply.Generation) string {
	if g.Adopted {
		return "as it was before envfix"
	}
	out := text.Each(slices.Sorted(maps.Keys(g.Packages)), func(name string) string { return strings.TrimSpace(name + " " + g.Packages[name]) })
	return say.List(", ", append(out, say.With("Python ", g.Python, ""))...)
}

func provenWords(g apply.Generation) string {
	switch {
	case g.Proved == nil:
		return ""
	case g.Proved.GPUs == 0:
		return "imports; no GPU computed"
	}
	return Count(g.Proved.GPUs, "GPU") + " computed"
}

// packageChanges says what one environment has otherwise than the one before it, of what
// was chosen; nothing where either is not here any more.
func packageChanges(from, to apply.Generation) []string {
	if from.ID == "" || from.Adopted || to.ID == "" || to.Adopted {
		return nil
	}
	var out []string
	all := map[string]string{}
	maps.Copy(all, from.Packages)
	maps.Copy(all, to.Packages)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, was := from.Packages[name]
		b, is := to.Packages[name]
		switch {
		case !was:
			out = append(out, fmt.Sprintf("%s %s is new", name, b))
		case !is:
			out = append(out, fmt.Sprintf("%s %s is gone", name, a))
		case a != b:
			out = append(out, fmt.Sprintf("%s %s → %s", name, a, b))
		}
	}
	if from.Python != to.Python {
		out = append(out, fmt.Sprintf("Python %s → %s", from.Python, to.Python))
	}
	return out
}
