package main

import (
	"fmt"

	"envfix/internal/fail"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

func whyCommand() *cli.Command {
	return declared("why", whyAction)
}

func whyAction(c *cli.Context) error {
	f, err := planOf(c, shows)
	if err != nil {
		return err
	}
	q, w, err := f.question(c.Context)
	if err != nil {
		return err
	}
	h, r := q.Machine, &q.Request
	q.Machine = w.Tools(h)
	held, not := lockedFor(q.Matrix, h)
	if len(r.Requirements) == 0 && not != nil {
		return not
	}
	if len(r.Requirements) == 0 && held != nil {
		torch, err := team.TorchOf(held.Profile)
		if err != nil {
			return err
		}
		r.Requirements, r.Python = append(r.Requirements, torch), held.Profile.Python
	}
	if len(r.Requirements) != 1 {
		return fail.Wrong(fmt.Sprintf("why takes one requirement; here are %d", len(r.Requirements)),
			"`envfix why torch==2.15.0`")
	}
	asked := r.Requirements[0]
	r.Requirements = nil
	told, err := q.Why(w, asked)
	if err != nil {
		return err
	}
	locked := team.CaseOf(held, asked)
	found := told.Resolution
	stated := caseAnswer{1, asked.Text, found.Decision, found.Choice, found.Then, append([]resolver.Verdict{}, told.Verdicts...),
		append([]resolver.PackageRelease{}, told.Releases...), append([]resolver.Nearest{}, found.Nearest...), append([]string{}, found.Alternatives...), locked}
	more := ui.LockRow(locked, not)
	if q.Wish != nil && q.Wish.Machine != nil {
		more = append(more, [2]string{"this is", q.Wish.Machine.Instead()})
	}
	return answer(c.App.Writer, c.Bool("json"), stated, ui.Why(h, asked, told, c.Bool("verbose"), more), fail.CodeIf(len(told.Verdicts) == 0, fail.NoSolution))
}

// A caseAnswer is the JSON of `envfix why`.
type caseAnswer struct {
	Format       int                       `json:"format"`
	Requirement  string                    `json:"requirement"`
	Decision     resolver.Decision         `json:"decision"`
	Choice       *resolver.Choice          `json:"choice"`
	Then         *resolver.Choice          `json:"then"`
	Verdicts     []resolver.Verdict        `json:"verdicts"`
	Releases     []resolver.PackageRelease `json:"releases"` // of a package other than torch, the newest first
	Nearest      []resolver.Nearest        `json:"nearest"`
	Alternatives []string                  `json:"alternatives"`
	Locked       *team.LockedCase          `json:"locked"` // what envfix.lock says of it; null without one
}
