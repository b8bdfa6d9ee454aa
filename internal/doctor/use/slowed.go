package use

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

// slowed: heat or the power supply take speed from a GPU that works. At the power
// limit of a full load every GPU is; that counts where the limit was lowered, or
// where a third of the clock is gone.
func slowed(e *evidence.Evidence, out *evidence.Findings) {
	for _, g := range used(e) {
		u := g.Use
		has := func(reason string) bool { return slices.Contains(u.Throttle, reason) }
		if u.Utilization == nil || *u.Utilization < 20 {
			continue // an idle GPU lowers its clock on purpose
		}
		slow := func(percent int) bool {
			return u.Clock != nil && u.MaxClock != nil && *u.MaxClock > 0 && *u.Clock*100 < *u.MaxClock*percent
		}
		said := []evidence.Quote{evidence.Fact("GPU %d: %s, %d %% busy%s%s", g.Index, strings.Join(u.Throttle, ", "),
			*u.Utilization, suffix(", %d °C", u.Temperature), suffix(", %d MHz", u.Clock))}
		switch {
		case has(machine.ThrottleHWHeat):
			out.Find("PERF005", evidence.Hint, said...).Say(evidence.GPUName(g) + " is too hot: its hardware cuts the clock")
		case has(machine.ThrottleHeat) && slow(80):
			out.Find("PERF005", evidence.Hint, said...).
				Say(evidence.GPUName(g) + " is hot: the driver lowers its clock").
				As(evidence.Warning)
		case has(machine.ThrottlePowerBrake):
			out.Find("PERF006", evidence.Hint, said...).Say("the power supply or the chassis slows " + evidence.GPUName(g))
		case has(machine.ThrottlePowerCap) && lowered(u):
			out.Find("PERF006", evidence.Hint, said...).
				Says("the power limit of %s was lowered to %d W, and it runs against it", evidence.GPUName(g), *u.PowerLimit).
				Do(fmt.Sprintf("`sudo nvidia-smi -i %d -pl %d` sets its own limit again", g.Index, *u.PowerNormal))
		case has(machine.ThrottlePowerCap) && slow(70):
			out.Find("PERF006", evidence.Hint, said...).Say("its power limit takes a third of the clock of " + evidence.GPUName(g))
		}
	}
}

func lowered(u *machine.GPUUse) bool {
	return u.PowerLimit != nil && u.PowerNormal != nil && *u.PowerLimit > 0 && *u.PowerLimit < *u.PowerNormal
}

func suffix(format string, n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(format, *n)
}
