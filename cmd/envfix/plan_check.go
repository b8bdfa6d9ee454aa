package main

import (
	"context"
	"errors"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// checkPackages has uv resolve what a plan installs before anything is downloaded: with
// `--check-packages`, and for apply where more than torch is asked for. What uv reads of
// the index stays in its cache, so that the installation does not fetch it again.
func (f planFlags) checkPackages(ctx context.Context, m *matrix.Matrix, p *plan.Plan, r resolver.Request) error {
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "packages" })
	unasked := f.machine.mode == carriesOut && i >= 0 && p.Target.Manager == managers.Usual && !p.Target.Offline
	if !f.target.check && !unasked || len(p.Target.Build) > 0 { // what is built was resolved with the rest
		return nil
	}
	c := &p.Choice
	if p.Choice.Packages == nil && p.Then != nil {
		c = p.Then
	}
	here := slices.ContainsFunc(p.Basis.Facts.Tools, func(t machine.Tool) bool { return t.Name == "uv" })
	if len(c.Packages) == 0 || c.Channel != "pip" || unasked && !here {
		return nil
	}
	t := team.Team{Dir: ".", Matrix: m, Build: buildVersion, Tools: toolsDir()}
	err := t.Installable(ctx, team.Set{Choice: c, Wish: r.Requirements, Channel: r.Channel, Platform: p.Basis.Facts.Platform,
		Mirrors: team.ParseMirrors(p.Target.Mirrors), Offline: p.Target.Offline})
	switch {
	case err == nil, errors.Is(err, team.ErrUnknown) && !f.target.check:
		return nil
	case errors.Is(err, team.ErrUnknown):
		var why *fail.Error
		text := err.Error()
		if errors.As(err, &why) && len(why.Details) > 0 {
			text = why.Details[0]
		}
		p.Warnings = append(p.Warnings, "`--check-packages`: uv could not say whether the packages can be installed together: "+ui.Clip(ui.Clean(text), 300))
		return nil
	}
	return err
}
