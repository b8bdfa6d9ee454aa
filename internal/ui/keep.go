package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/plan"
)

// carry says what becomes of the packages of the environment that is replaced.
func (v *view) carry(c *plan.Keep) {
	if c == nil {
		return
	}
	from := Clean(c.From)
	if c.Why != "" {
		v.section("packages of " + from)
		v.item("", c.Why)
		return
	}
	if len(c.Changes)+len(c.Stays)+len(c.Leaves) == 0 {
		return
	}
	v.section("packages of " + from + ", which is replaced")
	var rows [][2]string
	add := func(left, right string) { rows = append(rows, [2]string{Clean(left), Clean(right)}) }
	changes(c.Changes, add)
	stays(c.Stays, add)
	for _, l := range c.Leaves {
		add("cannot stay", strings.TrimSpace(l.Name+" "+l.Version)+": "+l.Why)
	}
	for _, k := range c.Known {
		add("as before", k.Text)
	}
	v.b.WriteString(v.Columns(once(rows), 2))
	if slices.ContainsFunc(c.Leaves, func(l plan.Dropped) bool { return l.Version != "" }) {
		v.item("", "name one to have the installer look for a version that fits: `envfix plan torch torchvision NAME`")
	}
}

// once leaves a label that stands above out.
func once(rows [][2]string) [][2]string {
	last := ""
	for i := range rows {
		if rows[i][0] == last {
			rows[i][0] = ""
		} else {
			last = rows[i][0]
		}
	}
	return rows
}

func changes(all []plan.Change, add func(left, right string)) {
	come := map[string][]plan.Change{} // by the reason
	var reasons []string
	for _, k := range all {
		switch {
		case k.To != "":
			add("changes", fmt.Sprintf("%s %s → %s", k.Name, k.From, k.To))
		case come[k.Why] == nil:
			reasons = append(reasons, k.Why)
			fallthrough
		default:
			come[k.Why] = append(come[k.Why], k)
		}
	}
	for _, why := range reasons {
		for _, k := range come[why] {
			add("changes", fmt.Sprintf("%s %s: %s", k.Name, k.From, cmp.Or(why, "the installer chooses its version")))
		}
	}
}

func stays(all []plan.KeptPackage, add func(left, right string)) {
	var here, other, loose, named []string
	for _, k := range all {
		text := k.Name + " " + k.Version
		switch {
		case k.From != "":
			if path, editable := strings.CutPrefix(k.From, "-e "); editable {
				text += ", editable"
				k.From = path
			}
			add("stays", text+", from "+k.From)
		case k.Loose:
			loose = append(loose, text)
		default:
			here = append(here, text)
		}
		if !k.Copied && k.From == "" {
			named = append(named, k.Name)
		}
		if k.Python {
			other = append(other, k.Name)
		}
	}
	if len(here) > 0 {
		add("stays", strings.Join(here, ", "))
	}
	if len(loose) > 0 {
		add("stays", strings.Join(loose, ", ")+": unless what is installed after them needs another version")
	}
	if len(named) > 0 {
		add("by name", "from the index in use, for their files cannot be copied: "+strings.Join(named, ", "))
	}
	if len(other) > 0 {
		add("not proven", "whether there is a file for the new Python, only the index knows: "+strings.Join(other, ", "))
	}
}
