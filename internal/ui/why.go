package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// Why is the case for people: one line per build, or with all every rule's. more
// are further rows of the answer.
func Why(h machine.Machine, asked pep508.Requirement, a *resolver.Case, all bool, more [][2]string) string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\n\n", Clean(asked.Text), whyMachine(h, a.Python))
	if len(a.Verdicts) == 0 {
		fmt.Fprintf(&b, "  no build for %s %s is known that it matches\n", h.Platform.OS, h.Platform.Arch)
	}
	verdicts := slices.Clone(a.Verdicts)
	if i := slices.IndexFunc(verdicts, func(v resolver.Verdict) bool { return v.Status == "chosen" }); i > 0 {
		chosen := verdicts[i]
		verdicts = slices.Insert(slices.Delete(verdicts, i, i+1), 0, chosen)
	}
	rows := releaseRows(asked.Name, a.Releases, all)
	if asked.Name != "torch" && a.Resolution.Decision == resolver.NoSolution && len(rows) == 0 {
		rows = text.Each(a.Resolution.Reasons, func(r resolver.Reason) [2]string { return [2]string{"refused", Clean(r.Text)} })
	}
	refused := func(r resolver.PackageRelease) bool { return r.Status == "refused" }
	if a.Resolution.Choice != nil && len(a.Releases) > 0 && len(xslices.Filter(a.Releases, refused)) == len(a.Releases) {
		rows = append(rows, [2]string{"all the same", "`envfix plan " + Clean(asked.Name) + "` says how it comes: it is built, or its project serves it"})
	}
	if len(rows) > 0 && !all {
		verdicts = nil // which torch is right for which release, they say themselves
	}
	for i, v := range verdicts {
		name := "torch " + v.Torch + "+" + v.Build
		if all {
			b.WriteString(Columns([][2]string{{name, v.Status + ": " + Clean(v.Text)}}, 2) + whyWords(v) + "\n")
			continue
		}
		if i == most {
			rows = append(rows, [2]string{fmt.Sprintf("and %d more", len(a.Verdicts)-most), "`-v` shows all"})
			break
		}
		rows = append(rows, [2]string{name, v.Status + ": " + Clean(v.Text)})
	}
	b.WriteString(Columns(rows, 2))
	b.WriteString("\n" + whyAnswer(a.Resolution, more))
	return b.String()
}

// releaseRows are the releases of a package and what each means here; those of
// which the same is said stand together.
func releaseRows(name string, list []resolver.PackageRelease, all bool) [][2]string {
	const most = 12
	var rows [][2]string
	newest := ""
	for _, r := range list {
		text := r.Status + ": " + Clean(r.Text)
		if n := len(rows); n > 0 && rows[n-1][1] == text && !all {
			rows[n-1][0] = Clean(name + " " + newest + " to " + r.Version)
			continue
		}
		if newest = r.Version; len(rows) == most && !all {
			return append(rows, [2]string{"and older ones", "`-v` shows them"})
		}
		rows = append(rows, [2]string{Clean(name + " " + r.Version), text})
	}
	return rows
}

// whyMachine names what the rules look at, in one line.
func whyMachine(h machine.Machine, python string) string {
	parts := text.Each(h.GPUs, func(g machine.GPU) string {
		name := strings.TrimPrefix(Clean(g.Name), "NVIDIA ")
		return name + say.If(!g.SM.IsZero() && !strings.Contains(name, g.SM.String()), " ("+g.SM.String()+")")
	})
	if parts == nil {
		parts = []string{"a machine without a GPU"}
	}
	return say.List(", ", append(parts, say.With("driver ", h.DriverVersion(), ""), "Python "+python)...)
}

// whyWords lists every rule's word on one build.
func whyWords(v resolver.Verdict) string {
	return Columns(text.Each(v.Words, func(w resolver.Word) [2]string {
		mark := say.Either(!w.OK, "refused  ", "passed   ")
		return [2]string{mark + w.Rule, Clean(w.Text) + say.If(w.Source != "" && !w.OK, " ["+Clean(w.Source)+"]")}
	}), 4)
}

// whyAnswer says what the machine gets instead, and what would change that.
func whyAnswer(r *resolver.Resolution, more [][2]string) string {
	rows := [][2]string{{"answer", Answer(r.Decision)}}
	add := func(left string, c *resolver.Choice) {
		if c != nil {
			name := say.Either(c.Torch == "", strings.Join(slices.Sorted(maps.Keys(c.Packages)), ", "), "torch "+c.Torch)
			rows = append(rows, [2]string{left, Clean(name + ", build " + c.Build)})
		}
	}
	add("choice", r.Choice)
	add("now", r.Fallback)
	add("then", r.Then)
	text := Columns(append(rows, more...), 0)
	if others := OtherAnswers(r.Nearest, r.Alternatives, Style{}); others != "" {
		text += "\n" + others
	}
	return text
}

// LockRow is the answer's row of the lock; not says why the machine installs no
// profile.
func LockRow(c *team.LockedCase, not error) [][2]string {
	switch {
	case not != nil:
		return [][2]string{{"lock", Clean(not.Error())}}
	case c == nil:
		return nil
	}
	s := fmt.Sprintf("profile %s pins torch %s, build %s, Python %s: `envfix plan` installs that here", c.Profile, c.Torch, c.Build, c.Python)
	switch {
	case c.Package == "torch" && c.Admits:
	case c.Package == "torch":
		s += ", not what was asked about"
	case c.Version == "":
		s += "; it names no " + c.Package
	case c.Admits:
		s += ", and " + c.Package + " " + c.Version
	default:
		s += ", and " + c.Package + " " + c.Version + ", not what was asked about"
	}
	return [][2]string{{"lock", Clean(s + "; `envfix plan --no-lock` chooses anew")}}
}
