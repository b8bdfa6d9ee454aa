package apply

import (
	"errors"
	"fmt"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
)

// ReadPlan reads a saved plan, which is run as it stands: so it must be the
// user's own and whole. One that was printed lacks the tokens of addresses, which are those
// given; filled says that it did.
func ReadPlan(path string, tokens []string) (p *plan.Plan, filled bool, err error) {
	bad := func(code int, err error) (*plan.Plan, bool, error) {
		return nil, filled, &fail.Error{Code: code, Err: err, Text: fmt.Sprintf("plan %s: %s", text.Escape(path), fail.Reason(err)),
			Hints: []string{"`envfix plan --out FILE` writes a plan"}}
	}
	b, err := system.ReadOwn(path, plan.MaxBytes)
	if err != nil {
		return bad(fail.Usage, err)
	}
	whole, lacks := text.Restore(string(b), tokens...)
	filled = whole != string(b)
	p, err = plan.Decode([]byte(whole))
	if errors.Is(err, plan.ErrChanged) && lacks != "" {
		return nil, filled, &fail.Error{Code: fail.Integrity, Err: err,
			Text:  fmt.Sprintf("plan %s: it was printed, without what may be a token in the address %s", text.Escape(path), text.Escape(lacks)),
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

// Opened opens an environment for what is done with it, and gives an error its exit code.
func Opened(env string, do func(*Env) error) error {
	e, err := Open(env)
	if err != nil {
		return err
	}
	defer e.Close()
	return do(e)
}
