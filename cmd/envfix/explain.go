package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/project"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func explainAction(c *cli.Context) error {
	var in io.Reader
	switch text := strings.Join(c.Args().Slice(), " "); {
	case project.IsFile(text): // a log by its name
		file, err := os.Open(text)
		if err != nil {
			return fail.Because(err, fail.Usage, ui.Clean(text)+": "+fail.Reason(err))
		}
		defer file.Close()
		in = file
	case text != "" && text != "-":
		in = strings.NewReader(text)
	default:
		piped := bufio.NewReader(os.Stdin)
		if isTerminal(os.Stdin) || empty(piped) {
			return fail.Wrong("no text to explain", "`envfix explain \"CUDA error: …\"`, or pipe a log into it: `python train.py 2>&1 | envfix explain`")
		}
		in = piped
	}
	_ = confine(c.Context) // without it the answers are the same
	k := know.Embedded()
	told, known := doctor.ExplainChecks(k, c.Args().Slice())
	var err error
	switch then := c.String("then"); {
	case then != "":
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(in, 64<<20)); err == nil {
			told, err = doctor.Then(k, string(text), then, func(c *read.Case) { c.Matrix, c.Devices = matrix.Embedded(), matrix.Devices() })
		}
	case !known:
		told, err = doctor.Explain(k, in)
	}
	if err != nil {
		return &fail.Error{Code: fail.Usage, Text: "the text to explain: " + err.Error(), Err: err}
	}
	return answer(c.App.Writer, c.Bool("json"), told, ui.Explanation(told, style(c.App.Writer)), fail.OK)
}

// empty reports whether a stream ends before it begins.
func empty(r *bufio.Reader) bool {
	_, err := r.Peek(1)
	return err == io.EOF
}
