//go:build !unix

package probe

import (
	"bytes"
	"io"
	"os"
)

// readFile returns the first part of a regular file, at most limit bytes; nil
// where there is none.
func readFile(path string, limit int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil
	}
	return data
}

// search looks for a mark in a file of megabytes and returns the mark and the 400
// bytes behind it; nil where it is not found.
func search(path string, mark []byte) []byte {
	data := readFile(path, maxFile)
	i := bytes.Index(data, mark)
	if i < 0 {
		return nil
	}
	return data[i:min(len(data), i+400+len(mark))]
}

// readNames lists a directory in no order.
func readNames(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}
