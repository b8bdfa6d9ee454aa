package apply

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/machine"
)

// stale compares the facts that the plan was made from with the machine as it is.
func (r *run) stale(ctx context.Context) error {
	if r.Facts == nil || r.Fresh {
		return nil
	}
	if r.plan.Basis.Request.Described {
		r.say("this plan was made for a described machine: its facts are not compared with this one")
		return nil
	}
	now, err := r.Facts(ctx)
	if err != nil {
		return err
	}
	was := r.plan.Basis.Facts
	changes := machine.Changes(was, now)
	carries := r.plan.Keep != nil && r.plan.Keep.Why == ""
	if r.plan.Target.InPlace || carries { // else a new environment is built, whatever the old one holds
		changes = append(changes, changedPackages(was.Installed, now.Installed)...)
	}
	if len(changes) == 0 {
		return nil
	}
	return &fail.Error{Code: fail.Stale, Text: "the machine is not as it was when the plan was made", Details: changes,
		Hints: []string{"`envfix plan` makes a new one"}}
}

func changedPackages(was, is []machine.Package) (out []string) {
	a, b := map[string]string{}, map[string]string{}
	for _, p := range was {
		a[p.Name] = p.Version
	}
	for _, p := range is {
		b[p.Name] = p.Version
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, fmt.Sprintf("package %s %s → %s", name, cmp.Or(a[name], "none"), cmp.Or(b[name], "none")))
		}
	}
	return out
}
