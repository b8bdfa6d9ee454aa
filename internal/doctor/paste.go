package doctor

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// The caps on a paste. What is beyond is left out, and said so.
const (
	maxPaste = 128 << 20 // bytes read of one text
	maxLine  = 4 << 10   // bytes of a line that are looked at; the rest as further lines
	maxHits  = 4         // lines kept per message
	joinable = 1 << 20   // below this size lines are also looked at in pairs: a terminal may have wrapped them
)

// A Reader turns pasted text into a [Case]. The zero Reader is not usable.
type Reader struct {
	c     *Case
	k     *Knowledge
	pass  *pass
	parts map[int]Said // clue parts found
	count map[int]int  // lines per message

	file  string
	line  int
	prev  string // the line before, cleaned
	whole string // the line that is read
	wait  string // the variable that `echo` asked for, whose value is the next line
	read  int64
	odd   int // bytes that are not text
}

// NewReader returns a reader of pasted text.
func NewReader(k *Knowledge) *Reader {
	c := &Case{Pasted: true, facts: map[string]Said{}}
	return &Reader{c: c, k: k, pass: k.scanner.start(), parts: map[int]Said{}, count: map[int]int{}}
}

// Read takes in one text; name is that of its file, "" where there is but one.
// It streams: of a log of any size only what matters is kept. Its error is that
// of reading.
func (r *Reader) Read(name string, in io.Reader) error {
	r.file, r.line, r.prev, r.read, r.odd = name, 0, "", 0, 0
	b := bufio.NewReaderSize(io.LimitReader(in, maxPaste+1), 64<<10)
	for {
		chunk, err := b.ReadSlice('\n')
		r.read += int64(len(chunk))
		if r.read > maxPaste {
			r.note("only the first 128 MiB were read")
			return nil
		}
		long := errors.Is(err, bufio.ErrBufferFull)
		if len(chunk) > 0 {
			r.line++
			r.take(string(chunk))
		}
		if long {
			r.line-- // the same line goes on
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if r.read > 512 && r.odd > int(r.read/3) {
		r.note("this does not look like text")
	}
	return nil
}

// Case returns what was read.
func (r *Reader) Case() *Case {
	r.clues()
	r.c.conclude()
	return r.c
}

func (r *Reader) note(text string) {
	if r.file != "" {
		text = r.file + ": " + text
	}
	r.c.Notes = append(r.c.Notes, text)
}

// take looks at one line as it came, in pieces where it is long or holds escaped
// line breaks (a log written as JSON).
func (r *Reader) take(raw string) {
	raw = strings.TrimRight(raw, "\r\n")
	r.odd += strings.Count(raw, "\x00")
	if !utf8.ValidString(raw) {
		valid := strings.ToValidUTF8(raw, "\uFFFD")
		r.odd += strings.Count(valid, "\uFFFD")
		raw = valid
	}
	if len(raw) > 400 && strings.Count(raw, `\n`) > 3 {
		for piece := range strings.SplitSeq(raw, `\n`) {
			r.piece(piece)
		}
		return
	}
	for len(raw) > maxLine {
		r.piece(raw[:maxLine])
		raw = raw[maxLine-200:]
	}
	r.piece(raw)
}

func (r *Reader) piece(raw string) {
	l := clean(raw)
	if l == "" {
		r.wait = ""
		r.blank()
		return
	}
	said := Said{File: r.file, Line: r.line, Text: clip(strings.TrimSpace(l), 160)}
	if r.wait != "" {
		r.variable(r.wait, unprompt(l), said)
		r.wait = ""
	}
	r.try(l, said, false)
	if r.prev != "" && r.read < joinable {
		before := Said{File: r.file, Line: r.line - 1, Text: clip(strings.TrimSpace(r.prev)+" "+strings.TrimSpace(l), 160)}
		r.try(tail(r.prev, 300)+" "+strings.TrimSpace(head(l, 300)), before, true)
	}
	r.prev = l
}

// try matches a line. Of the messages only the first counts. Two lines joined
// yield messages and parts of clues that neither line held alone, and no facts.
func (r *Reader) try(l string, said Said, joined bool) {
	matched := false
	r.whole = l
	for _, n := range r.pass.candidates(l) {
		t := r.pass.tests[n]
		switch {
		case t.message >= 0:
			if matched || r.count[n] > 1000 || joined && r.count[n] > 0 {
				continue
			}
			if m := t.re().FindStringSubmatch(l); m != nil {
				matched = !joined || !r.already(said.Line, t.message)
				if matched {
					r.hit(n, m, said)
				}
			}
		case t.clue >= 0:
			if _, found := r.parts[t.clue]; !found && t.re().MatchString(l) {
				r.parts[t.clue] = said
			}
		case !joined:
			if m := t.re().FindStringSubmatch(l); m != nil {
				r.c.Evidence++
				readers[t.reader].read(r, m, said)
			}
		}
	}
}

// already reports whether either line of a pair held a message of its own: then
// the pair says nothing more.
func (r *Reader) already(line, message int) bool {
	for i := len(r.c.Hits) - 1; i >= 0 && i >= len(r.c.Hits)-3; i-- {
		if h := r.c.Hits[i]; h.Said.Line >= line {
			return true
		}
	}
	return false
}

func (r *Reader) hit(n int, m []string, said Said) {
	t := r.pass.tests[n]
	r.count[n]++
	r.c.Evidence++
	if r.count[n] > maxHits {
		return
	}
	h := Hit{Message: r.k.Messages[t.message], Said: said, Count: 1}
	for i, name := range t.re().SubexpNames() {
		if name != "" && m[i] != "" {
			if h.Captures == nil {
				h.Captures = map[string]string{}
			}
			h.Captures[name] = m[i]
		}
	}
	r.c.Hits = append(r.c.Hits, h)
}

// clues turns the parts found into the clues that are complete.
func (r *Reader) clues() {
	for i, c := range r.k.Clues {
		var said []Said
		all := true
		for j := range c.All {
			s, ok := r.parts[i*maxParts+j]
			all = all && ok
			said = append(said, s)
		}
		for j := range c.None {
			if _, ok := r.parts[i*maxParts+len(c.All)+j]; ok {
				all = false
			}
		}
		if all {
			r.c.Evidence++
			r.c.Clues = append(r.c.Clues, ClueHit{Clue: c, Said: said})
		}
	}
}

func head(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

func tail(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}
