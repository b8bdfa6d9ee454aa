package apply

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"envfix/internal/machine"
)

// stale compares the facts that the plan was made from with the machine as it is.
func (r *run) stale(ctx context.Context) error {
	if r.Facts == nil || r.Fresh || r.plan.Basis.Request.Described {
		if !r.Fresh && r.Facts != nil {
			r.say("this plan was made for a described machine: its facts are not compared with this one")
		}
		return nil
	}
	now, err := r.Facts(ctx)
	if err != nil {
		return err
	}
	changes := Changes(r.plan.Basis.Facts, now)
	if len(changes) == 0 {
		return nil
	}
	return &Error{Kind: Stale, Text: "the machine is not as it was when the plan was made", Details: changes,
		Hints: []string{"`envfix plan` makes a new one"}}
}

// Changes names each fact that a plan rests on and that differs, old → new: those
// of the machine, and what is installed, which the plan builds on.
func Changes(was, is machine.Machine) []string {
	return append(machine.Changes(was, is), changedPackages(was.Installed, is.Installed)...)
}

func changedPackages(was, is []machine.Package) []string {
	a, b := map[string]string{}, map[string]string{}
	for _, p := range was {
		a[p.Name] = p.Version
	}
	for _, p := range is {
		b[p.Name] = p.Version
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, fmt.Sprintf("package %s %s → %s", name, cmp.Or(a[name], "none"), cmp.Or(b[name], "none")))
		}
	}
	return out
}
