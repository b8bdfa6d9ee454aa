package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is the protocol on a pair of pipes, one message a line. The end of the input
// is passed on when every request has its answer: a client that pipes its requests in
// and closes (`printf … | envfix mcp`) would lose those that are still at work.
func Stdio(in io.ReadCloser, out io.WriteCloser) mcp.Transport {
	o := &open{answered: make(chan struct{}, 1)}
	return &mcp.IOTransport{Reader: &requests{in, o, lines{}}, Writer: &answers{out, o, lines{}}}
}

// open counts the requests that have no answer yet.
type open struct {
	sync.Mutex
	n        int
	answered chan struct{} // holds a value when n fell
}

func (o *open) add(n int) {
	o.Lock()
	o.n += n
	o.Unlock()
	if n < 0 {
		select {
		case o.answered <- struct{}{}:
		default:
		}
	}
}

func (o *open) none() bool {
	o.Lock()
	defer o.Unlock()
	return o.n <= 0
}

// lines gathers what arrives until a line is whole.
type lines struct{ rest []byte }

// each calls f with the head of every message that p completes.
func (l *lines) each(p []byte, f func(request bool)) {
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return
		}
		var head struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(l.rest[:i], &head) == nil && len(head.ID) > 0 {
			f(head.Method != "")
		}
		l.rest = l.rest[i+1:]
	}
}

type requests struct {
	io.ReadCloser
	open  *open
	lines lines
}

func (r *requests) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.lines.each(p[:n], func(request bool) {
		if request {
			r.open.add(1)
		}
	})
	for errors.Is(err, io.EOF) && n == 0 && !r.open.none() {
		<-r.open.answered
	}
	return n, err
}

type answers struct {
	io.WriteCloser
	open  *open
	lines lines
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.WriteCloser.Write(p)
	a.lines.each(p[:n], func(request bool) {
		if !request {
			a.open.add(-1)
		}
	})
	if err != nil {
		a.open.add(-a.open.n) // nobody reads any more
	}
	return n, err
}
