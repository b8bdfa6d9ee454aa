package main

import (
	"io"
	"os"
	"slices"
	"sync"

	"envfix/internal/text"

	"golang.org/x/term"
)

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
