package apply

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/modules"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// importsProgram is what an environment's Python runs to import modules.
//
//go:embed imports.py
var importsProgram string

// importsWork is how much a project's imports compute: what computes on computes without end.
const importsWork = 10 * time.Minute

// Imports is what came of trying what a project's sources import.
type Imports struct {
	Here    []string        `json:"here"`
	Missing []plan.Imported `json:"missing"`           // nothing that is installed brings it
	Failed  []FailedImport  `json:"failed"`            // it is there, and raises
	Untried []string        `json:"untried,omitempty"` // the first of them came to no end
}

// A FailedImport is a module that is there and cannot be imported, or does not have a part.
type FailedImport struct {
	plan.Imported
	Part string `json:"part,omitempty"` // its whole name; "" the module
	Why  string `json:"why"`
}

// tryImports imports with python what a project's sources import, until run, which runs a
// command and returns what it printed, says that it is to end. That some of it is missing
// is told, and no failure.
func tryImports(python string, all []plan.Imported, run func(argv []string) (printed string, on bool)) *Imports {
	out := &Imports{Here: []string{}, Missing: []plan.Imported{}, Failed: []FailedImport{}}
	left := all
	for on := true; on && len(left) > 0; {
		var printed string
		before := len(left)
		printed, on = run(append([]string{python, "-I", "-c", importsProgram}, text.Each(left, func(m plan.Imported) string {
			return strings.Join(append([]string{m.Module}, m.Parts...), " ")
		})...))
		for line := range strings.Lines(printed) {
			said, ok := strings.CutPrefix(strings.TrimSpace(line), proofMark)
			var one [3]string
			if !ok || json.Unmarshal([]byte(said), &one) != nil || len(left) == 0 || one[0] != left[0].Module {
				continue
			}
			out.take(left[0], one[1], text.Printable(one[2]))
			if one[2] == "" {
				left = left[1:]
			}
		}
		if on && len(left) == before {
			out.Failed = append(out.Failed, FailedImport{left[0], "", "it ends the Python that imports it"})
			left = left[1:]
		}
	}
	out.Untried = text.Each(left, func(m plan.Imported) string { return m.Module })
	return out
}

// take notes what is said of a module, or of a part of it; of several parts that fail alike the first.
func (i *Imports) take(m plan.Imported, why, part string) {
	m.Parts = nil // they were tried
	alike := func(o FailedImport) bool { return o.Module == m.Module && o.Why == text.Printable(why) && o.Part != "" }
	switch {
	case why == "":
		i.Here = append(i.Here, m.Module)
	case why == "absent":
		i.Missing = append(i.Missing, m)
	case !slices.ContainsFunc(i.Failed, alike):
		i.Failed = append(i.Failed, FailedImport{m, part, text.Printable(why)})
	}
}

// noModule is how Python names what an import does not find.
var noModule = lazy.Regexp(`No module named '([\w.]+)'`)

// words say why a module cannot be imported, and what brings one that it does not find.
func (f FailedImport) words() string {
	return "not importable: " + f.named() + ": " + f.Why + say.With(": ", f.wants(), " brings it")
}

// named is what cannot be imported, and of a module the first file that imports it.
func (f FailedImport) named() string {
	return cmp.Or(f.Part, f.Module+say.With(" (", text.Escape(f.At), ")"))
}

// wants is the package that brings what it does not find; "" it is not known.
func (f FailedImport) wants() string {
	if m := noModule().FindStringSubmatch(f.Why); m != nil {
		if module, by := modules.Brought(m[1]); len(by) > 0 && by[0] != modules.Python && module == m[1] {
			return by[0]
		}
	}
	return ""
}

// Wants are the packages that bring what packages that are there do not find.
func (i *Imports) Wants() []string {
	if i == nil {
		return nil
	}
	return xslices.Once(say.All(text.Each(i.Failed, FailedImport.wants)...))
}

// Disagree reports whether packages that are there do not go together: one has nothing of a
// name that another imports, or refuses it. A library or a package that is not there is
// another matter, and so is a project that does not go with itself.
func (i *Imports) Disagree() bool {
	return i != nil && slices.ContainsFunc(i.Failed, func(f FailedImport) bool {
		if m := noModule().FindStringSubmatch(f.Why); m != nil {
			return strings.Contains(m[1], ".")
		}
		kind, why, _ := strings.Cut(f.Why, ": ")
		return slices.Contains([]string{"ImportError", "AttributeError", "TypeError", "ValueError"}, kind) && !strings.Contains(why, ".so") &&
			!strings.Contains(why, "' from '"+f.Module+".")
	})
}

// Lacks reports whether something is missing of which it is known what brings it.
func (i *Imports) Lacks() bool {
	return slices.ContainsFunc(i.short(), func(m plan.Imported) bool { return m.Package != "" })
}

// short is what is missing of what the project is used for.
func (i *Imports) short() []plan.Imported {
	if i == nil {
		return nil
	}
	return xslices.Filter(i.Missing, func(m plan.Imported) bool { return !m.Optional && !m.Aside })
}

// Short names what the project's sources import and cannot have: with what is not known to
// bring it, and with what is there and cannot be imported.
func (i *Imports) Short() (names []string) {
	if i == nil {
		return nil
	}
	failed := xslices.Filter(i.Failed, func(f FailedImport) bool { return !f.Optional && !f.Aside })
	missing := text.Each(i.short(), func(m plan.Imported) FailedImport { return FailedImport{Imported: m} })
	return text.Each(append(missing, failed...), FailedImport.named)
}

// words say what came of it, where anything was tried.
func (i *Imports) words() (out []string) {
	there := len(i.Here) + len(xslices.Filter(i.Failed, func(f FailedImport) bool { return f.Part == "" }))
	if there+len(i.Missing) > 0 {
		out = append(out, fmt.Sprintf("imports: %d of %d modules that the project imports are there", there, there+len(i.Missing)))
	}
	for _, m := range i.short() {
		out = append(out, "missing: "+m.Module+": "+say.Either(m.Package != "", m.Package+" brings it", "it is not known here what brings it"))
	}
	names := func(of func(plan.Imported) bool) string {
		return strings.Join(say.Few(text.Each(xslices.Filter(i.Missing, of), func(m plan.Imported) string { return m.Module }), 8, "%d more"), ", ")
	}
	out = append(out, say.All(
		say.With("missing for its tests, demos and scripts alone: ", names(func(m plan.Imported) bool { return m.Aside }), ""),
		say.With("missing, and the project does without: ", names(func(m plan.Imported) bool { return m.Optional }), ""))...)
	out = append(out, text.Each(i.Failed, FailedImport.words)...)
	return append(out, say.All(say.With("not tried: ", strings.Join(i.Untried, ", "), ": the first of them came to no end"))...)
}
