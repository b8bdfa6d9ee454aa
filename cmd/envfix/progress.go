package main

import (
	"fmt"
	"io"
	"os"

	"envfix/internal/ui"
)

// progress is one line on a terminal that is written over.
type progress struct {
	w  io.Writer
	on bool
}

func newProgress() *progress { return &progress{w: os.Stderr, on: isTerminal(os.Stderr)} }

func (p *progress) step(done, total int, what string) {
	if p.on {
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d  %s", done, total, ui.Clip(what, 60))
	}
}

func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
