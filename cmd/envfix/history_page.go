package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"envfix/internal/apply"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"
)

func pastOf(h apply.History) ui.Past {
	p := ui.Past{Env: h.Env, Logs: h.Logs, Day: today()}
	gens := map[string]apply.Generation{}
	for _, g := range h.Generations {
		gens[g.ID] = g
		e := ui.PastEnvs{Gen: g.ID, When: moment(g.Created), Current: g.ID == h.Current, Holds: heldWords(g), Proven: provenWords(g)}
		p.Envs = append(p.Envs, e)
		if !e.Current {
			p.Back = g.ID
		}
	}
	use := "" // what was there before envfix has no packages to compare
	for _, ev := range h.Events {
		r := ui.PastRow{When: moment(ev.Time), Took: took(ev), What: ev.What, State: ev.State, Gen: ev.Gen, Note: eventNote(ev)}
		if ev.Step != "" {
			r.Note = strings.TrimPrefix(r.Note+" (at step "+ev.Step+")", " ")
		}
		if ev.State == "done" && ev.What != "collect" {
			r.Changes = packageChanges(gens[use], gens[ev.Gen])
			use = ev.Gen
		}
		p.Rows = append(p.Rows, r)
	}
	return p
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
	return ui.Count(g.Proved.GPUs, "GPU") + " computed"
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
