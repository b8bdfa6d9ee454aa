package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"envfix/internal/ui"
)

// progress says how far something long is: on a terminal in one line that is written
// over every second, in a log in a line every ten seconds.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration
	start    time.Time

	mu          sync.Mutex
	done, total int
	what        string
	shown       bool // the terminal's line is there
	stop        chan struct{}
	gone        sync.WaitGroup
}

// newProgress begins with what is done first; end must be called.
func newProgress(what string) *progress {
	p := &progress{w: os.Stderr, terminal: isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb", every: 10 * time.Second, what: what}
	if p.terminal {
		p.every = time.Second
	}
	p.begin()
	return p
}

func (p *progress) begin() {
	p.start, p.stop = time.Now(), make(chan struct{})
	p.gone.Go(func() {
		tick := time.NewTicker(p.every)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case now := <-tick.C:
				p.draw(now)
			}
		}
	})
}

// step says that done of total is ready, and what comes or came.
func (p *progress) step(done, total int, what string) {
	p.mu.Lock()
	p.done, p.total, p.what = done, total, what
	p.mu.Unlock()
	if p.terminal {
		p.draw(time.Now())
	}
}

func (p *progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.line(now)
	if !p.terminal {
		fmt.Fprintln(p.w, "  "+line)
		return
	}
	most := ui.Width
	if f, ok := p.w.(*os.File); ok {
		most = columns(f)
	}
	fmt.Fprint(p.w, "\r\x1b[K"+ui.Clip(line, most-2))
	p.shown = true
}

// line is what is done, with the share and the time left where they are known.
func (p *progress) line(now time.Time) string {
	spent := now.Sub(p.start)
	line := ui.Clip(p.what, 60)
	if p.total > 0 {
		line = fmt.Sprintf("%d %%, %d of %d: %s", 100*p.done/p.total, p.done, p.total, line)
	}
	line += ", " + clock(spent)
	if p.done > 0 && p.done < p.total {
		line += fmt.Sprintf(", about %s left", clock(spent/time.Duration(p.done)*time.Duration(p.total-p.done)))
	}
	return line
}

// clock writes 102 s as 1:42.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func (p *progress) end() {
	close(p.stop)
	p.gone.Wait()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
