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
)

// The parts of SARIF 2.1.0 that a report of doctor needs (OASIS, sections 3.13 to
// 3.52).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string        `json:"id"`
		Short   sarifText     `json:"shortDescription"`
		Help    *sarifText    `json:"help,omitempty"`
		Default sarifSeverity `json:"defaultConfiguration"`
	}
	sarifSeverity struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful bool          `json:"executionSuccessful"`
		Notes      []sarifNotice `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotice struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		Rule       string            `json:"ruleId"`
		Index      int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Prints     map[string]string `json:"partialFingerprints"`
		Properties map[string]any    `json:"properties"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
)

// Sarif is a report in the form that code scanning reads (SARIF 2.1.0). pasted are
// the files that were read; none: the report is of this machine.
func Sarif(r doctor.Report, k *know.Knowledge, version string, pasted []string) ([]byte, error) {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "envfix", Version: version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{Successful: true}},
		Results:     []sarifResult{},
	}
	for _, n := range r.Notes {
		run.Invocations[0].Notes = append(run.Invocations[0].Notes, sarifNotice{"note", sarifText{Clean(n)}})
	}
	driver := &run.Tool.Driver
	for _, f := range r.Findings {
		i := slices.IndexFunc(driver.Rules, func(s sarifRule) bool { return s.ID == f.Check })
		if i < 0 {
			i = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarifRuleOf(f, k))
		}
		text := Clean(f.Text)
		for _, fix := range f.Fix {
			text += "\nTo do: " + Clean(fix)
		}
		run.Results = append(run.Results, sarifResult{
			Rule: f.Check, Index: i, Level: f.Severity.String(), Message: sarifText{text}, Locations: sarifLocations(f, pasted),
			Prints:     map[string]string{"envfix/v1": f.Check + " " + Clean(f.Text)},
			Properties: map[string]any{"cause": f.Cause, "confidence": f.Confidence.String(), "evidence": cleaned(f.Evidence)},
		})
	}
	b, err := json.MarshalIndent(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}, "", "  ")
	return append(b, '\n'), err
}

func cleaned(lines []string) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, Clean(l))
	}
	return out
}

// sarifRuleOf is the check of a finding, in the words of the first that names it.
func sarifRuleOf(f doctor.Finding, k *know.Knowledge) sarifRule {
	rule := sarifRule{ID: f.Check, Short: sarifText{Clean(f.Text)}, Default: sarifSeverity{f.Severity.String()}}
	if c := k.Checks[f.Check]; c != nil {
		rule.Default.Level = c.Severity.String()
	}
	if len(f.Fix) > 0 { // the check's own advice has places that only a finding fills
		rule.Help = &sarifText{strings.Join(cleaned(f.Fix), "\n")}
	}
	return rule
}

// evidenceLine is where a line of a paste is from, as evidence names it.
var evidenceLine = lazy.Regexp(`^(?:(.+), )?line (\d+): `)

// sarifLocations are the lines of a paste that are evidence, or else the machine.
func sarifLocations(f doctor.Finding, pasted []string) []sarifLocation {
	var out []sarifLocation
	for _, e := range f.Evidence {
		m := evidenceLine().FindStringSubmatch(e)
		if m == nil || len(pasted) == 0 {
			continue
		}
		file := pasted[0]
		for _, p := range pasted {
			if m[1] != "" && Clean(p) == m[1] {
				file = p
			}
		}
		line, _ := strconv.Atoi(m[2])
		out = append(out, sarifLocation{Physical: &sarifPhysical{sarifArtifact{sarifURI(file)}, &sarifRegion{max(1, line)}}})
	}
	if len(out) == 0 && len(pasted) > 0 {
		return []sarifLocation{{Physical: &sarifPhysical{sarifArtifact{sarifURI(pasted[0])}, nil}}}
	}
	if len(out) == 0 {
		return []sarifLocation{{Logical: []sarifLogical{{"this machine", "resource"}}}}
	}
	return out
}

// sarifURI is a file as SARIF names it: relative to the root of what is scanned.
func sarifURI(file string) string {
	if file == "-" {
		return "stdin"
	}
	return (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()
}
