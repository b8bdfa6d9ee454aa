package main

import (
	"envfix/internal/lock"
	"envfix/internal/team"
)

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
