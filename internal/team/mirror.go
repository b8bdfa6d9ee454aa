package team

import (
	"cmp"
	"os"

	"envfix/internal/lock"
	"envfix/internal/plan"
)

// DefaultIndex is in place of the installer's default index: by the mirrors, else by the
// environment; "" that one.
func DefaultIndex(m plan.Mirrors) string {
	return cmp.Or(m.Default, os.Getenv("UV_DEFAULT_INDEX"), os.Getenv("UV_INDEX_URL"), os.Getenv("PIP_INDEX_URL"))
}

// canonical undoes the mirrors: a lock names where files are from, not who passed them on
// here.
func canonical(m plan.Mirrors, packages []lock.Package) {
	for _, k := range packages {
		for i, w := range k.Files() {
			for _, pair := range m.Pairs {
				if from, ok := plan.Moved(w.URL, pair[1], pair[0]); ok {
					w.URL = from
					k.Complete(i, w)
				}
			}
		}
	}
}
