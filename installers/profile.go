package installers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/xslices"
)

// ProfileBlock names the block that envfix owns in a shell profile.
const ProfileBlock = "profile"

// A Profile is a shell profile of the user's own that gives variables entries, as
// it is now.
type Profile struct {
	Path   string   // absolute
	Shown  string   // for people: ~/.bashrc
	SHA256 string   // of its bytes, in hex
	Block  []string // the lines of envfix's block in it; nil: it has none

	Fixes []plan.EnvFix // what it gives, and must not
}

// ProfileStep returns the step that takes entries out of variables at the end of a
// profile, so that every new shell does without them; what an earlier one took out
// stays out. The file as it was is kept under a name with its hash. ok is false
// where nothing is left to do.
func ProfileStep(p Profile) (s plan.Step, ok bool) {
	lines := slices.Clone(p.Block)
	var entries, names, from []string
	for _, f := range p.Fixes {
		line := profileLine(f)
		if line == "" || slices.Contains(lines, line) {
			continue
		}
		lines = append(lines, line)
		entries = append(entries, cmp.Or(f.Value, `""`))
		names = xslices.Add(names, f.Variable)
		if f.From != "" && !slices.Contains(from, f.From) {
			from = append(from, f.From)
		}
	}
	if len(entries) == 0 {
		return s, false
	}
	backup := fmt.Sprintf("%s.envfix-%.12s", p.Path, p.SHA256)
	shown := fmt.Sprintf("%s.envfix-%.12s", p.Shown, p.SHA256)
	why := fmt.Sprintf("to undo it: `cp -p %s %s`", shown, p.Shown)
	if len(from) > 0 {
		why = "it comes from " + strings.Join(from, ", ") + "; " + why
	}
	return plan.Step{
		ID:    "profile",
		Title: fmt.Sprintf("keep %s out of %s in every new shell: %s", strings.Join(entries, ", "), strings.Join(names, ", "), p.Shown),
		Why:   why,
		Block: &plan.Block{Path: p.Path, Name: ProfileBlock, Lines: lines, Backup: backup, Before: p.SHA256},
	}, true
}
