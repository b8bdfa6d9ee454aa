package installers

import (
	"slices"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/resolver"
)

// admitted is a request without the requirements whose marker does not hold for this
// system and the chosen Python: nothing of them is installed, compared or named. The
// files of a project are for other systems, too, and keep them.
func admitted(h machine.Machine, r resolver.Request, t plan.Target, c *resolver.Choice) resolver.Request {
	if m, _ := managers.Find(t.Manager); c == nil || m.Project() {
		return r
	}
	env := pep508.EnvironmentOf(h.Platform.OS, h.Platform.Arch, c.Python)
	r.Requirements = slices.DeleteFunc(slices.Clone(r.Requirements), func(q pep508.Requirement) bool { return !env.Admits(q.Marker) })
	return r
}
