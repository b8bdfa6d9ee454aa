package apply

import (
	"context"
	"slices"
	"strings"

	"envfix/internal/reach"
)

// reachable refuses a plan whose indexes cannot be reached, before anything is
// begun: an installer would try each for minutes. The installer's default index has
// no address in a plan, and is left to it.
func (r *run) reachable(ctx context.Context) error {
	if r.plan.Target.Offline {
		return nil
	}
	var asked []string
	for _, s := range r.plan.Steps {
		if s.Run == nil || s.Root {
			continue
		}
		for _, index := range indexesOf(s.Run.Argv) {
			if slices.Contains(asked, index) {
				continue
			}
			asked = append(asked, index)
			if e := reach.Index(ctx, index); e != nil {
				return &Error{Kind: Failed, Text: e.Text, Hints: []string{e.Hint}, Index: index, Err: e}
			}
		}
	}
	return nil
}

// indexesOf are the addresses that a command fetches from.
func indexesOf(argv []string) []string {
	var out []string
	for i, a := range argv[:max(len(argv)-1, 0)] {
		names := a == "--default-index" || a == "--index-url" || a == "--channel" || a == "-c"
		if to := argv[i+1]; names && (strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")) {
			out = append(out, to)
		}
	}
	return out
}
