package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/ui"
)

// progress says how far something long is: on a terminal in one line that is written
// over every second, in a log in a line every ten seconds.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration
	start    time.Time
	bytes    func() int64 // that came so far; nil: nobody counts

	mu          sync.Mutex
	done, total int
	what        string
	got, size   int64 // bytes, of how many; size 0: nobody knows
	shown       bool  // the terminal's line is there
	stop        func()
}

// newProgress begins with what is done first; end must be called.
func newProgress(what string) *progress { return progressOf(what, nil) }

// progressOf is newProgress of something that receives bytes.
func progressOf(what string, bytes func() int64) *progress {
	p := &progress{bytes: bytes, w: stderr(), terminal: isTerminal(stderr()) && os.Getenv("TERM") != "dumb", every: 10 * time.Second, what: what}
	if p.terminal {
		p.every = time.Second
	}
	p.begin()
	return p
}

func (p *progress) begin() {
	p.start = time.Now()
	p.stop = system.Every(p.every, p.draw)
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

// receive says how far a bundle is. A log also gets a line for each file.
func (p *progress) receive(r team.Receipt) {
	p.mu.Lock()
	next := p.what != r.File
	p.what, p.got, p.size = r.File, r.Got, r.Total
	if r.Got == 0 { // what came before, to ask for sizes, was no receiving
		p.start = time.Now()
	}
	p.mu.Unlock()
	switch {
	case next && p.terminal:
		p.draw(time.Now())
	case next:
		fmt.Fprintf(p.w, "envfix: %s (%s)\n", ui.Clean(r.File), ui.Size(r.Size))
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
	fmt.Fprint(p.w, "\r\x1b[K"+ui.Clip(line, columns(p.w)-2))
	p.shown = true
}

// line is what is done, with the share, the time left and the rate where they are known.
// What is being done comes last: on a narrow terminal it is what is cut.
func (p *progress) line(now time.Time) string {
	spent := now.Sub(p.start)
	words := []string{say.Clock(int(spent.Seconds()))}
	left := 0.0 // the part that is to be done, of what is done
	switch {
	case p.size > 0:
		words = []string{fmt.Sprintf("%d %%", 100*p.got/p.size), ui.Size(p.got) + " of " + ui.Size(p.size), say.Clock(int(spent.Seconds()))}
		left = float64(p.size-p.got) / float64(max(p.got, 1))
	case p.total > 0:
		words = []string{fmt.Sprintf("%d %%", 100*p.done/p.total), fmt.Sprintf("%d of %d", p.done, p.total), say.Clock(int(spent.Seconds()))}
		left = float64(p.total-p.done) / float64(max(p.done, 1))
	}
	if left > 0 && p.got+int64(p.done) > 0 && (p.size == 0 || spent >= 3*time.Second) {
		words = append(words, "about "+say.Clock(int(left*spent.Seconds()))+" left")
	}
	if rate := p.rate(spent); rate != "" {
		words = append(words, rate)
	}
	return strings.Join(words, ", ") + ": " + ui.Clip(p.what, 70)
}

// rate is how much came so far, and how quickly on average; "" where nobody knows.
func (p *progress) rate(spent time.Duration) string {
	came, all := p.got, ""
	if p.bytes != nil {
		came = p.bytes()
		all = ui.Size(came) + ", "
	}
	if came == 0 || spent < time.Second {
		return ""
	}
	return all + ui.Size(int64(float64(came)/spent.Seconds())) + "/s"
}

func (p *progress) end() {
	p.stop()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
