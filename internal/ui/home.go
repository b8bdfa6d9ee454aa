package ui

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/resolver"
)

// Home returns the screen of `envfix` alone: what the machine is, what torch is
// here and what would fit, what is wrong (faults are doctor's words), and the next
// command.
func Home(p *plan.Plan, faults []string, s Style) string {
	v := &view{Style: s}
	v.machine(p.Basis.Facts, p.Basis.Request.Described)
	v.line("")
	v.row("torch", installedTorch(p.Basis.Facts))
	wrong, next := assess(p)
	if p.Torch != "" && len(p.Steps) > 0 {
		v.combination("fits", p.Choice)
	}
	for _, w := range wrong {
		v.row("wrong", w)
	}
	for _, f := range faults {
		v.row("wrong", f)
	}
	if len(faults) == 0 {
		for _, f := range p.EnvFixes {
			if f.Action == "remove" {
				v.row("wrong", envFix(f))
			}
		}
	}
	v.line("")
	v.row("next", next)
	if len(faults) > 0 {
		v.row("", "`envfix doctor` says what is wrong, with its evidence")
	}
	v.otherMachine(p)
	v.row("", "`envfix --help` lists all commands")
	return v.b.String()
}

// Looked says what a doctor who found nothing has looked at, and what follows.
func Looked(h machine.Machine) string {
	v := &view{}
	v.machine(h, false)
	v.row("torch", installedTorch(h))
	v.line("")
	if slices.ContainsFunc(h.Installed, func(p machine.Package) bool { return p.Name == "torch" }) {
		v.row("next", "`envfix verify` proves that torch computes")
	} else {
		v.row("next", "`envfix plan` shows what fits this machine")
	}
	return v.b.String()
}

func installedTorch(h machine.Machine) string {
	for _, p := range h.Installed {
		if p.Name == "torch" {
			return p.Version + " is installed"
		}
	}
	return "none is installed"
}

// assess says what is wrong with what is there, and what to type next.
func assess(p *plan.Plan) (wrong []string, next string) {
	switch p.Decision {
	case resolver.NoSolution, resolver.NeedTarget:
		text, _, _ := Refusal(p)
		return []string{text}, "`envfix plan` says why, and what would change it"
	case resolver.FixDriver, resolver.UpgradeDriver, resolver.PinDriverBranch, resolver.Split, resolver.Partial:
		return []string{decisions[p.Decision]}, "`envfix plan` shows the steps"
	}
	if len(p.Steps) == 0 {
		return nil, "nothing to install; `envfix verify` proves that torch computes"
	}
	for _, t := range p.Basis.Facts.Installed {
		if t.Name == "torch" && p.Decision == resolver.Install {
			wrong = append(wrong, fmt.Sprintf("torch %s is not what fits this machine best", t.Version))
		}
	}
	return wrong, "`envfix plan` shows every step and changes nothing; `envfix apply` does it"
}
