package apply

import (
	"fmt"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/plan"
	"envfix/internal/say"
)

var stepID = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Check refuses a plan that cannot be carried out as it stands, before anything
// is done. It reports the first fault that it finds.
func Check(p *plan.Plan) error {
	seen, verified := map[string]bool{}, false
	for i, s := range p.Steps {
		bad := func(format string, args ...any) error {
			return &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("step %d of the plan, %q: ", i+1, s.ID) + fmt.Sprintf(format, args...)}
		}
		switch {
		case !stepID().MatchString(s.ID):
			return bad("a step's id has lower-case letters, digits, dots, dashes and underscores")
		case seen[s.ID]:
			return bad("there are two steps of that id")
		case s.Run != nil && runFault(s.Run.Argv) != "":
			return bad("%s", runFault(s.Run.Argv))
		case s.Switch != nil && !verified && !p.Target.InPlace:
			return bad("it switches before anything was verified")
		case s.Switch != nil && i+1 < len(p.Steps) && usesGen(p.Steps[i+1:]):
			return bad("a later step changes the environment after the switch")
		}
		seen[s.ID] = true
		verified = verified || s.Verify != nil
	}
	return nil
}

// runFault says why nothing can be started so; "" it can.
func runFault(argv []string) string {
	runs := len(argv) > 0 && argv[0] != ""
	return say.Either(runs, say.If(strings.ContainsRune(strings.Join(argv, ""), 0), "an argument holds a NUL byte"), "it runs nothing")
}

// usesGen reports whether a step names the generation that is being built.
func usesGen(steps []plan.Step) bool {
	for _, s := range steps {
		switch {
		case s.Copy != nil, s.Clone != nil, s.Run != nil && strings.Contains(strings.Join(s.Run.Argv, "\n"), "{gen}"),
			s.Write != nil && strings.Contains(s.Write.Path, "{gen}"),
			s.Block != nil && strings.Contains(s.Block.Path, "{gen}"):
			return true
		}
	}
	return false
}
