package main

import (
	"fmt"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/ui"
)

// warnForeign says that a plan is somebody else's text, shows what it writes, and
// wants more than --yes.
func (f applyFlags) warnForeign(p *plan.Plan) error {
	fmt.Fprint(stderr(), "envfix: warning: this plan was not made here; what it installs runs as you\n")
	if err := ui.WriteContents(stderr(), p); err != nil {
		return err
	}
	if f.yes && !f.elsewhere {
		return fail.Wrong("this plan was not made here, and `--yes` alone does not agree to it",
			"`envfix plan` makes a plan here", "`--made-elsewhere` with `--yes` agrees to this one, if you have read it")
	}
	return nil
}
