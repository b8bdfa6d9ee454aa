package apply

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/system"
)

// The ids of the plans that were made here, one a line, in the user's own state: an
// id is a hash of all that a plan says, so that a file with such an id is a plan
// that envfix made.
const (
	madeName  = "made"
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
	made = append(made[max(0, len(made)-mostMade):], id)
	if os.MkdirAll(system.StateDir(), 0o700) == nil {
		_ = system.WriteFile(filepath.Join(system.StateDir(), madeName), []byte(strings.Join(made, "\n")+"\n"), 0o600) // see above
	}
}

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
