package read

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"envfix/internal/doctor/know"
	"envfix/internal/say"
	"envfix/internal/text"
)

// The caps on a paste. What is beyond is left out, and said so.
const (
	maxPaste   = 128 << 20 // bytes read of one text
	maxLine    = 4 << 10   // bytes of a line that are looked at; the rest as further lines
	maxHits    = 4         // lines kept per message
	joinable   = 64 << 10  // within these bytes lines are also looked at in pairs (a terminal may have wrapped them)
	wrapped    = 50        // a line of so many characters may go on in the next
	terminal   = 76        // a line of so many characters may have been cut within a word
	wordy      = 512 << 10 // within these bytes people's own words count; what is longer is a log
	shortText  = 30        // lines that may leave out what they speak of
	alike      = 2         // beyond joinable, lines that differ in numbers alone are looked at so often
	often      = 24        // and so often within it
	paired     = 4         // and so often with the line before
	shapes     = 1 << 16   // shapes of lines remembered
	budget     = 6 << 20   // bytes that expressions are tried on, and as many at the end: a log of 10 MB takes 1 MB
	maxPrinted = 64        // lines kept that are known as a program's
	inAnswer   = 8         // lines after a question within which its answer stands
	remembered = 2 << 10   // lines of which what came of them is remembered
)

// A Reader turns pasted text into a [Case]. The zero Reader is not usable.
type Reader struct {
	c     *Case
	k     *know.Knowledge
	pass  *know.Pass
	words map[int][]int // per test of a part of a clue: the kept lines that hold one of its literals
	kept  []kept
	count map[int]int // lines per message

	answered []bool // per reader of facts: a line answered it

	deploy containers

	uninstalled   string // the torch that pip takes away
	uninstalledAt Evidence

	told  bool // facts of a machine were read
	full  bool // no more is read
	uuids bool // the list of GPUs is that of nvidia-smi -L
	file  string
	line  int
	prev  string // the line before, cleaned
	whole string // the line that is read
	frame frame  // of the traceback that is read
	doc   document
	asked int    // the line that last asked for the driver
	wait  string // the variable that `echo` asked for, whose value is the next line
	read  int64
	seen  map[uint64]int8    // lines by their shape
	spent int                // bytes that expressions were tried on
	tried map[string][]trial // of this text: lines, and what came of each expression worth trying
	times int                // how often a line of this one's shape was looked at before

	showing string // the package of which `pip show` speaks
	lines   int    // of all texts
}

// NewReader returns a reader of pasted text.
func NewReader(k *know.Knowledge) *Reader {
	c := &Case{Pasted: true}
	return &Reader{
		c: c, k: k, pass: k.Scanner().Start(), words: map[int][]int{}, count: map[int]int{},
		seen: map[uint64]int8{}, answered: make([]bool, len(k.Readers)),
	}
}

// Read takes in one text; name is that of its file, "" where there is but one.
// It streams: of a log of any size only what matters is kept. Its error is that
// of reading.
func (r *Reader) Read(name string, in io.Reader) error {
	r.file, r.line, r.prev, r.read, r.tried = name, 0, "", 0, map[string][]trial{}
	b := bufio.NewReaderSize(io.LimitReader(in, maxPaste+1), 64<<10)
	start, _ := b.Peek(documentStart)
	r.doc = documentOf(string(start))
	start = start[:min(len(start), 4<<10)]
	switch {
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}), bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return r.wide(b) // PowerShell writes what is redirected so
	case binary(start):
		r.note("this is not text; it was left out")
		return nil
	}
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
			r.lines++
			r.take(bytes.TrimRight(chunk, "\r\n"))
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
	if r.doc.told {
		r.note("this is a document: what its sentences speak of was left out, what its blocks of code show was read")
	}
	return nil
}

// wide reads text of two bytes a character.
func (r *Reader) wide(in io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(in, 4<<20))
	if err != nil {
		return err
	}
	return r.Read(r.file, bytes.NewReader(text.UTF8(raw)))
}

// binary reports whether bytes are no text: a zero byte, or one byte in ten that
// belongs to no character.
func binary(b []byte) bool {
	bad := 0
	for s := b; len(s) > 0; {
		c, n := utf8.DecodeRune(s)
		if c == 0 || c == utf8.RuneError && n == 1 && len(s) > utf8.UTFMax {
			bad++
		}
		s = s[n:]
	}
	return bytes.IndexByte(b, 0) >= 0 && bad > len(b)/100 || bad > len(b)/10
}

// Case returns what was read.
func (r *Reader) Case() *Case {
	r.clues()
	r.forgetOthers()
	r.c.Containers.Workloads = r.deploy.out
	r.c.Containers.Image = Dockerfile{
		r.deploy.file, r.deploy.base, r.deploy.cpuIndex, r.deploy.driver, r.deploy.buildCheck,
	}
	r.c.Says.Trouble = r.c.Subject.Trouble && !r.c.Subject.Wishes && r.c.Subject.GPU && r.lines <= shortText
	r.c.Says.Asks = r.c.Subject.Asks
	r.c.conclude(r.told)
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
func (r *Reader) take(line []byte) {
	limit := say.Either(r.read > joinable, alike, often)
	if r.stale(line, limit) || exhausted(r) {
		return
	}
	raw := string(line)
	if !utf8.ValidString(raw) {
		raw = strings.ToValidUTF8(raw, "\uFFFD")
	}
	if len(raw) > 400 && strings.Count(raw, `\n`) > 3 {
		for piece := range strings.SplitSeq(raw, `\n`) {
			r.piece(piece)
		}
		return
	}
	for len(raw) > maxLine {
		r.piece(raw[:maxLine])
		if exhausted(r) {
			return
		}
		raw = raw[maxLine-200:]
	}
	r.piece(raw)
}

func (r *Reader) piece(raw string) {
	l := clean(raw)
	if r.doc.tells(l) || l == "" {
		r.wait = ""
		r.prev = ""
		return
	}
	said := Evidence{File: r.file, Line: r.line, Text: clip(strings.TrimSpace(l), 160)}
	if r.wait != "" {
		r.variable(r.wait, unprompt(l), said)
		r.wait = ""
	}
	l = english(l)
	r.framed(l)
	r.try(l, said, false)
	if r.read <= wordy {
		r.container(l, said)
	}
	if len(r.prev) >= wrapped && r.read < joinable && r.times <= paired && !Quiet(l) {
		before := Evidence{
			File: r.file, Line: r.line - 1,
			Text: clip(strings.TrimSpace(r.prev)+" "+strings.TrimSpace(l), 160),
		}
		end, start := r.prev[max(0, len(r.prev)-300):], strings.TrimSpace(head(l, 300))
		r.try(end+" "+start, before, true)
		if len(r.prev) >= terminal {
			r.try(end+start, before, true)
		}
	}
	r.prev = l
}

func head(s string, n int) string { return s[:min(n, len(s))] }
