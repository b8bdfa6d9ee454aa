package index

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"envfix/internal/xslices"
)

// tailSize is what is read from the end of a wheel first: enough for the end of
// the zip directory and the names of the .dist-info files in it.
const tailSize = 64 << 10

// A Wheel is a wheel on a server, open for reading single members.
type Wheel struct {
	File File
	Size int64 // as the server says

	c       *Client
	extent  extent
	members map[string]member
	names   []string // in the order of the directory
}

// Open reads the zip directory of a wheel.
func (c *Client) Open(ctx context.Context, f File) (*Wheel, error) {
	w, tail, err := c.open(ctx, f)
	if err != nil {
		return nil, err
	}
	// The part before the tail, if any.
	var head []byte
	from := w.Size - int64(len(tail))
	if missing := min(from, w.extent.offset+w.extent.size) - w.extent.offset; missing > 0 {
		if head, err = w.span(ctx, w.extent.offset, missing); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		tail = tail[:w.extent.size-missing]
	} else {
		tail = tail[w.extent.offset-from:][:w.extent.size]
	}
	members, err := readDirectory(append(head, tail...), w.extent)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	w.keep(members)
	return w, nil
}

// OpenTail reads only the last entries of the zip directory of a wheel, where
// its .dist-info files are. Where they are not there, it reads the whole one.
func (c *Client) OpenTail(ctx context.Context, f File) (*Wheel, error) {
	w, tail, err := c.open(ctx, f)
	if err != nil {
		return nil, err
	}
	from := w.Size - int64(len(tail))
	if from <= w.extent.offset {
		return c.Open(ctx, f)
	}
	w.keep(lastEntries(tail[:w.extent.offset+w.extent.size-from], w.extent))
	if _, ok := w.distInfo("METADATA"); !ok {
		return c.Open(ctx, f)
	}
	return w, nil
}

func (c *Client) open(ctx context.Context, f File) (*Wheel, []byte, error) {
	w := &Wheel{File: f, c: c}
	tail, r, err := c.get(ctx, f.URL, request{offset: -1, length: tailSize})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	w.Size = r.total
	if w.extent, err = findDirectory(tail, w.Size); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return w, tail, nil
}

func (w *Wheel) keep(members []member) {
	w.members = make(map[string]member, len(members))
	for _, m := range members {
		w.members[m.name] = m
		w.names = append(w.names, m.name)
	}
}

// MemberSize returns the uncompressed size of a member, or -1 where there is
// none.
func (w *Wheel) MemberSize(name string) int64 {
	if m, ok := w.members[name]; ok {
		return m.size
	}
	return -1
}

// distInfo returns the member of that name in the wheel's .dist-info directory.
func (w *Wheel) distInfo(name string) (string, bool) {
	return xslices.Find(w.names, func(n string) bool {
		dir, base, _ := strings.Cut(n, "/")
		return base == name && strings.HasSuffix(dir, ".dist-info")
	})
}

func (w *Wheel) span(ctx context.Context, offset, n int64) ([]byte, error) {
	b, r, err := w.c.get(ctx, w.File.URL, request{offset: offset, length: n})
	if err == nil && r.total != w.Size {
		err = fmt.Errorf("the file changed while it was read: %d bytes, then %d", w.Size, r.total)
	}
	return b, err
}

// Read returns a whole member of at most limit bytes, its checksum verified.
func (w *Wheel) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	m, ok := w.members[name]
	if !ok {
		return nil, fmt.Errorf("%s: it holds no %s", w.File.Name, shown(name))
	}
	if m.size > limit {
		return nil, fmt.Errorf("%s: %s has %d bytes, more than %d are not read", w.File.Name, shown(name), m.size, limit)
	}
	var b bytes.Buffer
	err := w.Stream(ctx, name, 256<<10, func(p []byte) error { b.Write(p); return nil })
	return b.Bytes(), err
}

// ErrStop, returned by the function that [Wheel.Stream] calls, ends the reading
// without an error.
var ErrStop = errors.New("enough was read")

// Stream inflates a member piece by piece, fetching about step compressed bytes
// at a time, and gives every piece to f. A member read to its end must have the
// size and checksum that the directory announced.
func (w *Wheel) Stream(ctx context.Context, name string, step int64, f func([]byte) error) error {
	m, ok := w.members[name]
	if !ok {
		return fmt.Errorf("%s: it holds no %s", w.File.Name, shown(name))
	}
	err := w.stream(ctx, m, step, f)
	if errors.Is(err, ErrStop) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", w.File.Name, shown(name), err)
	}
	return nil
}

func (w *Wheel) stream(ctx context.Context, m member, step int64, f func([]byte) error) error {
	src := &spans{ctx: ctx, w: w, m: m, step: step}
	if err := src.header(); err != nil {
		return err
	}
	var r io.Reader = src
	switch m.method {
	case 0:
	case 8:
		r = flate.NewReader(src)
	default:
		return fmt.Errorf("compressed by method %d, which no wheel uses", m.method)
	}
	sum, n := crc32.NewIEEE(), int64(0)
	buf := make([]byte, 256<<10)
	for {
		k, err := r.Read(buf)
		n += int64(k)
		if n > m.size {
			return fmt.Errorf("inflates to more than the announced %d bytes", m.size)
		}
		sum.Write(buf[:k])
		if k > 0 {
			if err := f(buf[:k]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return src.explain(err)
		}
	}
	switch {
	case n != m.size:
		return fmt.Errorf("inflates to %d bytes, announced were %d", n, m.size)
	case sum.Sum32() != m.crc:
		return fmt.Errorf("its checksum (CRC-32) is wrong")
	}
	return nil
}

// spans reads the compressed bytes of a member by range requests.
type spans struct {
	ctx  context.Context
	w    *Wheel
	m    member
	step int64

	buf   []byte
	next  int64 // offset in the file
	left  int64 // compressed bytes not yet asked for
	fault error // of the last request
}

// header reads the local header, which must agree with the directory, and the
// first bytes behind it.
func (s *spans) header() error {
	// The local header's name is as long as the directory's; its extra field may
	// differ, so a little more is asked for.
	n := min(localSize+int64(len(s.m.name))+512+min(s.m.compressed, s.step), s.w.extent.offset-s.m.offset)
	b, err := s.w.span(s.ctx, s.m.offset, n)
	if err != nil {
		return err
	}
	if int64(len(b)) < localSize || !bytes.HasPrefix(b, []byte(localMagic)) {
		return errors.New("the zip directory points to something else")
	}
	nameLen, extraLen := int64(u16(b, 26)), int64(u16(b, 28))
	if u16(b, 8) != s.m.method || nameLen != int64(len(s.m.name)) || localSize+nameLen > n || string(b[localSize:localSize+nameLen]) != s.m.name {
		return errors.New("the zip directory and the file itself disagree")
	}
	data := localSize + nameLen + extraLen
	if s.m.offset+data+s.m.compressed > s.w.extent.offset {
		return errors.New("it would lie beyond the zip directory")
	}
	s.next, s.left = s.m.offset+data, s.m.compressed
	if data < n {
		s.buf = b[data:min(n, data+s.m.compressed)]
		s.next += int64(len(s.buf))
		s.left -= int64(len(s.buf))
	}
	return nil
}

func (s *spans) Read(p []byte) (int, error) {
	if len(s.buf) == 0 {
		if s.left == 0 {
			return 0, io.EOF
		}
		n := min(s.left, s.step)
		if s.buf, s.fault = s.w.span(s.ctx, s.next, n); s.fault != nil {
			return 0, s.fault
		}
		s.next += n
		s.left -= n
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	return n, nil
}

// ReadByte saves package flate a buffer of its own.
func (s *spans) ReadByte() (byte, error) {
	if len(s.buf) > 0 {
		b := s.buf[0]
		s.buf = s.buf[1:]
		return b, nil
	}
	var b [1]byte
	_, err := s.Read(b[:])
	return b[0], err
}

// explain says why inflating ended: the request's error, else broken data.
func (s *spans) explain(err error) error {
	if s.fault != nil {
		return s.fault
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("its compressed bytes end early")
	}
	return errors.New("its compressed bytes are broken")
}
