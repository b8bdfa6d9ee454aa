package sysroot

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// ReadFile returns the first part of a regular file, at most limit bytes; nil where there
// is none.
func ReadFile(path string, limit int64) []byte { return readFrom(path, 0, limit) }

// ReadTail returns the last part of a regular file; nil where there is none.
func ReadTail(path string, limit int64) []byte { return readFrom(path, -limit, limit) }

// readFrom is ReadFile from so many bytes before the end on; 0 is the beginning. O_NONBLOCK: a FIFO in its place must not stall us.
func readFrom(path string, from, limit int64) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil || !i.Mode().IsRegular() {
		return nil
	}
	if from < 0 {
		from, err = f.Seek(max(i.Size()+from, 0), io.SeekStart)
	}
	// Files of /proc say that they are empty: read until the end shows.
	b := bytes.NewBuffer(make([]byte, 0, min(limit, i.Size()-from)+bytes.MinRead))
	if _, more := b.ReadFrom(io.LimitReader(f, limit)); err != nil || more != nil {
		return nil
	}
	return b.Bytes()
}

// lastPart is looked at first by Search: glibc's banner stands behind its code, in the
// last 250 KB of 1.9 MB.
const lastPart = 384 << 10

// Search looks for a mark in a file of megabytes and returns the mark and the 400
// bytes behind it; nil where it is not found.
func Search(path string, mark []byte) []byte {
	for _, from := range []int64{-lastPart, 0} {
		data := readFrom(path, from, MaxFile)
		if i := bytes.Index(data, mark); i >= 0 {
			return data[i:min(len(data), i+400+len(mark))]
		}
	}
	return nil
}

// soon is how long files that were read lately, or lie on a quick disk, may take.
const soon = 5 * time.Millisecond

// Each calls read for every name and returns the results in order: one after the other
// while that is quick, since goroutines that wait for each other take time of their own,
// and four at a time where a disk or a network lets wait.
func Each[T any](names []string, read func(name string) T) []T {
	return eachWithin(soon, names, read)
}

func eachWithin[T any](patience time.Duration, names []string, read func(name string) T) []T {
	out := make([]T, len(names))
	done := 0
	for begin := time.Now(); done < len(names) && time.Since(begin) < patience; done++ {
		out[done] = read(names[done])
	}
	var g errgroup.Group
	g.SetLimit(4)
	for i := done; i < len(names); i++ {
		g.Go(func() error {
			out[i] = read(names[i])
			return nil
		})
	}
	_ = g.Wait() // no call gives an error
	return out
}
