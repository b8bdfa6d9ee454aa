package ui

import (
	"fmt"
	"io"
	"strings"

	"envfix/internal/plan"
)

// WriteContents shows every line that a plan puts into a file.
func WriteContents(w io.Writer, p *plan.Plan) error {
	for i, s := range p.Steps {
		path, lines := "", []string(nil)
		switch {
		case s.Write != nil:
			path, lines = s.Write.Path, strings.Split(strings.TrimSuffix(s.Write.Content, "\n"), "\n")
		case s.Block != nil:
			path, lines = s.Block.Path, s.Block.Lines
		default:
			continue
		}
		if _, err := fmt.Fprintf(w, "step %d writes into %s:\n", i+1, Clean(path)); err != nil {
			return err
		}
		for _, l := range lines {
			if _, err := fmt.Fprintf(w, "    %s\n", Clean(l)); err != nil {
				return err
			}
		}
	}
	return nil
}
