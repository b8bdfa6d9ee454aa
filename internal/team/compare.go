package team

import (
	"cmp"
	"maps"
	"slices"

	"envfix/internal/lock"
	"envfix/internal/xslices"
)

// A Row is one package in the profiles of a lock: which have which version.
type Row struct {
	Package  string              `json:"package"`
	Versions map[string][]string `json:"versions"` // version → profiles; "" those without it
}

// Compare returns the packages in which the profiles differ, and the names and
// versions of those that all have alike.
func (t *Team) Compare(l *lock.Lock) (differ []Row, same []string, err error) {
	rows := map[string]map[string][]string{}
	for i := range l.Profiles {
		p := &l.Profiles[i]
		k, err := t.Packages(p)
		if err != nil {
			return nil, nil, err
		}
		for _, q := range k.Packages {
			if rows[q.Name] == nil {
				rows[q.Name] = map[string][]string{}
			}
			v := cmp.Or(q.Version, "of this project")
			rows[q.Name][v] = append(rows[q.Name][v], p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		have := slices.Concat(slices.Collect(maps.Values(rows[name]))...)
		rows[name][""] = append(rows[name][""], xslices.Filter(l.Names(), func(p string) bool { return !slices.Contains(have, p) })...)
		if len(rows[name]) > 1 {
			differ = append(differ, Row{name, rows[name]})
			continue
		}
		for v := range rows[name] {
			same = append(same, name+" "+v)
		}
	}
	return differ, same, nil
}
