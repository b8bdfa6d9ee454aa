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
		distribution, modules, _ := strings.Cut(strings.TrimSpace(line), "\t") // "" one of its own name
		name, _, _ := strings.Cut(distribution, "==")                          // "setuptools<=81.0.0": no later one brings it
		for _, m := range strings.Fields(cmp.Or(modules, strings.ReplaceAll(name, "-", "_"))) {
			if !strings.HasPrefix(line, "#") {
				out[m] = append(out[m], name)
			}
		}
	}
	for _, names := range out {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	}
	return out
})

// Known reports whether somebody read a wheel of the distribution of that name.
func Known(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, names := range table() {
		if name != Python && (slices.Contains(names, name) || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name+"<=") })) {
			return true
		}
	}
	return false
}

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
