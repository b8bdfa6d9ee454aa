package ui

import (
	_ "embed"
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
	data := struct {
		Report                 doctor.Report
		Name, Day, Plan, Facts string
	}{Report: r, Day: day}
	if p != nil {
		data.Plan = share(CleanLines(Plan(p, Style{})))
	}
	if m != nil {
		data.Name = machineName(*m)
		data.Facts = share(CleanLines(Facts(*m, true, Style{})))
	}
	return reportPage(doctorHTML, nil, data)
}

// machineName is a machine in a line: its first GPU and its system.
func machineName(m machine.Machine) string {
	name := strings.TrimSpace(m.Platform.OS + " " + m.Platform.Distro + " " + m.Platform.DistroVersion)
	if len(m.GPUs) > 0 {
		return m.GPUs[0].Name + ", " + name
	}
	return name
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
