package ui

import (
	"encoding/json"
	"testing"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"

	"github.com/google/go-cmp/cmp"
)

// TestSarif: a rule for each check, a result for each finding, and a place for each:
// the lines of a paste, or the machine.
func TestSarif(t *testing.T) {
	report := doctor.Report{Notes: []string{"a file could not be read"}, Findings: []doctor.Finding{
		{Check: "ARC005", Severity: know.Error, Confidence: doctor.High, Cause: "arch", Text: "no code for \x1b[31mthis", Fix: []string{"`envfix apply`"},
			Evidence: []string{"b c.txt, line 12: no kernel image", "a fact"}},
		{Check: "ARC005", Severity: know.Error, Text: "another", Evidence: []string{"line 7: again"}},
		{Check: "XXX001", Severity: know.Note, Text: "a note"},
	}}
	type place struct {
		Physical *struct {
			Artifact struct{ URI string } `json:"artifactLocation"`
			Region   *struct {
				Line int `json:"startLine"`
			}
		} `json:"physicalLocation"`
		Logical []struct{ Name string } `json:"logicalLocations"`
	}
	type log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []place
			}
		}
	}
	for _, pasted := range [][]string{{"a.txt", "b c.txt"}, nil} {
		var got log
		b, err := Sarif(report, &know.Knowledge{}, "1.2.3", pasted)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, r := range got.Runs[0].Results {
			row := got.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID + " " + r.Level + " " + r.Message.Text + " @"
			for _, l := range r.Locations {
				if l.Physical == nil {
					row += " " + l.Logical[0].Name
					continue
				}
				row += " " + l.Physical.Artifact.URI
				if l.Physical.Region != nil {
					row += string(rune('0' + l.Physical.Region.Line%10))
				}
			}
			rows = append(rows, row)
		}
		want := []string{
			"ARC005 error no code for \\x1b[31mthis\nTo do: `envfix apply` @ b%20c.txt2", "ARC005 error another @ a.txt7", "XXX001 note a note @ a.txt",
		}
		if pasted == nil {
			want = []string{
				"ARC005 error no code for \\x1b[31mthis\nTo do: `envfix apply` @ this machine", "ARC005 error another @ this machine", "XXX001 note a note @ this machine",
			}
		}
		if d := cmp.Diff(want, rows); d != "" {
			t.Errorf("%q: %s", pasted, d)
		}
	}
}
