package main

import (
	"regexp"
	"testing"
	"time"
)

type lines chan string

func (l lines) Write(b []byte) (int, error) { l <- string(b); return len(b), nil }

// A log gets whole lines now and then; a terminal one that is written over and gone at
// the end. Both say the share and the time left.
func TestProgress(t *testing.T) {
	for terminal, want := range map[bool]string{
		false: `^  25 %, 3 of 12, 0:0\d, about 0:\d\d left: torch-2\.15\.0\.whl\n$`,
		true:  `^\r\x1b\[K25 %, 3 of 12, 0:0\d, about 0:\d\d left: torch-2\.15\.0\.whl$`,
	} {
		out := make(lines)
		p := &progress{w: out, terminal: terminal, every: time.Millisecond, what: "looking"}
		p.begin()
		p.mu.Lock()
		p.done, p.total, p.what = 3, 12, "torch-2.15.0.whl"
		p.mu.Unlock()
		last := ""
		for last = range out {
			if regexp.MustCompile(want).MatchString(last) {
				break
			}
		}
		ended := make(chan struct{})
		go func() { p.end(); close(out) }()
		go func() {
			for last = range out {
			}
			close(ended)
		}()
		<-ended
		if terminal && last != "\r\x1b[K" {
			t.Errorf("it leaves %q", last)
		}
	}
	start := time.Now()
	p := progress{what: "importing torch", start: start}
	if got := p.line(start.Add(102 * time.Second)); got != "1:42: importing torch" {
		t.Error(got)
	}
	p = progress{what: "torch.whl", start: start, got: 1e9, size: 3e9}
	if got := p.line(start.Add(50 * time.Second)); got != "33 %, 1.0 GB of 3.0 GB, 0:50, about 1:40 left, 20 MB/s: torch.whl" {
		t.Error(got)
	}
	p = progress{what: "torch.whl", start: start, done: 1, total: 2, bytes: func() int64 { return 41e6 }}
	if got := p.line(start.Add(10 * time.Second)); got != "50 %, 1 of 2, 0:10, about 0:10 left, 41 MB, 4.1 MB/s: torch.whl" {
		t.Error(got)
	}
}
