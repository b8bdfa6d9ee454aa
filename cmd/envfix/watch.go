package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"envfix/internal/fail"
	"envfix/internal/observe"
	"envfix/internal/observe/verdict"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// watchFlags are the flags of watch, read once.
type watchFlags struct {
	pid        int // 0: everybody's processes
	once, json bool
}

func watchAction(c *cli.Context) error {
	f := watchFlags{pid: c.Int("pid"), once: c.Bool("once"), json: c.Bool("json")}
	if c.IsSet("pid") && f.pid < 1 {
		return fail.Wrong(fmt.Sprintf("--pid %d: a process number is greater than 0", f.pid))
	}
	besideJob()
	w, err := observe.StartWatch(observe.Options{Self: self(), State: system.StateDir(), Env: os.Environ()}, f.pid)
	if err != nil {
		return fail.New(fail.Failed, err.Error(), "`envfix watch` lists the processes that use a GPU")
	}
	defer w.Stop()
	if isTerminal(stdout()) && !f.json && !f.once && os.Getenv("TERM") != "dumb" {
		err = watchScreen(c.Context, w)
	} else {
		watchLines(c.Context, w, f)
	}
	if t := w.Trace(); t != nil && !f.json && !f.once { // the verdict that --pid promises
		if t.AsksDoctor() {
			t.Doctor = diagnose(t, w.Job)
		}
		fmt.Fprint(stderr(), ui.Verdict(verdict.Judge(t), 0, style(stderr())))
	}
	return err
}

// watchLines prints a line a second until there is nothing left to watch, or
// nobody reads on.
func watchLines(ctx context.Context, w *observe.Watch, f watchFlags) {
	out := bufio.NewWriter(stdout())
	for {
		v, ok := w.Next(ctx)
		if !ok {
			return
		}
		var err error
		if f.json {
			err = json.NewEncoder(out).Encode(v)
		} else {
			_, err = fmt.Fprintln(out, ui.WatchLine(v))
		}
		if err = errors.Join(err, out.Flush()); err != nil || f.once {
			return
		}
	}
}

// watchScreen redraws the view in place until q, Ctrl-C or the process's end.
func watchScreen(ctx context.Context, w *observe.Watch) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keys := make(chan byte, 8)
	d, paused := drawer{style: style(stdout())}, false
	if old, err := term.MakeRaw(int(os.Stdin.Fd())); err == nil { // it is a terminal
		defer term.Restore(int(os.Stdin.Fd()), old)
		go readKeys(keys)
		d.head = "   q quits, p pauses"
	}
	views := make(chan verdict.View)
	go func() {
		defer close(views)
		for {
			v, ok := w.Next(ctx)
			if !ok {
				return
			}
			views <- v
		}
	}()
	io.WriteString(stdout(), "\x1b[?25l") // hide the cursor
	defer io.WriteString(stdout(), "\x1b[?25h")
	d.last = verdict.View{Time: time.Now().Format(time.RFC3339), Notes: []string{"looking for a second …"}}
	d.draw(d.head)
	for {
		select {
		case k := <-keys:
			switch k {
			case 'q', 'Q', 3, 4: // Ctrl-C and Ctrl-D are bytes in raw mode
				return drain(stop, views)
			case 'p', 'P', ' ':
				paused = !paused
				d.draw(d.head + say.If(paused, "   PAUSED"))
			}
		case v, ok := <-views:
			if !ok {
				return nil
			}
			if !paused {
				d.last = v
				d.draw(d.head)
			}
		}
	}
}

// drain lets the goroutine that looks end.
func drain(stop context.CancelFunc, views <-chan verdict.View) error {
	stop()
	for range views {
	}
	return nil
}

// readKeys ends with the program: a read of the terminal cannot be taken back.
func readKeys(keys chan<- byte) {
	var b [1]byte
	for {
		if n, err := os.Stdin.Read(b[:]); err != nil || n == 0 {
			return
		}
		keys <- b[0]
	}
}

// A drawer redraws a screen over the one before.
type drawer struct {
	style ui.Style
	lines int
	last  verdict.View
	head  string // beside the time
}

func (d *drawer) draw(head string) {
	width, height := ui.Width, 24
	if w, h, err := term.GetSize(int(fileOf(stdout()).Fd())); err == nil && w > 20 {
		width, height = w, h
	}
	lines := ui.Watch(d.last, head, width-1, d.style)
	if len(lines) > height-1 && height > 4 { // a screen that scrolls cannot be redrawn
		lines = lines[:height-1]
	}
	var b strings.Builder
	if d.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", d.lines)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range lines {
		b.WriteString(l + "\r\n")
	}
	io.WriteString(stdout(), b.String())
	d.lines = len(lines)
}
