package main

import (
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/ui"
)

// consentToBuild refuses a plan that builds what nobody agreed to: to build a package runs
// its code, and the isolation of builds is no sandbox. A later release asks again, since
// its version is part of the consent. Of a plan that was not made here its steps count.
func (f applyFlags) consentToBuild(p *plan.Plan, foreign bool) error {
	built := slices.Clone(p.Target.Build)
	for _, place := range p.Target.Places {
		address, _, _ := strings.Cut(place[strings.Index(place, "git+"):], " ;")
		built = append(built, address)
	}
	if foreign {
		built = append(built, apply.Built(p)...)
	}
	built = slices.Compact(slices.Sorted(slices.Values(built)))
	missing := slices.DeleteFunc(built, func(pinned string) bool { return slices.Contains(f.builds, pinned) })
	if len(missing) == 0 || len(p.Steps) == 0 {
		return nil
	}
	var agrees []string
	for _, pinned := range missing {
		agrees = append(agrees, "--allow-build", pinned)
	}
	return &fail.Error{Code: fail.Pending, Text: "to install this, packages without a wheel or of a repository must be built: " + ui.Clean(strings.Join(missing, ", ")),
		Details: []string{"building runs a package's own code as you; that it is built apart is no sandbox", "nothing was changed"},
		Hints:   []string{"`" + again(agrees...) + "` agrees to these versions"}}
}
