package main

import (
	"fmt"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/ui"
)

// lockText says what was written, what of it is new, and what was changed or removed
// beside it.
func lockText(r *team.Result) string {
	var b strings.Builder
	for _, e := range r.Edits {
		fmt.Fprintf(&b, "%s\n", ui.Clean(e))
	}
	l := r.Lock
	fmt.Fprintf(&b, "wrote %s and %s (matrix %s)\n", lock.File, ui.Count(len(l.Profiles), "pylock file"), l.Matrix.Version)
	for _, p := range l.Profiles {
		b.WriteString(ui.Hang(fmt.Sprintf("  %-12s ", p.Name),
			fmt.Sprintf("torch %s, Python %s, %s, for %s", p.Torch, p.Python, ui.Size(p.Size.Download), p.Match.Text())))
	}
	for _, name := range r.Removed {
		fmt.Fprintf(&b, "removed %s\n", ui.Clean(name))
	}
	section := func(title string, lines []string) {
		b.WriteString(say.If(len(lines) > 0, title+"\n"))
		for _, line := range say.Few(lines, 20, "… and %d more: `envfix lock diff HEAD`") {
			b.WriteString(ui.Hang("  ", ui.Clean(line)))
		}
	}
	section("changed:", r.Changes)
	section("note:", r.Notes)
	return b.String()
}

// lockJSON is what `envfix lock --json` prints.
func lockJSON(r *team.Result) any {
	list := func(s []string) []string { return append([]string{}, s...) }
	return lockAnswer{1, list(r.Edits), list(r.Changes), list(r.Removed), list(r.Notes), r.Lock}
}

// A lockAnswer is the JSON of `envfix lock`.
type lockAnswer struct {
	Format  int        `json:"format"`
	Edits   []string   `json:"edits"`
	Changes []string   `json:"changes"`
	Removed []string   `json:"removed"`
	Notes   []string   `json:"notes"`
	Lock    *lock.Lock `json:"lock"`
}
