package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/resolver"
)

// A Dashboard is what the screen of `envfix` alone says.
type Dashboard struct {
	Plan        *plan.Plan
	Environment string   // in one line
	Faults      []string // in doctor's words, the root cause first
	Mends       bool     // a plan mends the first
	Warned      bool     // they are warnings: torch computes all the same
	New         bool     // there is no environment yet: an installed torch is another Python's
	Into        string   // where a plan installs, if not there; "" there
	Found       string   // the environment of the first Python on PATH, where there is none here yet; "" it is in none
	Proved      string   // what the environment proved when it was made; "" nothing
}

// Home returns the screen of `envfix` alone: GPU and driver, the environment and its
// torch, whether that works and the one reason, and the next command.
func Home(d Dashboard, s Style) string {
	v := &view{Style: s}
	h := d.Plan.Basis.Facts
	v.machine(h, d.Plan.Basis.Request.Described)
	v.line("")
	v.b.WriteString(say.If(d.Environment != "", v.Hang("", Clean(d.Environment))))
	torch := installedTorch(h)
	if d.New && len(h.Pythons) > 0 && len(h.Installed) > 0 {
		torch += ", for " + h.Pythons[0].Path
	}
	v.row("torch", torch)
	v.wish(d.Plan)
	works, next := d.judge()
	v.row("works", works)
	if n := len(d.Faults) - 1; n > 0 {
		v.row("", fmt.Sprintf("(%s: `envfix doctor`)", Count(n, "more finding")))
	}
	v.line("")
	v.row("next", cmp.Or(d.Plan.Target.Obstacle, next))
	if host, way := h.Lent(); host != "" && len(h.GPUs) == 0 {
		v.row("", "this "+host+" has no GPU: "+way)
	}
	v.otherMachine(d.Plan)
	v.row("", "`envfix --help` lists all commands")
	return v.b.String()
}

// Looked says what a doctor who found nothing has looked at, and what follows.
func (s Style) Looked(h machine.Machine) string {
	v := &view{Style: s}
	v.machine(h, false)
	v.row("torch", installedTorch(h))
	v.line("")
	has := h.Has("torch") != nil
	switch {
	case h.Platform.Environment == machine.HPCLogin && len(h.GPUs) == 0:
		v.row("next", "this is a cluster's login node, and the GPUs are in other nodes: "+h.InJob("envfix doctor")+" looks there, "+
			say.Either(has, h.InJob("envfix verify")+" proves that torch computes", "`envfix plan --gpu NAME --driver VERSION` plans for them from here"))
	case has:
		v.row("next", "`envfix verify` proves that torch computes")
	default:
		v.row("next", "`envfix plan` shows what fits this machine")
	}
	return v.b.String()
}

func installedTorch(h machine.Machine) string {
	if torch := h.Has("torch"); torch != nil {
		return torch.Version + " is installed"
	}
	return "none is installed"
}

// mendsDriver reports whether a step of a plan mends the driver: none mends one that is
// loaded and does not answer.
func mendsDriver(p *plan.Plan) bool {
	driver := p.Basis.Facts.Driver
	loaded := driver != nil && !driver.LoadedVersion.IsZero() && p.Driver.Action == "load"
	return !loaded && slices.ContainsFunc(p.Steps, func(x plan.Step) bool { return strings.HasPrefix(x.ID, "driver") && x.Run != nil })
}

// judge says whether torch works, with the one reason, and what to type next.
func (d Dashboard) judge() (works, next string) {
	p := d.Plan
	install := "`envfix apply` shows the plan, asks, and carries it out"
	shows := "`envfix doctor` shows the evidence and what to do" + say.If(d.Mends, "; `envfix doctor --fix` mends it")
	switch p.Decision {
	case resolver.NoSolution, resolver.NeedTarget:
		why, _, _ := Refusal(p)
		if h := p.Basis.Facts; h.Platform.Environment == machine.HPCLogin {
			return "no: " + why, h.InJob("envfix doctor") + " looks where the GPUs are; `envfix plan --gpu NAME --driver VERSION` plans for them from here"
		}
		return "no: " + why, "`envfix plan` says why, and what would change it"
	case resolver.FixDriver:
		if len(d.Faults) == 0 {
			return "no: " + theReason(p), install
		}
		return "no: " + d.Faults[0], say.Either(mendsDriver(p), install, shows)
	}
	has := p.Basis.Facts.Has("torch") != nil
	shadows := slices.IndexFunc(p.EnvFixes, func(f plan.EnvFix) bool { return f.Action == "remove" })
	switch {
	case !has && p.Torch == "":
		return "no: there is no torch", "`envfix plan` shows what can be done: " + decisions[p.Decision]
	case !has:
		next := fmt.Sprintf("%s: torch %s, build %s", install, p.Torch, p.Build)
		next += say.With(", into ", Clean(d.Into), "; what is active stays as it is")
		return "no: there is no torch", next
	case len(d.Faults) > 0 && d.Warned:
		return "nothing keeps torch from computing, and there is a warning: " + d.Faults[0], shows
	case len(d.Faults) > 0:
		return "no: " + d.Faults[0], shows
	case shadows >= 0:
		return "not surely: " + envFix(p.EnvFixes[shadows]), "`envfix doctor --fix` puts it right where the environment is active"
	case d.Plan.Wish != nil && d.Plan.Wish.Machine != nil:
		return "yes, as far as can be told here: " + d.Plan.Wish.Machine.Instead() + say.With("; ", d.Proved, ""), "`envfix verify` on that machine proves it"
	case d.Proved != "":
		return "yes: " + d.Proved, "`envfix verify` proves it again"
	}
	works = "nothing speaks against it, and nothing was computed"
	switch {
	case d.New && d.Found == "":
		return works, fmt.Sprintf("%s: torch %s, build %s, in an environment of its own", install, p.Torch, p.Build)
	case d.New:
		return works, fmt.Sprintf("`%s` proves that torch computes; `envfix apply` makes an environment here, with torch %s, build %s",
			text.Command("envfix", "verify", "--env", d.Found), p.Torch, p.Build)
	}
	return works, "`envfix verify` proves that torch computes"
}
