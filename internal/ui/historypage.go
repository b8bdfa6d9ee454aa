package ui

import (
	_ "embed"
	"slices"
	"strings"

	"envfix/internal/apply"
)

//go:embed history.html
var historyHTML string

// A Past is what was done to an environment, for its page.
type Past struct {
	Env, Logs, Back string     // Back is an environment to go back to; "" none
	Day             string     // on which the page was made
	Rows            []PastRow  // the oldest first
	Envs            []PastEnvs // that are here, the oldest first
}

// A PastRow is one thing that was done.
type PastRow struct {
	When, Took        string
	What, State, Note string // apply, rollback, collect; done, failed, waiting, abandoned, cut off
	Gen               string // the environment that it made, went to or removed; "" in place
	Changes           []string
}

// Class is how a row's dot is drawn: filled where the environment in use is another one
// from then on.
func (r PastRow) Class() string {
	if r.What == "collect" {
		return "collect"
	}
	word, _, _ := strings.Cut(r.State, " ")
	return word
}

// PastEnvs is an environment that is here.
type PastEnvs struct {
	Gen, Holds, When, Proven string
	Current                  bool
}

// HistoryPage is one page of HTML with an environment's past. It loads nothing from
// anywhere and holds no script; text from outside is escaped and cleaned.
func HistoryPage(h apply.History, day string) ([]byte, error) {
	return pastPage(pastOf(h, day))
}

func pastPage(p Past) ([]byte, error) {
	p.Rows = slices.Clone(p.Rows)
	slices.Reverse(p.Rows)
	return reportPage(historyHTML, nil, p)
}
