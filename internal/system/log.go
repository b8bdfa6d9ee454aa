package system

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"envfix/internal/lazy"
	"envfix/internal/text"
)

// maxLog ends what is kept of one program's output; some print for ever.
const maxLog = 32 << 20

// A Log is the file that keeps a program's output, readable to its owner alone.
type Log struct {
	f    *os.File
	left int64
}

// OpenLog creates path, which must not exist, below a directory that is ours.
func OpenLog(root *os.Root, path string) (*Log, error) {
	f, err := root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{f: f, left: maxLog}, nil
}

// Line adds one line. A full disk does not end the program that is logged.
func (l *Log) Line(s string) {
	if l == nil || l.left <= 0 {
		return
	}
	n, err := fmt.Fprintln(l.f, s)
	l.left -= int64(n)
	if err != nil {
		l.left = 0
	} else if l.left <= 0 {
		fmt.Fprintf(l.f, "(cut off after %d MiB)\n", maxLog>>20)
	}
}

// Close closes the file.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}

// tailLines is how much of a failing program's output is shown.
const tailLines = 20

// longLine is where a line without an end is cut.
const longLine = 64 << 10

// lines takes a program's output and passes it on line by line, so that nothing
// is redacted by halves and no escape sequence reaches a terminal.
type lines struct {
	mu      sync.Mutex
	out     io.Writer
	log     *Log
	secrets []string
	drawn   bool // on a terminal of the program's own
	buf     []byte
	tail    []string
	seen    int64 // bytes
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen += int64(len(p))
	l.buf = append(l.buf, p...)
	for {
		end, next := longLine, longLine
		if i := bytes.IndexAny(l.buf, "\n\r"); i >= 0 {
			end, next = i, i+1
		} else if len(l.buf) < longLine {
			return len(p), nil
		} else if blank := bytes.LastIndexByte(l.buf[:longLine], ' '); blank > 0 { // no address is cut in two
			end, next = blank, blank
		}
		l.line(string(l.buf[:end]))
		l.buf = l.buf[next:]
	}
}

// moves is what moves on a terminal or empties its lines, and drawing what is drawn there.
var (
	moves   = lazy.Regexp(`\x1b\[[0-9;?]*[A-Za-z]`)
	drawing = lazy.Regexp(`^[\x{2800}-\x{28FF}█░]`)
)

func (l *lines) line(s string) {
	if l.drawn {
		s = moves().ReplaceAllString(s, "")
		if drawing().MatchString(s) {
			if l.out != nil {
				fmt.Fprintln(l.out, text.Printable(s))
			}
			return
		}
	}
	s = text.Printable(text.Redact(s, l.secrets...))
	if strings.TrimSpace(s) == "" {
		return
	}
	if l.tail = append(l.tail, s); len(l.tail) > tailLines {
		l.tail = l.tail[1:]
	}
	l.log.Line(s)
	if l.out != nil {
		fmt.Fprintln(l.out, s)
	}
}

// Close passes on what came without a line's end.
func (l *lines) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(string(l.buf))
	l.buf = nil
}

// Seen returns how many bytes came.
func (l *lines) Seen() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

func (l *lines) Tail() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tail)
}
