package main

import (
	"io"
	"os"

	"envfix/internal/text"

	"golang.org/x/term"
)

// stdout and stderr are the two ways out. Nothing is written to the files themselves but
// by a child that they are given to: internal/ci/gates holds it.
func stdout() *text.Stream { return text.NewStream(os.Stdout, isTerminal(os.Stdout)) }

func stderr() *text.Stream { return text.NewStream(os.Stderr, isTerminal(os.Stderr)) }

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
