package ui

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/text"
)

// An object is one of JSON. SARIF's are written as they stand in the specification (OASIS,
// SARIF 2.1.0, sections 3.13 to 3.52), and read by nobody here.
type object map[string]any

func message(s string) object { return object{"text": s} }

// Sarif is a report in the form that code scanning reads (SARIF 2.1.0). pasted are
// the files that were read; none: the report is of this machine.
func Sarif(r doctor.Report, k *know.Knowledge, version string, pasted []string) ([]byte, error) {
	checks, rules, results := []string{}, []object{}, []object{}
	notes := append([]object{}, text.Each(r.Notes, func(n string) object { return object{"level": "note", "message": message(Clean(n))} })...)
	for _, f := range r.Findings {
		i := slices.Index(checks, f.Check)
		if i < 0 {
			i = len(rules)
			checks, rules = append(checks, f.Check), append(rules, sarifRule(f, k))
		}
		text := Clean(f.Text)
		for _, fix := range f.Fix {
			text += "\nTo do: " + Clean(fix)
		}
		results = append(results, object{
			"ruleId": f.Check, "ruleIndex": i, "level": f.Severity.String(), "message": message(text), "locations": sarifLocations(f, pasted),
			"partialFingerprints": object{"envfix/v1": f.Check + " " + Clean(f.Text)},
			"properties":          object{"cause": f.Cause, "confidence": f.Confidence.String(), "evidence": cleaned(f.Evidence)},
		})
	}
	b, err := json.MarshalIndent(object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{{
		"tool":        object{"driver": object{"name": "envfix", "version": version, "rules": rules}},
		"invocations": []object{{"executionSuccessful": true, "toolExecutionNotifications": notes}},
		"results":     results,
	}}}, "", "  ")
	return append(b, '\n'), err
}

func cleaned(lines []string) []string {
	return append([]string{}, text.Each(lines, Clean)...)
}

// sarifRule is the check of a finding, in the words of the first that names it.
func sarifRule(f doctor.Finding, k *know.Knowledge) object {
	level := f.Severity.String()
	if c := k.Checks[f.Check]; c != nil {
		level = c.Severity.String()
	}
	rule := object{"id": f.Check, "shortDescription": message(Clean(f.Text)), "defaultConfiguration": object{"level": level}}
	if len(f.Fix) > 0 { // the check's own advice has places that only a finding fills
		rule["help"] = message(strings.Join(cleaned(f.Fix), "\n"))
	}
	return rule
}

// evidenceLine is where a line of a paste is from, as evidence names it.
var evidenceLine = lazy.Regexp(`^(?:(.+), )?line (\d+): `)

// sarifLocations are the lines of a paste that are evidence, or else the machine.
func sarifLocations(f doctor.Finding, pasted []string) []object {
	if len(pasted) == 0 {
		return []object{{"logicalLocations": []object{{"name": "this machine", "kind": "resource"}}}}
	}
	var out []object
	for _, e := range f.Evidence {
		m := evidenceLine().FindStringSubmatch(e)
		if m == nil {
			continue
		}
		file := pasted[0]
		for _, p := range pasted {
			if m[1] != "" && Clean(p) == m[1] {
				file = p
			}
		}
		line, _ := strconv.Atoi(m[2])
		place := sarifFile(file)
		place["region"] = object{"startLine": max(1, line)}
		out = append(out, object{"physicalLocation": place})
	}
	if len(out) == 0 {
		return []object{{"physicalLocation": sarifFile(pasted[0])}}
	}
	return out
}

// sarifFile is a file as SARIF names it: relative to the root of what is scanned.
func sarifFile(file string) object {
	uri := say.Either(file != "-", (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath(), "stdin")
	return object{"artifactLocation": object{"uri": uri}}
}
