package pyproject

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// OwnLocks are the files in which a project's own tool keeps what it resolved: uv, Poetry
// and PDM write the same tables.
var OwnLocks = []string{"uv.lock", "poetry.lock", "pdm.lock"}

// MaxOwnLock bounds such a file; those of large projects have 3 MB.
const MaxOwnLock = 16 << 20

// An OwnLock is what a project's own tool resolved.
type OwnLock struct {
	Name  string
	Pins  []pep508.Requirement // packages of an index that it has in one version; torch with the label of its GPU build
	torch []lockedPackage
	names map[string]bool // of all that it holds, also in several versions or from elsewhere

	overrides []override // uv's, in place of what any package requires
}

type override struct{ Name, Marker string }

type lockedPackage struct {
	Name, Version  string
	Source         map[string]any
	Git, URL, Path string // PDM's
}

// index is the address of the index that a package comes from, as far as it is said.
func (k lockedPackage) index() (url string, ok bool) {
	legacy := str(k.Source["type"]) == "legacy"
	url = str(k.Source[say.Either(legacy, "url", "registry")])
	elsewhere := k.Git+k.URL+k.Path != "" || len(k.Source) > 0 && url == "" && !legacy
	return url, !elsewhere && k.Version != ""
}

// ReadOwnLock reads such a file.
func ReadOwnLock(content []byte, name string) (*OwnLock, error) {
	var d struct {
		Package  []lockedPackage
		Manifest struct{ Overrides []override }
	}
	if len(content) > MaxOwnLock {
		return nil, fmt.Errorf("%s: larger than %d MiB: this is not a project's lock", name, MaxOwnLock>>20)
	}
	if err := unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	l := &OwnLock{Name: name, names: map[string]bool{}, overrides: d.Manifest.Overrides}
	versions, labels := map[string][]string{}, []string(nil)
	for _, k := range d.Package {
		l.names[machine.NormalName(k.Name)] = true
		if _, ok := k.index(); !ok {
			continue
		}
		public, label := version.SplitLocal(k.Version)
		if k.Name == "torch" {
			l.torch = append(l.torch, k)
			if label != "" && label != "cpu" && !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
		versions[k.Name] = xslices.Add(versions[k.Name], public)
	}
	for _, n := range sortedKeys(versions) {
		if len(versions[n]) > 1 {
			continue // which one, markers say
		}
		pin := n + "==" + versions[n][0]
		if n == "torch" && len(labels) == 1 {
			pin += "+" + labels[0]
		}
		if q, err := pep508.Parse(pin, name); err == nil {
			l.Pins = append(l.Pins, q)
		}
	}
	return l, nil
}

// Older is what a project asks for and its lock does not hold, or in a version that the project
// no longer admits: the project was changed since it was locked. "" there is nothing such.
func (l *OwnLock) Older(asked []pep508.Requirement) string {
	for _, q := range asked {
		pin, one := xslices.Find(l.Pins, func(pin pep508.Requirement) bool { return pin.Name == q.Name })
		v, err := version.ParsePython(strings.TrimPrefix(pin.Spec.String(), "=="))
		if len(l.names) > 0 && (!l.names[q.Name] || one && err == nil && !q.Spec.Admits(v)) {
			return q.Text
		}
	}
	return ""
}

// Has reports whether it has a package installed in an environment. An override whose marker
// never holds leaves a package out, and is locked all the same (uv 0.13).
func (l *OwnLock) Has(name string, env pep508.Environment) bool {
	over := xslices.Filter(l.overrides, func(o override) bool { return o.Name == name })
	return l.names[name] && (len(over) == 0 || slices.ContainsFunc(over, func(o override) bool { return env.Admits(o.Marker) }))
}

// Undoes says which torch the project's own tool would put in place of a choice; "" none.
func (l *OwnLock) Undoes(c *resolver.Choice) string {
	if c == nil || c.Packages["torch"] == "" || len(l.torch) == 0 {
		return ""
	}
	chosen := c.Packages["torch"]
	if c.Index == nil {
		chosen, _ = version.SplitLocal(chosen)
	}
	var has []string
	for _, k := range l.torch {
		if k.Version == chosen {
			return ""
		}
		has = xslices.Add(has, k.Version)
	}
	return strings.Join(has, " or ")
}
