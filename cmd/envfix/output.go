package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"

	"golang.org/x/term"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeForm writes what is for another program to read, or says why it cannot be.
func writeForm(w io.Writer, form text.Quoted, hints ...string) error {
	if err := form.Err(); err != nil {
		return fail.Wrap(fail.Failed, err, hints...)
	}
	_, err := form.WriteTo(w)
	return err
}

// writeFormTo is writeForm into a file, and says so; without a name to w.
func writeFormTo(w io.Writer, file string, mode fs.FileMode, form text.Quoted, hints ...string) error {
	if file == "" {
		return writeForm(w, form, hints...)
	}
	var written bytes.Buffer
	err := writeForm(&written, form, hints...)
	if err == nil {
		err = writeOut(file, written.Bytes(), mode)
	}
	if err == nil {
		fmt.Fprintf(stderr(), "envfix: wrote %s\n", ui.Clean(file))
	}
	return err
}

// answer prints v as JSON, or the text for people; code is what the command then ends with.
func answer(w io.Writer, asJSON bool, v any, text string, code int) error {
	var err error
	if asJSON {
		err = writeJSON(w, v)
	} else {
		_, err = io.WriteString(w, text)
	}
	if err == nil && code != fail.OK {
		return &fail.Error{Code: code}
	}
	return err
}

// writePage writes the page of --html and says so.
func writePage(file string, page []byte, err error) error {
	if err != nil {
		return err
	}
	if err := system.Replace(file, []byte(text.Hide(string(page), tokens()...)), 0o644); err != nil {
		return fail.Wrong(ui.Clean(file)+": "+fail.Reason(err), "`--html` takes a file in a directory that is there")
	}
	fmt.Fprintf(stderr(), "wrote %s\n", ui.Clean(file))
	return nil
}

// stdout and stderr are the two ways out. Nothing is written to the files themselves but
// by a child that they are given to: internal/ci/gates holds it.
func stdout() *text.Stream { return out().On(os.Stdout, isTerminal(os.Stdout)) }

func stderr() *text.Stream { return problems().On(os.Stderr, isTerminal(os.Stderr)) }

// Both keep the beginning of an address that is not whole yet.
var (
	out      = sync.OnceValue(func() *text.Stream { return text.NewStream(tokens()...) })
	problems = sync.OnceValue(func() *text.Stream { return text.NewStream(tokens()...) })
)

// tokens are the secrets in the addresses of this call.
func tokens() []string { return text.Tokens(slices.Concat(os.Args, os.Environ())...) }

// fileOf is the file that w writes to; nil where it is none.
func fileOf(w io.Writer) *os.File {
	if s, ok := w.(*text.Stream); ok {
		w = s.To()
	}
	f, _ := w.(*os.File)
	return f
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// columns is how wide the terminal w is; 80 where it does not say.
func columns(w io.Writer) int {
	if f := fileOf(w); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}
