package ui

import (
	"fmt"
	"strings"

	"envfix/internal/fleet"
	"envfix/internal/say"
)

// Fleet lays a plan for many machines out on one screen: the groups with their
// classes, what keeps them apart, and every machine without an answer.
func Fleet(p *fleet.Plan, s Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s: %s\n", Count(p.Machines, "machine"), Count(p.Classes, "class"), groupsText(p))
	b.WriteString(say.If(p.Bound != "", Hang("  ", "fewer groups may exist ("+p.Bound+")")))
	b.WriteString(say.If(p.Note != "", Hang("  ", p.Note)))
	for i, g := range p.Groups {
		fmt.Fprintf(&b, "\n%s  %s\n", s.Bold(fmt.Sprintf("group %d  torch %s  build %s", i+1, Clean(g.Torch), Clean(g.Build))), Count(g.Hosts, "machine"))
		for _, m := range g.Members {
			text := Clean(m.Name) + ", Python " + Clean(m.Python) + say.If(m.Driver != "", ", "+s.Warn(Clean(m.Driver)))
			b.WriteString(Hang("  ", text))
			b.WriteString(hosts(m.Hosts))
		}
	}
	section(&b, s.Bold("what keeps the groups apart"), p.Apart)
	if p.WhatIf != "" {
		section(&b, s.Bold("what if"), []string{p.WhatIf})
	}
	if len(p.Unserved) > 0 {
		b.WriteString("\n" + s.Warn("without an answer") + "\n")
	}
	for _, u := range p.Unserved {
		b.WriteString(Hang("  ", Clean(u.Name)+": "+Clean(u.Why)))
		b.WriteString(hosts(u.Hosts))
		b.WriteString(say.If(u.Hint != "", Hang("    hint: ", Clean(u.Hint))))
	}
	if len(p.Problems) > 0 {
		b.WriteString("\n" + s.Warn("not known") + "\n")
	}
	for _, x := range p.Problems {
		b.WriteString(Hang("  ", Clean(x.Host)+": "+Clean(x.Why)))
	}
	return b.String()
}

func groupsText(p *fleet.Plan) string {
	switch len(p.Groups) {
	case 0:
		return say.Either(len(p.Unserved) == 0, "nothing is known of any of them", "no choice fits any of them")
	case 1:
		return say.Either(len(p.Unserved)+len(p.Problems) == 0, "one choice for all", "one choice for those that have an answer")
	}
	return fmt.Sprintf("%d groups", len(p.Groups))
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, l := range lines {
		b.WriteString(Hang("  ", Clean(l)))
	}
}

// hosts lists machines behind their number.
func hosts(all []string) string {
	return Hang(fmt.Sprintf("    %-6d", len(all)), Hosts(all))
}

// Hosts names machines in the form that Slurm and clush read.
func Hosts(all []string) string {
	const most = 300 // characters: the whole list is in the JSON
	text := Clean(fleet.FoldUpTo(all, most))
	return strings.ReplaceAll(text, ",", ", ")
}
