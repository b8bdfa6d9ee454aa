package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/xslices"
)

// atStart takes what a file sets that every Python of the environment runs when it starts in
// place of what this shell says.
func atStart(e *Evidence) {
	if e.Files == nil || !slices.ContainsFunc(e.Files.Variables, func(v machine.Variable) bool { return v.AtStart }) {
		return
	}
	e.Machine.Env, e.From.Env = maps.Clone(e.Machine.Env), maps.Clone(e.From.Env)
	if e.From.Env == nil {
		e.From.Env = map[string]read.Evidence{}
	}
	if e.Machine.Env == nil {
		e.Machine.Env = map[string]string{}
	}
	for _, v := range e.Files.Variables {
		if v.AtStart {
			e.Machine.Env[v.Name] = v.Value
			e.From.Env[v.Name] = Fact("%s=%q, set by %s", v.Name, v.Value, v.Origins[0].Place())
		}
	}
}

// setting is a variable as it was found; false where it is not set, or not looked for.
func (e Repair) setting(name string) (machine.Variable, bool) {
	if e.Files == nil {
		return machine.Variable{}, false
	}
	named := xslices.Filter(e.Files.Variables, func(v machine.Variable) bool { return v.Name == name })
	if v, ok := xslices.Find(named, func(v machine.Variable) bool { return v.AtStart }); ok || len(named) == 0 {
		return v, ok // what Python's start sets counts
	}
	return named[0], true
}

// Unset completes a finding about a variable: the files that set it, how it is taken out
// there, and in this shell.
func (e Repair) Unset(f *Finding, name string, ways ...string) {
	v, found := e.setting(name)
	if !found {
		f.Do(ways...)
		return
	}
	given := ways
	ways = nil
	for _, o := range v.Origins {
		if text := fmt.Sprintf("from %s: %s=%s", o, name, v.Value); !slices.Contains(f.Quotes(), text) {
			f.see([]read.Evidence{{Text: text}}, 8)
		}
		ways = append(ways, RemoveFrom(o, name, "the line that sets "+name))
	}
	if !v.AtStart {
		ways = append(ways, given...)
		at := slices.IndexFunc(ways, func(w string) bool { return strings.HasPrefix(w, "`unset "+name) })
		if at < 0 {
			ways = append(ways, "`unset "+name+"` mends this shell")
		}
		if i := slices.IndexFunc(v.Origins, editable); i >= 0 {
			ways = append(ways, "`envfix doctor --fix --edit-profile` shows the change of "+v.Origins[i].File+", asks, and keeps the file as it was")
		}
		fix := plan.EnvFix{Variable: name, Action: "remove", Value: v.Value, Why: "it is of no use here"}
		if len(v.Origins) > 0 {
			fix.From = v.Origins[0].Place()
		}
		f.Mends(Mend{Fixes: []plan.EnvFix{fix}})
	}
	f.Do(ways...)
}
