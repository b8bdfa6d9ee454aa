package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
)

// The ids of the plans that were made here, and the wishes, one a line, in the user's own
// state: an id is a hash of all that a plan says, so that a file with such an id is a plan
// that envfix made.
const (
	madeName  = "made"
	wishMark  = "wish:" // begins the line of a wish
	mostMade  = 500
	madeBytes = 1 << 20
)

// NoteMade writes down that a plan was made here. Where nothing can be written, the
// plan will count as made elsewhere, and apply asks.
func NoteMade(id string) {
	made := madePlans()
	if slices.Contains(made, id) {
		return
	}
	if len(made) > mostMade { // the oldest plan goes first: a wish is an environment's, which lasts
		oldest := max(0, slices.IndexFunc(made, func(id string) bool { return !strings.HasPrefix(id, wishMark) }))
		made = slices.Delete(made, oldest, oldest+1)
	}
	made = append(made, id)
	if os.MkdirAll(system.StateDir(), 0o700) == nil {
		_ = system.WriteFile(filepath.Join(system.StateDir(), madeName), []byte(strings.Join(made, "\n")+"\n"), 0o600) // see above
	}
}

// MadeHere reports whether the plan of that id was made on this machine, by this user.
func MadeHere(id string) bool { return slices.Contains(madePlans(), id) }

func madePlans() []string {
	b, _ := system.ReadOwn(filepath.Join(system.StateDir(), madeName), madeBytes)
	return strings.Fields(string(b))
}

// InstallerHere returns what reports whether a program of a plan is one of this
// machine's. A plan that was made here named what was found here; any other may
// name a program of the directories that PATH names, and no other user could have
// put it there.
func InstallerHere(made bool) func(program string) bool {
	return func(program string) bool {
		if !filepath.IsAbs(program) {
			_, err := system.Resolve([]string{program}, false)
			return err == nil
		}
		dir := filepath.Dir(program)
		return made || slices.Contains(filepath.SplitList(os.Getenv("PATH")), dir) && system.Trusted(dir) == nil
	}
}

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
