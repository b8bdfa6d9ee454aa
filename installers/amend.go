//go:build !js

package installers

import (
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// amend plans an environment that is the one in use with a few packages more, or fewer:
// its files are linked, not installed again, and torch and what it needs are held.
func amend(b *builder, tool wheelTool) {
	b.tool = tool
	exe, ok := tool.bring(b)
	if !ok {
		return
	}
	b.kept = &plan.Keep{From: b.t.Dir, Known: b.kept.Known}
	held, added, again := pinned(b.t.Held), pep508.Names(pep508.Read(b.t.Adds, "")), pep508.Names(pep508.Read(b.t.Restores, ""))
	if b.t.Repair != nil { // nothing moves that no finding names
		held = needs(b.t.Held, family)
	}
	b.t.Pins = slices.DeleteFunc(b.t.Pins, func(pin string) bool { name, _, _ := strings.Cut(pin, "=="); return held[name] })
	for _, d := range b.t.Held.Dists {
		moved := b.t.Repair != nil && slices.Contains(added, d.Name)
		if slices.Contains(again, d.Name) {
			b.kept.Changes = append(b.kept.Changes, plan.Change{Name: d.Name, From: d.Version, Why: "its files are not whole"})
		} else if moved {
			b.kept.Changes = append(b.kept.Changes, plan.Change{Name: d.Name, From: d.Version, Why: "it is not what is asked for"})
		} else if slices.Contains(b.t.Removes, d.Name) {
			b.kept.Changes = append(b.kept.Changes, plan.Change{Name: d.Name, From: d.Version, Goes: true, Why: "it goes, as you asked"})
		} else if rank(d.Name) == len(family) {
			b.kept.Stays = append(b.kept.Stays, plan.KeptPackage{Name: d.Name, Version: d.Version, Copied: true, Loose: !held[d.Name]})
		}
		if public, _ := version.SplitLocal(d.Version); held[d.Name] && !moved { // torch itself may name a label that its metadata does not
			b.t.Pins = append(b.t.Pins, d.Name+"=="+public)
		}
	}
	if b.t.Repair != nil {
		again = append(again, b.t.Held.Leftovers...)
	}
	b.add(plan.Step{ID: "clone", Title: "begin with what is in " + b.t.Dir + say.With(", without ", strings.Join(again, ", "), ""),
		Why: "by hard links: nothing is installed twice, and nothing that is there is written to", Clone: &plan.Clone{Dir: b.t.Dir, Without: again}})
	if b.t.Framed() != "" {
		run := tool.create(b, exe)
		run.Argv = slices.Insert(run.Argv, len(run.Argv)-1, "--allow-existing")
		b.add(running("venv", "put Python "+b.choice.Python+" and the scripts of an environment into it", "its packages stay as they are", run))
	}
	restore(b, exe)
	if names := b.t.Removes; len(names) > 0 {
		b.add(plan.Step{ID: "remove", Title: "remove " + strings.Join(names, ", "), Why: "as you asked",
			Run: &plan.Run{Argv: append(tool.remove(b, exe), names...), Env: b.src.environment(tool)}})
	}
	if lines := b.t.Adds; len(lines) > 0 {
		b.install(exe, plan.Step{ID: "packages", Title: "install " + strings.Join(lines, ", "), Why: "from the default index, with torch and what it needs held"}, nil, lines)
	}
	b.finish(exe)
}

// restore adds the steps that bring packages again in the version that is there, each from the
// index that its label names: what bears none came from the default one.
func restore(b *builder, exe string) {
	for left := b.t.Restores; len(left) > 0; {
		index := ofLabel(left[0])
		lines := xslices.Filter(left, func(line string) bool { return ofLabel(line) == index })
		left = xslices.Filter(left, func(line string) bool { return ofLabel(line) != index })
		s := plan.Step{ID: "restore", Title: "install " + strings.Join(lines, ", ") + " again", Why: "in the version that is there, from the default index"}
		var from *string
		if index != "" {
			from = &index
			s.ID, s.Why = "restore-"+path.Base(index), "in the version that is there; one index per call: "+b.src.url(from)
		}
		for _, name := range pep508.Names(pep508.Read(lines, "")) {
			s.Disk += b.sizeOf(name)
		}
		s.Run = b.again(exe, from, true, lines...)
		b.add(s)
	}
}

// ofLabel is the index that has a package of torch's family with the label of a line; "" the
// default one.
func ofLabel(line string) string {
	name, v, _ := strings.Cut(line, "==")
	_, label := version.SplitLocal(v)
	return say.If(rank(name) < len(family) && label != "", "https://download.pytorch.org/whl/"+label)
}

// pinned are torch's family and what it requires in one version, and that in turn. What it
// requires within bounds may move for another package: the check at the end holds the bounds.
func pinned(there *machine.Held) map[string]bool {
	out := map[string]bool{}
	for name := range needs(there, family) {
		out[name] = out[name] || rank(name) < len(family)
		d, _ := heldDist(there, name)
		for _, q := range pep508.Read(d.Requires, "") {
			out[q.Name] = out[q.Name] || strings.HasPrefix(q.Spec.String(), "==")
		}
	}
	maps.DeleteFunc(out, func(name string, exact bool) bool { _, is := heldDist(there, name); return !is || !exact })
	return out
}
