package apply

import (
	"context"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/reach"
)

// reachable refuses a plan whose indexes cannot be reached, before anything is
// begun: an installer would try each for minutes. Of the installer's default index,
// which has no address in a plan, the proxy before it is asked.
func (r *run) reachable(ctx context.Context) error {
	if r.plan.Target.Offline {
		return nil
	}
	var asked []string
	for _, s := range r.plan.Steps {
		if s.Run == nil || s.Root {
			continue
		}
		named := indexesOf(s.Run.Argv)
		if len(named) == 0 && s.Bytes > 0 && !slices.Contains(s.Run.Argv, "--no-index") {
			named = []string{defaultIndex}
		}
		for _, index := range named {
			if slices.Contains(asked, index) {
				continue
			}
			asked = append(asked, index)
			ask := reach.Index
			if index == defaultIndex {
				ask = func(ctx context.Context, _ string) *reach.Error { return reach.DefaultIndex(ctx) }
			}
			if e := ask(ctx, index); e != nil {
				return &fail.Error{Code: fail.Failed, Text: e.Text, Hints: []string{e.Hint}, Err: e}
			}
		}
	}
	return nil
}

// defaultIndex is the installer's own, which no argument names.
const defaultIndex = "default"

// indexesOf are the addresses that a command fetches from.
func indexesOf(argv []string) (out []string) {
	for i, a := range argv[:max(len(argv)-1, 0)] {
		names := a == "--default-index" || a == "--index-url" || a == "--channel" || a == "-c"
		if to := argv[i+1]; names && (strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")) {
			out = append(out, to)
		}
	}
	return out
}
