package ui

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// What a short plan shows of long lists; -v shows all.
const (
	shownWarnings = 3
	shownChanges  = 6
	shownLeaves   = 8
)

// brief is a plan in about ten lines: what this machine is, the choice, the one
// reason, size and time, and what changes. What runs as root, or writes anywhere but
// into the environment, stands there in full whatever the length.
func (v *view) brief(p *plan.Plan) {
	v.choice(p)
	if names := besides(p); len(names) > 0 {
		v.row("with", strings.Join(names, ", "))
	}
	if len(p.Holds) > 0 {
		v.row("held", strings.Join(p.Holds, ", ")+": what "+say.Either(p.Torch != "", "the chosen torch loads", "it works")+" beside")
	}
	v.because(p)
	if text := sizeText(p); text != "" {
		v.row("size", text)
	}
	v.briefChanges(p)
	v.briefPackages(p.Keep)
	for _, f := range p.EnvFixes {
		if f.Action != "prepend" || f.Variable != "PATH" {
			v.row("shell", envFix(f))
		}
	}
	v.warnings(fewWarnings(p, "%d more (`-v` shows them)"))
	v.fullSteps(p)
	if p.Decision != resolver.Install && p.Decision != resolver.InstallCPU && len(p.Nearest)+len(p.Alternatives) > 0 {
		v.line("")
		v.b.WriteString(OtherAnswers(p.Nearest, p.Alternatives, v.Style))
	}
}

// fewWarnings are those that matter most, and in the form that more has how many others there are.
func fewWarnings(p *plan.Plan, more string) []string {
	shown := stopsFirst(p.Warnings, p.Decision == resolver.InstallCPU)
	return say.Few(shown, shownWarnings+say.Either(len(shown) == shownWarnings+1, 1, 0), more)
}

// stops are words of what keeps a project from being installed, or from computing, until
// somebody does something; idle are those of what is only to be known.
var (
	stops = []string{"the project itself is not installed", "set aside: ", "compiler",
		"computes on the CPU", " is not here, and what that asks for", "to install it fails",
		"asked of no index", "asks for no torch", "that import fails", "may not run", "which are not asked for"}
	idle = []string{"(pure Python)", "cuSPARSELt", "at first use", "nothing is proven",
		"nobody has read", " has no wheel for ", "minor releases behind", "no security updates"}
)

// stopsFirst orders warnings by what they mean for who reads three of them. why: the first says
// why this is the choice.
func stopsFirst(warnings []string, why bool) []string {
	rank := func(w string) int {
		has := func(part string) bool { return strings.Contains(w, part) }
		switch {
		case slices.ContainsFunc(stops, has), why && w == warnings[0]:
			return 0
		case slices.ContainsFunc(idle, has):
			return 2
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(warnings), func(a, b string) int { return rank(a) - rank(b) })
}

// besides are the packages that were asked for, or come with them, and that the choice
// does not name: in the version or the form that is installed, where one is chosen.
func besides(p *plan.Plan) []string {
	env := pep508.EnvironmentOf(p.Basis.Facts.Platform.OS, p.Basis.Facts.Platform.Arch, p.Installs().Python)
	wanted := xslices.Filter(p.Basis.Request.Requirements, func(q pep508.Requirement) bool {
		return env.Admits(q.Marker) && !slices.Contains(p.Target.Removes, q.Name)
	})
	names := pep508.Names(slices.Concat(wanted, pep508.Read(p.Target.Below, "")))
	var out, seen []string
	for _, name := range append(names, slices.Sorted(maps.Keys(p.Ask))...) { // flax brings jax
		switch {
		case slices.Contains([]string{"torch", "torchvision", "torchaudio"}, name), slices.Contains(seen, name):
			continue
		case p.Ask[name] == "":
			text := strings.TrimSpace(name + " " + p.Packages[name])
			if why := p.Older[name]; why != "" {
				text += " (" + why + ")"
			}
			out = append(out, text)
		case p.Torch != "": // else it is the choice
			out = append(out, p.Ask[name])
		}
		seen = append(seen, name)
	}
	return say.Few(out, shownLeaves, "%d more")
}

// usual are rules that every build that is chosen has passed.
var usual = []string{"request", "source", "python", "platform", "driver-floor", "gpu-code", "driver-gpu", "jit", "companions", "defects", "stack"}

// because says why in one row; what is said of a lock or of broken files too.
func (v *view) because(p *plan.Plan) {
	label := "because"
	for _, r := range p.Reasons {
		if !slices.Contains(usual, r.Rule) {
			v.row(label, r.Text)
			label = ""
		}
	}
	if why := theReason(p); label != "" && why != "" {
		v.row(label, why)
	}
}

// theReason is the one that decided: what is broken or wrong with the driver, what
// speaks against the newest torch, or else the code for the GPU.
func theReason(p *plan.Plan) string {
	said := map[string]string{}
	for _, r := range p.Reasons {
		if !slices.Contains(usual, r.Rule) {
			return r.Text
		}
		said[r.Rule] = r.Text
	}
	switch {
	case (p.Decision == resolver.UpgradeDriver || p.Decision == resolver.PinDriverBranch) && len(p.Reasons) > 0:
		return p.Reasons[0].Text // what is wrong with the driver comes first
	case p.Decision == resolver.InstallCPU && len(p.Basis.Facts.GPUs) > 0 && !p.Basis.Request.CPU:
		return "" // the first warning says why the CPU, and that is what is asked
	case p.HeldBack != "":
		return p.HeldBack
	case p.Decision == resolver.InstallCPU:
		return ""
	case p.Decision == resolver.UseVendorIndex:
		return said["source"]
	}
	code, arches, long := strings.Cut(said["gpu-code"], ") (") // all that it has code for
	code += say.If(long && arches != "", ")")
	return say.Either(p.Decision != resolver.Install, said["driver-floor"], strings.Trim(code+"; "+said["driver-floor"], "; "))
}

// briefChanges is what is other afterwards.
func (v *view) briefChanges(p *plan.Plan) {
	if len(p.Steps) == 0 {
		v.noSteps(p)
		return
	}
	parts, rootSteps := changesOf(p)
	runs := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Manual == nil && !s.Root })
	if p.Target.InPlace && len(parts) == 0 && runs {
		none := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID == "venv" })
		parts = append(parts, p.Target.Dir+say.Either(none, " is made", " is changed in place"))
	}
	reboots := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Manual != nil && s.Manual.Reboot })
	parts = say.All(append(parts, say.If(rootSteps > 0, fmt.Sprintf("the system, as root (%s)", Count(rootSteps, "step"))),
		say.If(reboots, "a reboot comes between"))...)
	with := say.With(", with ", p.Target.Manager, "")
	if len(parts) == 0 {
		return // a person does it all
	}
	v.row("changes", fmt.Sprintf("%s (%s%s)", strings.Join(parts, "; "), Count(len(p.Steps), "step"), with))
}

// changesOf is what the steps change of the user's, in words, and how many are root's.
func changesOf(p *plan.Plan) (parts []string, root int) {
	for _, s := range p.Steps {
		switch {
		case s.Root:
			root++
		case s.Switch != nil && p.Target.Amends():
			parts = append(parts, s.Switch.Dir+" is copied beside by hard links, changed, and replaced at the end; `envfix rollback` goes back")
		case s.Switch != nil && p.Keep != nil:
			parts = append(parts, s.Switch.Dir+" is built anew and replaced at the end; `envfix rollback` goes back")
		case s.Switch != nil:
			parts = append(parts, s.Switch.Dir+" is made")
		case s.Block != nil && !uses(p, "{gen}") && !Beyond(p, s): // nothing is built
			parts = append(parts, "envfix's lines in "+strings.ReplaceAll(s.Block.Path, "{gen}", p.Target.Dir))
		}
	}
	return parts, root
}

// briefPackages is what becomes of the packages of the environment that is
// replaced: what cannot stay is named with its reason, the rest is counted.
func (v *view) briefPackages(k *plan.Keep) {
	if k == nil {
		return
	}
	if k.Why != "" {
		v.row("packages", k.Why)
		return
	}
	count := func(of int, what string) string { return say.If(of > 0, fmt.Sprintf("%d %s", of, what)) }
	changes := func(goes bool, what string) string {
		of := xslices.Filter(k.Changes, func(c plan.Change) bool { return c.Goes == goes })
		names := say.Few(text.Each(of, func(c plan.Change) string {
			return strings.TrimSpace(c.Name + " " + c.From + say.With(" → ", c.To, ""))
		}), shownChanges, "%d more")
		return count(len(of), what+strings.Join(names, ", "))
	}
	parts := say.List("; ", count(len(k.Stays), "stay as they are"), changes(false, "change: "), changes(true, "removed: "), count(len(k.Leaves), "cannot stay"))
	if parts != "" {
		v.row("packages", parts)
	}
	for i, l := range k.Leaves {
		if n := len(k.Leaves) - i; i == shownLeaves && n > 1 {
			v.row("", fmt.Sprintf("%d more cannot stay (`-v` lists them)", n))
			break
		}
		v.row("", strings.TrimSpace(l.Name+" "+l.Version)+" cannot stay: "+l.Why)
	}
}

// fullSteps shows the steps that reach beyond the environment, each with its exact
// command.
func (v *view) fullSteps(p *plan.Plan) {
	sudo := p.Basis.Facts.Privilege != "root"
	title := false
	for i, s := range p.Steps {
		if !Beyond(p, s) {
			continue
		}
		if !title {
			v.section(fmt.Sprintf("beyond %s (of %s):", Clean(p.Target.Dir), Count(len(p.Steps), "step")))
			title = true
		}
		v.step(i+1, s, p.Target.Dir, sudo)
	}
}

// Beyond reports whether a step of p runs as root, asks something of a person, or
// changes something that is not the plan's environment. A command whose arguments
// name that environment, or what is being built for it, works on it.
func Beyond(p *plan.Plan, s plan.Step) bool {
	inside := func(name string) bool {
		return strings.HasPrefix(name, "{gen}") || within(name, p.Target.Dir)
	}
	switch {
	case s.Root || s.Manual != nil:
		return true
	case s.Write != nil:
		return !inside(s.Write.Path)
	case s.Block != nil:
		return !inside(s.Block.Path)
	case s.Run != nil:
		return !slices.ContainsFunc(s.Run.Argv, inside)
	}
	return false
}

// within reports whether the path name is dir or lies below it.
func within(name, dir string) bool {
	name, dir = path.Clean(strings.ReplaceAll(name, `\`, "/")), path.Clean(strings.ReplaceAll(dir, `\`, "/"))
	return dir != "." && (name == dir || strings.HasPrefix(name, dir+"/"))
}
