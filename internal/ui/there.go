package ui

import (
	"cmp"
	"maps"
	"slices"

	"envfix/installers"
	"envfix/internal/plan"
	"envfix/internal/text"
	"envfix/internal/version"
)

// There is the plan of a described machine as it reads there: programs by their names, and
// without what the environment here gives them.
func There(p *plan.Plan) *plan.Plan {
	if !p.Basis.Request.Described {
		return p
	}
	names := map[string]string{}
	for _, t := range p.Basis.Facts.Tools {
		names[t.Path] = t.Name
	}
	for _, python := range p.Basis.Facts.Pythons {
		names[python.Path] = "python" + version.Minor(python.Version)
	}
	there := *p
	there.Steps = text.Each(p.Steps, func(s plan.Step) plan.Step {
		if s.Run == nil {
			return s
		}
		run := *s.Run
		run.Env = maps.Clone(run.Env)
		maps.DeleteFunc(run.Env, func(name, _ string) bool { return slices.Contains(installers.Network, name) })
		run.Argv = text.Each(run.Argv, func(word string) string { return cmp.Or(names[word], word) })
		s.Run = &run
		return s
	})
	return &there
}
