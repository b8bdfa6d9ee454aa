package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what an error message means and what to do",
		ArgsUsage: "[TEXT…]",
		Description: `Reads a message, or any text with messages in it, from the arguments or from
standard input. A line that means nothing bad gets no answer.

EXAMPLES
  envfix explain "no kernel image is available for execution on the device"
  python train.py 2>&1 | envfix explain

EXIT STATUS
  0  always, also where no message is known
  2  usage, or input that cannot be read`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action: explainAction,
	}
}

func explainAction(c *cli.Context) error {
	var in io.Reader = os.Stdin
	if c.NArg() > 0 {
		in = strings.NewReader(strings.Join(c.Args().Slice(), " "))
	} else if isTerminal(os.Stdin) {
		return &failure{code: exitUsage, text: "no text to explain", hints: []string{"`envfix explain \"CUDA error: …\"`, or pipe a log into it"}}
	}
	answer, err := doctor.Embedded().Explain(in)
	if err != nil {
		return &failure{code: exitUsage, text: "standard input: " + err.Error(), err: err}
	}
	if c.Bool("json") {
		return writeJSON(c.App.Writer, answer)
	}
	_, err = io.WriteString(c.App.Writer, explainText(answer))
	return err
}

// explainText is the answer for people: what each message means, the line itself
// where there were several, and what to do.
func explainText(a doctor.Explanation) string {
	if len(a.Matches) == 0 {
		return nothingKnown
	}
	var b strings.Builder
	for i, m := range a.Matches {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(ui.Hang("", fmt.Sprintf("%s: %s", ui.Clean(m.Program), ui.Clean(m.Text))))
		b.WriteString(ui.Hang("  ", ui.Clip(fmt.Sprintf("line %d: %s", m.Line, m.Quote), shownEvidence)))
		for _, f := range m.Fix {
			b.WriteString(ui.Hang("  - ", ui.Clean(f)))
		}
		b.WriteString(ui.Hang("  ", fmt.Sprintf("cause %s, check %s", m.Cause, strings.Join(m.Checks, " "))))
	}
	return b.String()
}

const nothingKnown = `no message in this text is known

  envfix doctor               looks at this machine
  envfix doctor --from FILE   looks at a whole report: collect_env, nvidia-smi,
                              pip list, the traceback, in any order
`
