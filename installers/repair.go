package installers

import (
	"slices"
	"strings"

	"envfix/internal/plan"
)

// withRepair adds to the fixes that follow from the facts those that doctor asks
// for; where both name an entry, doctor has seen its files.
func withRepair(fixes []plan.EnvFix, m *plan.Repair) []plan.EnvFix {
	if m == nil {
		return fixes
	}
	var out []plan.EnvFix
	for _, f := range fixes {
		if !slices.ContainsFunc(m.Fixes, func(o plan.EnvFix) bool { return o.Variable == f.Variable && o.Value == f.Value }) {
			out = append(out, f)
		}
	}
	for _, f := range m.Fixes { // several libraries lie in one directory
		if !slices.ContainsFunc(out, func(o plan.EnvFix) bool {
			return o.Variable == f.Variable && o.Action == f.Action && o.Value == f.Value
		}) {
			out = append(out, f)
		}
	}
	return out
}

// fetchAgain has uv forget what it keeps of packages whose files were written to
// in place. uv installs by hard links where it can, so what it keeps are the same
// files (docs.astral.sh/uv, link-mode).
func (b *builder) fetchAgain(exe string) {
	if b.t.Repair == nil || len(b.t.Repair.Fetch) == 0 || b.t.Manager == "pip" {
		return
	}
	names := slices.Compact(slices.Sorted(slices.Values(b.t.Repair.Fetch)))
	if b.src.offline {
		b.warn("uv's cache may hold the same broken files of %s, and without a network they cannot be fetched again", strings.Join(names, ", "))
		return
	}
	b.add(
		plan.Step{
			ID:    "fetch-again",
			Title: "have uv forget its copy of " + strings.Join(names, ", "),
			Why:   "its files are those of the environment, by hard links, and broken as they are",
			Run:   &plan.Run{Argv: append(b.uv(exe, "cache", "clean"), names...), Env: b.src.environment("uv")},
		},
	)
}
