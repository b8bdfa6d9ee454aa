package apply

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"envfix/internal/plan"
	"envfix/internal/text"
)

// importsProgram is what an environment's Python runs to import modules.
//
//go:embed imports.py
var importsProgram string

// mostImports bounds how long a project's imports are tried.
const mostImports = 5 * time.Minute

// Imports is what came of trying what a project's sources import.
type Imports struct {
	Here    []string        `json:"here"`
	Missing []plan.Imported `json:"missing"` // nothing that is installed brings it
	Failed  []FailedImport  `json:"failed"`  // it is there, and raises
}

// A FailedImport is a module that is there and cannot be imported.
type FailedImport struct {
	plan.Imported
	Why string `json:"why"`
}

// tryImports imports with python what a project's sources import, until run, which runs a
// command and returns what it printed, says that it is to end. That some of it is missing
// is told, and no failure.
func tryImports(python string, all []plan.Imported, run func(argv []string) (printed string, on bool)) *Imports {
	out := &Imports{Here: []string{}, Missing: []plan.Imported{}, Failed: []FailedImport{}}
	for left, on := all, true; on && len(left) > 0; {
		var printed string
		printed, on = run(append([]string{python, "-I", "-c", importsProgram}, text.Each(left, func(m plan.Imported) string { return m.Module })...))
		for line := range strings.Lines(printed) {
			said, ok := strings.CutPrefix(strings.TrimSpace(line), proofMark)
			var one [2]string
			if !ok || json.Unmarshal([]byte(said), &one) != nil || len(left) == 0 || one[0] != left[0].Module {
				continue
			}
			switch one[1] {
			case "":
				out.Here = append(out.Here, one[0])
			case "absent":
				out.Missing = append(out.Missing, left[0])
			default:
				out.Failed = append(out.Failed, FailedImport{left[0], text.Printable(one[1])})
			}
			left = left[1:]
		}
		if on && len(left) > 0 {
			out.Failed = append(out.Failed, FailedImport{left[0], "it ends the Python that imports it"})
			left = left[1:]
		}
	}
	return out
}

// words say what came of it, where anything was tried.
func (i *Imports) words() (out []string) {
	there := len(i.Here) + len(i.Failed)
	if there+len(i.Missing) > 0 {
		out = append(out, fmt.Sprintf("imports: %d of %d modules that the project imports are there", there, there+len(i.Missing)))
	}
	for _, m := range i.Missing {
		switch {
		case m.Optional:
		case m.Package != "":
			out = append(out, fmt.Sprintf("missing: %s: %s brings it", m.Module, m.Package))
		default:
			out = append(out, fmt.Sprintf("missing: %s: it is not known here what brings it", m.Module))
		}
	}
	out = append(out, text.Each(i.Failed, func(f FailedImport) string { return fmt.Sprintf("not importable: %s: %s", f.Module, f.Why) })...)
	return out
}
