package installers

import (
	"strings"

	"envfix/internal/plan"
)

// byHand is a step that a person does.
func byHand(id, title, why, text string) plan.Step {
	return plan.Step{ID: id, Title: title, Why: why, Manual: &plan.Manual{Text: text}}
}

// running is a step that runs a program as the user.
func running(id, title, why string, run *plan.Run) plan.Step {
	return plan.Step{ID: id, Title: title, Why: why, Run: run}
}

// written is a step that writes lines into a file.
func written(id, title, why, path string, lines ...string) plan.Step {
	content := strings.TrimSuffix(strings.Join(lines, "\n"), "\n") + "\n"
	return plan.Step{ID: id, Title: title, Why: why, Write: &plan.Write{Path: path, Mode: 0o644, Content: content}}
}
