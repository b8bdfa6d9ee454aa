// Package modules says which distributions bring a Python module, by what their wheels hold.
package modules

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"envfix/data"
)

// Python stands in the table for what every Python brings.
const Python = "python"

// table is which distributions bring a module, the likeliest first. Of several the one with
// the shortest name is: others add to it what they are for, as opencv-python-headless does.
var table = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(data.Modules) {
		distribution, modules, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, _, _ := strings.Cut(distribution, "==") // "setuptools<=81.0.0": no later one brings it
		for _, m := range strings.Fields(modules) {
			out[m] = append(out[m], name)
		}
	}
	for _, names := range out {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	}
	return out
})

// Known reports whether somebody read a wheel of the distribution of that name.
func Known(name string) bool { return known()[strings.ReplaceAll(strings.ToLower(name), "_", "-")] }

var known = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, names := range table() {
		for _, name := range names {
			name, _, _ = strings.Cut(name, "<=")
			out[name] = name != Python
		}
	}
	return out
})

// Brought are the distributions whose wheels hold a module, and as far as its name tells
// them apart; none: nobody read such a wheel, and the module is named by its top.
func Brought(dotted string) (module string, distributions []string) {
	for module = dotted; ; {
		if names := table()[module]; len(names) > 0 {
			return module, names
		}
		at := strings.LastIndexByte(module, '.')
		if at < 0 {
			return module, nil
		}
		module = module[:at]
	}
}
