package mcpserver

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A sieve lets the lines through that are messages and answers the others itself, as
// JSON-RPC has it: one line that is none would end the connection, and with it every
// request that waits. A batch, which the protocol no longer has, goes on as its messages.
type sieve struct {
	io.Closer
	lines *bufio.Scanner
	ready bytes.Buffer // what was let through and not read yet
	out   io.Writer
}

func newSieve(in io.ReadCloser, out io.Writer) *sieve {
	s := &sieve{Closer: in, lines: bufio.NewScanner(in), out: out}
	s.lines.Buffer(nil, mcp.DefaultMaxLineLength)
	return s
}

func (s *sieve) Read(p []byte) (int, error) {
	for s.ready.Len() == 0 {
		if !s.lines.Scan() {
			return 0, cmp.Or(s.lines.Err(), io.EOF)
		}
		line := bytes.TrimSpace(s.lines.Bytes())
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
			batch = []json.RawMessage{line}
		}
		for _, message := range batch {
			if err := s.pass(message); err != nil {
				return 0, err
			}
		}
	}
	return s.ready.Read(p)
}

// pass lets a message through, or answers it. An empty line is no message.
func (s *sieve) pass(message []byte) error {
	if len(message) == 0 {
		return nil
	}
	_, err := jsonrpc.DecodeMessage(message)
	if err == nil {
		s.ready.Write(message)
		return s.ready.WriteByte('\n')
	}
	refused := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{Version: "2.0", Error: jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "this line is no JSON: one message a line"}}
	if json.Valid(message) {
		refused.Error = jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this is no message of JSON-RPC 2.0"}
		var asked struct{ ID json.RawMessage }
		_ = json.Unmarshal(message, &asked) // where it is an object and has one
		refused.ID = asked.ID
	}
	answer, err := json.Marshal(refused)
	if err == nil {
		_, err = s.out.Write(append(answer, '\n'))
	}
	return err
}

// oneByOne has whole lines written by several.
type oneByOne struct {
	io.WriteCloser
	mu sync.Mutex
}

func (w *oneByOne) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}
