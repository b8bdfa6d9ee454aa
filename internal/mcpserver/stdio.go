package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is the protocol on a pair of pipes, one message a line. The end of the input
// is passed on when every request has its answer: a client that pipes its requests in
// and closes (`printf … | envfix mcp`) would lose those that are still at work.
func Stdio(in io.ReadCloser, out io.WriteCloser) mcp.Transport {
	line := &oneByOne{WriteCloser: out}
	return patient{&mcp.IOTransport{Reader: newSieve(in, line), Writer: line}}
}

type patient struct{ mcp.Transport }

func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &counted{Connection: c, open: sync.NewCond(&sync.Mutex{})}, err
}

// counted counts the requests that have no answer yet.
type counted struct {
	mcp.Connection
	open *sync.Cond
	n    int
}

func (c *counted) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	c.open.L.Lock()
	defer c.open.L.Unlock()
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.n++
	}
	for errors.Is(err, io.EOF) && c.n > 0 {
		c.open.Wait()
	}
	return m, err
}

func (c *counted) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.open.L.Lock()
	defer c.open.L.Unlock()
	if _, answer := m.(*jsonrpc.Response); answer {
		c.n--
	}
	if err != nil {
		c.n = 0 // nobody reads any more
	}
	c.open.Broadcast()
	return err
}
