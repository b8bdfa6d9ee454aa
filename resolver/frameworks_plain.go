package resolver

import (
	"fmt"
	"slices"
	"strings"

	"envfix/matrix"
)

// plainFrameworks installs what was asked for as it is, for the CPU.
func (s frameworks) plainFrameworks(why string) *outcome {
	pythons := s.p.pythons()
	if len(pythons) == 0 {
		return s.refuseFramework("python", "no Python is known that these packages are for")
	}
	p, missing := s.plainPython(pythons)
	if missing != "" {
		return s.refuseFramework("python", missing)
	}
	c := &Choice{Build: cpu, Python: p.String(), Channel: "pip", Packages: map[string]string{}}
	for _, r := range s.p.req.packages {
		c.Packages[r.Name] = ""
	}
	c.Holds = s.frameworkHolds(unlimited)
	o := &outcome{}
	o.Decision, o.Choice, o.Driver = InstallCPU, c, DriverChoice{Action: noDriver}
	o.Reasons = []Reason{{Rule: "request", Text: NoTorch}}
	o.Warnings = []string{why}
	return o
}

// plainPython is the first of some Pythons that everything asked for has a wheel for,
// as far as its files are known; missing says what the first one lacks.
func (s frameworks) plainPython(pythons []py) (first py, missing string) {
	for _, p := range pythons {
		q := s.p.ask(cpu, nil, driver{}, p)
		lacks := ""
		for _, r := range s.p.req.packages {
			name := r.Name
			if rows := s.p.cache.frameworks[plainName(name)]; len(rows) > 0 {
				own := slices.IndexFunc(rows, func(f matrix.Framework) bool { return f.Package == r.Name })
				name = filesOf(rows[max(own, 0)])
			}
			if why := q.packages().noFileIn(name, r.Spec); why != "" && lacks == "" {
				lacks = fmt.Sprintf("%s: %s", r.Name, strings.TrimPrefix(why, "and "))
			}
		}
		if lacks == "" {
			return p, ""
		}
		if missing == "" {
			missing = lacks
		}
	}
	return py{}, missing
}
