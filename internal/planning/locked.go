//go:build !js

package planning

import (
	"fmt"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/resolver"
)

// Locked is the plan that installs a profile of a team's lock; otherDriver: the machine
// needs another driver for it first. Its error says why none can be planned.
func (q Question) Locked(l installers.LockedProfile, otherDriver bool) (*plan.Plan, error) {
	if otherDriver {
		var err error
		if l.Driver, err = q.driverFor(l); err != nil {
			return nil, err
		}
	}
	return installers.Locked(q.Matrix, q.Machine, q.Request, l, q.Target)
}

// driverFor decides on the driver that a profile needs and the machine has not: as it
// is decided without a lock, for the locked torch, build and Python alone.
func (q Question) driverFor(l installers.LockedProfile) (*resolver.Resolution, error) {
	public, _ := version.SplitLocal(l.Profile.Torch)
	torch, err := pep508.Parse("torch=="+public, "")
	if err != nil {
		return nil, fail.Wrap(fail.Usage, err)
	}
	r := &q.Request
	r.Requirements, r.Build, r.Python, r.ChangeDriver = []pep508.Requirement{torch}, l.Profile.Build, l.Profile.Python, true
	res, err := q.Choose()
	if err != nil || res.Then != nil && res.Then.Build == l.Profile.Build {
		return res, err
	}
	f := &fail.Error{Code: fail.NoSolution, Text: fmt.Sprintf("profile %s needs driver %s, and none that can be planned here brings it", l.Profile.Name, l.Profile.Match.Driver)}
	f.Details = append(f.Details, text.Each(res.Reasons, func(reason resolver.Reason) string { return reason.Text })...)
	return nil, f
}
