package installers

import (
	"slices"

	"envfix/internal/plan"
	"envfix/internal/xslices"
)

// withRepair adds to the fixes that follow from the facts those that doctor asks
// for; where both name an entry, doctor has seen its files.
func withRepair(fixes []plan.EnvFix, m *plan.Repair) []plan.EnvFix {
	if m == nil {
		return fixes
	}
	out := xslices.Filter(fixes, func(f plan.EnvFix) bool {
		return !slices.ContainsFunc(m.Fixes, func(o plan.EnvFix) bool { return o.Variable == f.Variable && o.Value == f.Value })
	})
	for _, f := range m.Fixes { // several libraries lie in one directory
		if !slices.ContainsFunc(out, func(o plan.EnvFix) bool {
			return o.Variable == f.Variable && o.Action == f.Action && o.Value == f.Value
		}) {
			out = append(out, f)
		}
	}
	return out
}
