package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/ui"
)

// The ids of the plans that were made here, one a line, in the user's own state: an
// id is a hash of all that a plan says, so that a file with such an id is a plan
// that envfix made.
const (
	madeName  = "made"
	mostMade  = 500
	madeBytes = 1 << 20
)

// noteMade writes down that a plan was made here. Where nothing can be written, the
// plan will count as made elsewhere, and apply asks.
func noteMade(id string) {
	made := madePlans()
	if slices.Contains(made, id) {
		return
	}
	made = append(made[max(0, len(made)-mostMade):], id)
	if os.MkdirAll(stateDir(), 0o700) == nil {
		_ = system.WriteFile(filepath.Join(stateDir(), madeName), []byte(strings.Join(made, "\n")+"\n"), 0o600) // see above
	}
}

func madeHere(id string) bool { return slices.Contains(madePlans(), id) }

func madePlans() []string {
	b, _ := system.ReadOwn(filepath.Join(stateDir(), madeName), madeBytes)
	return strings.Fields(string(b))
}

// warnForeign says that a plan is somebody else's text, shows what it writes, and
// wants more than --yes.
func (f applyFlags) warnForeign(p *plan.Plan) error {
	fmt.Fprint(stderr(), "envfix: warning: this plan was not made here; what it installs runs as you\n")
	if err := writeContents(stderr(), p); err != nil {
		return err
	}
	if f.yes && !f.elsewhere {
		return fail.Wrong("this plan was not made here, and `--yes` alone does not agree to it",
			"`envfix plan` makes a plan here", "`--made-elsewhere` with `--yes` agrees to this one, if you have read it")
	}
	return nil
}

// writeContents shows every line that a plan puts into a file.
func writeContents(w io.Writer, p *plan.Plan) error {
	for i, s := range p.Steps {
		path, lines := "", []string(nil)
		switch {
		case s.Write != nil:
			path, lines = s.Write.Path, strings.Split(strings.TrimSuffix(s.Write.Content, "\n"), "\n")
		case s.Block != nil:
			path, lines = s.Block.Path, s.Block.Lines
		default:
			continue
		}
		if _, err := fmt.Fprintf(w, "step %d writes into %s:\n", i+1, ui.Clean(path)); err != nil {
			return err
		}
		for _, l := range lines {
			if _, err := fmt.Fprintf(w, "    %s\n", ui.Clean(l)); err != nil {
				return err
			}
		}
	}
	return nil
}

// installerHere returns what reports whether a program of a plan is one of this
// machine's. A plan that was made here named what was found here; any other may
// name a program of the directories that PATH names, and no other user could have
// put it there.
func installerHere(made bool) func(program string) bool {
	return func(program string) bool {
		if !filepath.IsAbs(program) {
			_, err := system.Resolve([]string{program}, false)
			return err == nil
		}
		dir := filepath.Dir(program)
		return made || slices.Contains(filepath.SplitList(os.Getenv("PATH")), dir) && system.Trusted(dir) == nil
	}
}

func homeDir() string {
	home, _ := os.UserHomeDir()
	return home
}
