package ui

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/machine"
	"envfix/internal/plan"
)

//go:embed doctor.html
var doctorHTML string

// DoctorPage is one page of HTML with the findings, the plan that mends the
// first (nil: none) and the facts (nil: a paste has none). It loads nothing from
// anywhere and holds no script; text from outside is escaped and cleaned.
// Day is the day it was made; share takes out of a text what not everybody is to read.
func DoctorPage(r doctor.Report, p *plan.Plan, m *machine.Machine, day string, share func(string) string) ([]byte, error) {
	page := template.Must(template.New("doctor").Funcs(template.FuncMap{"cleaned": Clean, "marked": marked}).Parse(doctorHTML))
	data := struct {
		Report           doctor.Report
		Day, Plan, Facts string
	}{Report: r, Day: day}
	if p != nil {
		data.Plan = share(CleanLines(Plan(p, Style{})))
	}
	if m != nil {
		data.Facts = share(CleanLines(Facts(*m, true, Style{})))
	}
	var b bytes.Buffer
	err := page.Execute(&b, data)
	return b.Bytes(), err
}

// A piece is a part of a line: a command where it stood in backticks.
type piece struct {
	Text string
	Code bool
}

// marked splits a line at its backticks; one without its partner is text.
func marked(line string) []piece {
	parts := strings.Split(Clean(line), "`")
	if len(parts)%2 == 0 {
		return []piece{{Text: Clean(line)}}
	}
	var out []piece
	for i, text := range parts {
		if text != "" {
			out = append(out, piece{text, i%2 == 1})
		}
	}
	return out
}
