package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
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
	p, filled, err := readPlan(files[0])
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
		err = apply.CheckUser(p, homeDir(), installerHere(madeHere(p.ID)))
	}
	return p, true, err
}

// readPlan reads a saved plan, which is run as it stands: so it must be the
// user's own and whole. One that was printed lacks the tokens of addresses, which are those
// of this call; filled says that it did.
func readPlan(path string) (p *plan.Plan, filled bool, err error) {
	bad := func(code int, err error) (*plan.Plan, bool, error) {
		return nil, filled, &fail.Error{Code: code, Err: err, Text: fmt.Sprintf("plan %s: %s", ui.Clean(path), fail.Reason(err)),
			Hints: []string{"`envfix plan --out FILE` writes a plan"}}
	}
	b, err := system.ReadOwn(path, plan.MaxBytes)
	if err != nil {
		return bad(fail.Usage, err)
	}
	whole, lacks := text.Restore(string(b), tokens()...)
	filled = whole != string(b)
	p, err = plan.Decode([]byte(whole))
	if errors.Is(err, plan.ErrChanged) && lacks != "" {
		return nil, filled, &fail.Error{Code: fail.Integrity, Err: err,
			Text:  fmt.Sprintf("plan %s: it was printed, without what may be a token in the address %s", ui.Clean(path), ui.Clean(lacks)),
			Hints: []string{"give the same `--mirror FROM=TO` again, beside the file", "`envfix plan --out FILE` keeps whole addresses, for you alone"}}
	}
	if errors.Is(err, plan.ErrChanged) {
		return bad(fail.Integrity, err)
	}
	if err != nil {
		return bad(fail.Usage, err)
	}
	return p, filled, nil
}

// unfinished returns the plan to resume, nil where there is none.
func unfinished(env string) (p *plan.Plan, err error) {
	err = opened(env, func(e *apply.Env) (err error) { p, err = e.Unfinished(); return err })
	if err == nil && p == nil {
		fmt.Fprintln(stderr(), "envfix: nothing was left unfinished")
	}
	return p, err
}

func abandon(env string) error {
	return opened(env, func(e *apply.Env) error {
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

// opened opens an environment for what is done with it, and gives an error its exit code.
func opened(env string, do func(*apply.Env) error) error {
	e, err := apply.Open(env)
	if err != nil {
		return err
	}
	defer e.Close()
	return do(e)
}
