package main

import (
	"fmt"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/doctor/read"
	"envfix/internal/place"
	"envfix/internal/ui"
)

// where says in one line which environment was examined; "" none was. Where the one that
// is meant is not there yet, it is that of the Python which the shell runs.
func (f doctorFlags) where(p *read.Case) string {
	if p.Pasted || f.plan.machine.elsewhere() {
		return ""
	}
	at := f.plan.target.place
	if !at.Named && !place.IsEnv(at.Dir) && p.Torch.Version != "" && p.Files != nil && p.Files.Dir != "" {
		return fmt.Sprintf("environment %s (of the first Python on PATH)\n", ui.Clean(p.Files.Dir))
	}
	return at.Line() + "\n"
}

// fixes names the command that mends what was found, where a plan can; "" none can.
func (f doctorFlags) fixes(r doctor.Report, p *read.Case) string {
	if p.Pasted || r.OK || r.Process != nil || f.plan.machine.elsewhere() {
		return ""
	}
	torch, _ := doctor.InstalledTorch(p)
	first := doctor.CureOf(&r, p).First
	if first < 0 || strings.HasPrefix(r.Findings[first].Cause, "driver_") { // which is not touched without leave
		return ""
	}
	if fix := r.Findings[first].Fix; torch == "" && len(fix) > 0 && !strings.HasPrefix(fix[0], "`envfix apply`") {
		return "" // no build fits, or none is for this machine: that says what helps
	}
	return "\n`" + again("--fix") + "` shows the plan that mends this, and asks\n"
}
