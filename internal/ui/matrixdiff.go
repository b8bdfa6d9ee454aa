package ui

import (
	"fmt"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/matrix"
)

// MatrixSummary says what a matrix holds.
func MatrixSummary(m *matrix.Matrix) string {
	builds := 0
	for _, r := range m.Releases {
		builds += len(r.Builds)
	}
	return fmt.Sprintf("matrix %s of %s is in order: %s of torch, %s, %s, %s, %s", m.Version, m.Date, Count(len(m.Releases), "release"),
		Count(builds, "build"), Count(len(m.Extensions), "extension"), Count(len(m.Libraries), "library"), Count(len(m.Branches), "driver branch"))
}

// MatrixDiff says what a change of the data changes. answers are the recorded machines
// that get another answer, of so many: name, the old answer, the new one.
func MatrixDiff(changes []matrix.Change, files []string, machines int, answers [][3]string) string {
	var b strings.Builder
	for _, line := range say.Few(text.Each(changes, matrix.Change.String), 200, "and %d more (--json has all)") {
		b.WriteString(Clean(line) + "\n")
	}
	for _, f := range files {
		b.WriteString(Clean(f) + ": changed\n")
	}
	b.WriteString(say.If(len(changes)+len(files) > 0, "\n"))
	fmt.Fprintf(&b, "%s of the data", Count(len(changes), "change"))
	if machines > 0 {
		fmt.Fprintf(&b, "; %d of %s would get another answer", len(answers), Count(machines, "recorded machine"))
	}
	b.WriteString("\n")
	for _, a := range answers {
		fmt.Fprintf(&b, "  %s\n    was  %s\n    now  %s\n", a[0], a[1], a[2])
	}
	return b.String()
}
