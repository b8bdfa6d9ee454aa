package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/installers"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// steps prints every step with its exact command.
func (v *view) steps(p *plan.Plan) {
	if len(p.Steps) == 0 {
		v.line("")
		v.noSteps(p)
		return
	}
	v.section(stepsTitle(p))
	built := "$gen"
	if !uses(p, "{gen}") { // nothing is built: it is the environment itself
		built = p.Target.Dir
	}
	sudo := p.Basis.Facts.Privilege != "root"
	if given := network(p); given != "" {
		v.item("", "every command is also given, from your environment: "+given)
	}
	for i, s := range p.Steps {
		v.step(i+1, s, built, sudo)
	}
	if text := sizeText(p); text != "" {
		v.line("")
		v.row("size", text)
	}
}

// noSteps says why there is nothing to do.
func (v *view) noSteps(p *plan.Plan) {
	switch {
	case p.Waits():
		v.row("steps", "none without a change of the driver")
	case p.Decision == resolver.Split:
	default:
		if m, _ := managers.Find(p.Target.Manager); m.Project() {
			v.row("steps", "none: "+cmp.Or(p.Target.ProjectFile, m.File)+" asks for this already; `"+m.Sync+"` installs it")
			return
		}
		v.row("steps", "none: "+p.Target.Dir+" holds all of this already")
	}
}

// sizeText says what will be received, how long that takes, and what lies on the disk
// afterwards; what nobody measured is named.
func sizeText(p *plan.Plan) string {
	var receive, disk int64
	for _, s := range p.Steps {
		receive += s.Bytes
		disk += s.Disk
	}
	unknown := unmeasured(p)
	about := say.Either(len(unknown) > 0, "at least ", "about ")
	received := say.Either(p.Target.Offline, " that must lie here already, in a cache or a folder (--offline)", " to receive"+receiving(receive))
	size := say.List(", ", say.If(receive > 0, about+Size(receive)+received), say.If(disk > 0, about+Size(disk)+" on disk"))
	return say.List("; ", size, say.With("not known for ", strings.Join(unknown, ", "), ""))
}

// receiving says how long n bytes take at a rate that people know.
func receiving(n int64) string {
	const rate = 100e6 / 8 // bytes a second
	minutes := int((float64(n)/rate + 30) / 60)
	return say.If(minutes > 0, fmt.Sprintf(" (%d min at 100 Mbit/s)", minutes))
}

// unmeasured names what the steps install without a known size.
func unmeasured(p *plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		if s.Run == nil || s.Bytes > 0 {
			continue
		}
		switch s.ID {
		case "torch", "conda":
			out = append(out, "torch and what it brings"+say.If(!slices.Contains([]string{"cpu", "mps"}, p.Installs().Build), " (gigabytes, as every build for a GPU)"))
		case "packages", "carry", "sources":
			out = xslices.Add(out, "the other packages")
		case "driver":
			out = append(out, "the driver")
		}
	}
	return out
}

// network is what the commands are given of the user's proxies and certificates.
func network(p *plan.Plan) string {
	var parts []string
	for _, name := range installers.Network {
		if i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Run != nil && s.Run.Env[name] != "" }); i >= 0 {
			parts = append(parts, name+"="+p.Steps[i].Run.Env[name])
		}
	}
	return strings.Join(parts, " ")
}

func stepsTitle(p *plan.Plan) string {
	gen := say.Either(p.Target.InPlace, Clean(p.Target.Dir), "a new directory in .envfix/gens")
	return Count(len(p.Steps), "step") + say.If(uses(p, "{gen}"), " ($gen is "+gen+")")
}

func uses(p *plan.Plan, placeholder string) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.Run != nil && strings.Contains(strings.Join(s.Run.Argv, "\n"), placeholder)
	})
}

// step prints one step; built is what {gen} stands for.
func (v *view) step(n int, s plan.Step, built string, sudo bool) {
	v.item(fmt.Sprintf("%d. ", n), s.Title+": "+s.Why)
	switch {
	case s.Run != nil:
		v.command(*s.Run, s.Root && sudo)
	case s.Copy != nil:
		v.item("     ", "from "+s.Copy.Dir+": "+strings.Join(s.Copy.Packages, " "))
	case s.Clone != nil:
		v.item("     ", s.Clone.Dir+" => $gen")
	case s.Write != nil:
		v.item("     ", "writes "+strings.ReplaceAll(s.Write.Path, "{gen}", "$gen"))
	case s.Block != nil:
		v.item("     ", "between envfix's marks in "+strings.ReplaceAll(s.Block.Path, "{gen}", built))
		if s.Block.Backup != "" {
			v.item("     ", "as it is now it is kept as "+s.Block.Backup)
		}
	case s.Manual != nil:
		v.item("     ", s.Manual.Text)
	case s.Switch != nil:
		v.item("     ", s.Switch.Dir+" -> $gen")
	}
}

// command prints a command as it can be pasted, broken between its words.
func (v *view) command(r plan.Run, sudo bool) {
	r.Env = maps.Clone(r.Env)
	maps.DeleteFunc(r.Env, func(k, _ string) bool { return slices.Contains(installers.Network, k) })
	words, err, goesOn := []string(nil), error(nil), " \\"
	if v.windows {
		words, err = r.PowerShellWords()
		goesOn = " `"
	} else {
		words, err = r.Words()
	}
	if err != nil { // not for a shell; it is run without one
		words = text.Each(r.Argv, func(a string) string { return text.Command(a) })
	}
	if sudo {
		words = append([]string{"sudo"}, words...)
	}
	const indent = "       "
	line := ""
	for _, w := range words {
		w = CleanLines(w)
		if line != "" && columns(indent)+columns(line)+1+columns(w) > v.width()-3 {
			v.line(indent + v.Dim(line+goesOn))
			line = "  " + w
			continue
		}
		line += say.If(line != "", " ")
		line += w
	}
	v.line(indent + v.Dim(line))
}

// others prints what a newer choice was held back by, the nearest other answers
// and the next command.
func (v *view) others(p *plan.Plan) {
	if len(p.Nearest)+len(p.Alternatives) > 0 {
		v.line("")
		v.b.WriteString(OtherAnswers(p.Nearest, p.Alternatives, v.Style))
	}
	if p.HeldBack != "" {
		v.line("")
		v.row("newer", p.HeldBack)
	}
}

// OtherAnswers lists the smallest changes that would allow another build, and the
// ways beside it; "" where there is neither.
func OtherAnswers(nearest []resolver.Nearest, alternatives []string, s Style) string {
	v := &view{Style: s}
	if len(nearest)+len(alternatives) > 0 {
		v.title("other answers (what to change, and what that gives)")
	}
	rows := text.Each(nearest, func(n resolver.Nearest) [2]string { return [2]string{Clean(n.Change), Clean(gives(n))} })
	v.b.WriteString(v.Columns(rows, 2))
	for _, a := range alternatives {
		v.item("", a)
	}
	return v.b.String()
}

// gives is what a change leads to: torch, where the change does not name it, the build, and
// what a reader has to know of it.
func gives(n resolver.Nearest) string {
	s := say.If(n.Torch != "" && n.Change != "torch "+n.Torch, "torch "+n.Torch+", ") + "build " + n.Build
	s += say.With(" (", Clean(n.Note), ")")
	return s
}

// Next names the command that follows a plan which was shown. args are what was asked
// for, as apply takes it; nil: that cannot be repeated here.
func Next(p *plan.Plan, args []string, s Style) string {
	v := &view{Style: s}
	v.line("")
	switch {
	case p.Decision == resolver.Split:
		v.row("next", "one `envfix plan` for each group, with `--gpus LIST` and `--env DIR`")
	case len(p.Steps) > 0 && !slices.ContainsFunc(p.Steps, func(x plan.Step) bool { return x.Manual == nil }):
		v.row("next", "by hand: "+Clean(p.Steps[0].Manual.Text))
	case p.Target.Obstacle != "":
		v.row("next", p.Target.Obstacle)
	case len(p.Steps) > 0 && p.Basis.Request.Described:
		flag := say.Either(p.Basis.Facts.Platform.OS == "windows", "--ps1", "--sh")
		now := say.If(p.Decision == resolver.UpgradeDriver, " installs what runs now")
		v.next("apply", args, "on that machine: ", now+"; from here: `"+flag+"` prints the steps as a script")
	case len(p.Steps) > 0 && p.Decision == resolver.UpgradeDriver:
		v.next("apply", args, "", " installs what runs now; `--change-driver` plans the newer driver too")
	case len(p.Steps) > 0:
		with := say.If(p.Target.Lacks && slices.Contains(args, "--closure"), " with what its sources import besides")
		builds := say.If(len(p.Target.Build)+len(p.Target.Places)+len(p.Target.Closing) > 0, "; what it builds runs code of its own, as you")
		v.next("apply", args, "", " shows this"+with+", asks, and carries it out"+builds)
	case p.Waits():
		name := "plan --change-driver"
		if args != nil {
			name, args = "plan", append(slices.Clone(args), "--change-driver")
		}
		v.next(name, args, "", " plans the change of the driver")
	default:
		named := say.If(p.Target.Named, " --env "+p.Target.Dir)
		v.row("next", "`envfix verify"+named+"` proves that torch computes")
	}
	if !s.Verbose {
		v.row("more", "`-v`: every step with its command, and every reason")
	}
	v.otherMachine(p)
	return v.b.String()
}

// Here names the command that builds on this machine what another one is to run, such as
// an image; args are what was asked for, with the description; nil: it is not for this one.
func Here(args []string, s Style) string {
	v := &view{Style: s}
	if args != nil {
		v.follow("here", "apply", args, "", " builds it on this machine, for that one")
	}
	return v.b.String()
}

// next prints a command of envfix as it can be pasted, with words before and after it:
// in the sentence where it fits into its line, else by itself.
func (v *view) next(name string, args []string, before, after string) {
	v.follow("next", name, args, before, after)
}

func (v *view) follow(row, name string, args []string, before, after string) {
	r := plan.Run{Argv: append([]string{"envfix", name}, args...)}
	line := before + "`" + text.Command(r.Argv...) + "`"
	switch {
	case args == nil:
		v.row(row, before+"`envfix "+name+"` with the same arguments"+after)
	case columns(line) <= v.width()-leftColumn:
		v.row(row, line+after)
	default:
		v.row(row, before+"this command"+after+":")
		v.command(r, false)
	}
}

// Refusal returns the words for a plan without an answer: the error, one detail
// per reason, and hints that name the nearest ways out.
func Refusal(p *plan.Plan) (text string, details, hints []string) {
	h := p.Basis.Facts
	if p.Decision == resolver.NeedTarget {
		at := map[string]string{"container-build": "an image is being built", "hpc-login": "a login node"}[h.Platform.Environment]
		text = "this is not the machine that will run it (" + cmp.Or(at, "no driver is to be seen") + "): name the target"
		hints = []string{"`envfix plan --gpu \"H100 80GB HBM3\" --driver 580.95.05`, or `--facts FILE` from the target's `envfix facts --json`"}
	} else {
		text = "no PyTorch build fits " + subject(p)
		if names := besideWhat(p); len(names) > 0 { // what cannot be had is the headline
			text = strings.Join(names, " and ") + " cannot be had as asked for on " + subject(p) + "; torch alone can"
		}
		if slices.ContainsFunc(p.Reasons, func(r resolver.Reason) bool { return r.Text == resolver.NoTorch }) {
			text = "no known wheel of what was asked for fits " + subject(p)
		}
	}
	width := 0
	for _, r := range p.Reasons {
		width = max(width, columns(r.Rule))
	}
	for _, r := range p.Reasons {
		details = append(details, r.Rule+strings.Repeat(" ", width-columns(r.Rule)+2)+r.Text)
	}
	details = slices.Concat(details, say.All(asksTorch(p)), fewWarnings(p, "%d more (`envfix plan --json` has them)"))
	for _, n := range p.Nearest {
		another := n.Change == "torch "+n.Torch
		hints = append(hints, n.Change+say.Either(another, " fits, ", ": then ")+gives(n))
	}
	for _, a := range p.Alternatives {
		if _, rest, _ := strings.Cut(a, " "); slices.ContainsFunc(p.Reasons, func(r resolver.Reason) bool { return strings.HasSuffix(r.Text, rest) }) {
			continue // said above, of one release
		}
		hints = append(hints, say.If(len(hints) > 0, "or ")+a)
	}
	return text, details, hints
}

// asksTorch says which file asks for the torch that does not fit.
func asksTorch(p *plan.Plan) string {
	q, named := xslices.Find(p.Basis.Request.Requirements, func(q pep508.Requirement) bool { return q.Name == "torch" && q.From != "" })
	return say.If(named, "asked for: "+q.Text+" ("+q.From+")")
}

// besideWhat names the packages without which there is an answer: the build is there, and
// what stands in its way is one of those that were asked for beside it.
func besideWhat(p *plan.Plan) []string {
	for _, n := range p.Nearest {
		names := strings.Split(strings.TrimPrefix(n.Change, "without "), ", ")
		if slices.IndexFunc(names, func(name string) bool { return !pep508.Asks(p.Basis.Request.Requirements, name) }) < 0 {
			return names
		}
	}
	return nil
}

// subject is "this machine (Tesla V100, 7.0; driver 580.95.05)".
func subject(p *plan.Plan) string {
	h := p.Basis.Facts
	who := say.Either(p.Basis.Request.Described, "the described machine", "this machine")
	var parts []string
	for _, g := range h.GPUs {
		parts = xslices.Add(parts, g.Name+say.With(", ", g.SM.String(), ""))
	}
	if c := h.Platform.Libc; c != nil && c.Kind == "musl" { // which no build is for, whatever the GPU is
		parts = append(parts, "musl "+c.Version.String())
	}
	if len(parts) == 0 {
		parts = append(parts, "no GPU")
	}
	return who + " (" + say.List("; ", append(parts, say.With("driver ", h.DriverVersion(), ""), say.With("Python ", p.Basis.Request.Python, ""))...) + ")"
}
