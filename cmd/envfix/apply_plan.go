package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/ui"
)

// plan returns the plan and whether it was made earlier. The plan is nil
// where there is nothing to resume.
func (f applyFlags) plan(ctx context.Context) (*plan.Plan, bool, error) {
	args := f.made.wish.Arguments
	files := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasSuffix(a, ".json") })
	switch {
	case f.resume:
		if len(args) > 0 {
			return nil, false, fail.Wrong("`--resume` goes on with the plan that was begun; it takes no arguments")
		}
		p, err := unfinished(f.env)
		return p, true, err
	case len(files) == 0:
		p, err := f.made.make(ctx)
		if err == nil {
			err = sameSystem(p, "")
		}
		return p, false, err
	case len(args) > 1:
		return nil, false, fail.Wrong("a plan file says all there is to do; it takes no further arguments",
			fmt.Sprintf("`envfix apply %s`", ui.Clean(files[0])))
	}
	p, filled, err := apply.ReadPlan(files[0], tokens())
	if f.wished == "mirror" && filled {
		f.wished = ""
	}
	if f.wished != "" {
		return nil, false, fail.Wrong(fmt.Sprintf("`--%s` is a wish, and the plan file is made already", f.wished),
			fmt.Sprintf("`envfix plan --%s … --out FILE` makes a plan with it", f.wished))
	}
	if err == nil {
		err = sameSystem(p, files[0])
	}
	if err == nil {
		err = apply.CheckUser(p, system.HomeDir(), apply.InstallerHere(apply.MadeHere(p.ID)))
	}
	return p, true, err
}

// unfinished returns the plan to resume, nil where there is none.
func unfinished(env string) (p *plan.Plan, err error) {
	err = apply.Opened(env, func(e *apply.Env) (err error) { p, err = e.Unfinished(); return err })
	if err == nil && p == nil {
		fmt.Fprintln(stderr(), "envfix: nothing was left unfinished")
	}
	return p, err
}

func abandon(env string) error {
	return apply.Opened(env, func(e *apply.Env) error {
		did, err := e.Abandon()
		switch {
		case did && err == nil:
			fmt.Fprintln(stderr(), "envfix: the unfinished plan is given up; what it had changed in the system stays")
		case err == nil:
			fmt.Fprintln(stderr(), "envfix: there was nothing to give up")
		}
		return err
	})
}

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
