package update

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// memory is a file system of bytes that were verified: what is read from it
// cannot have changed since.
type memory map[string][]byte

// Open returns a file, or a directory of the names above it.
func (m memory) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if b, ok := m[name]; ok {
		return &memoryFile{Reader: bytes.NewReader(b), info: info{name: path.Base(name), size: len(b)}}, nil
	}
	entries, err := m.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &memoryDir{info: info{name: path.Base(name), dir: true}, entries: entries}, nil
}

// ReadDir lists a directory.
func (m memory) ReadDir(name string) ([]fs.DirEntry, error) {
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	seen := map[string]info{}
	for file, b := range m {
		rest, ok := strings.CutPrefix(file, prefix)
		if !ok {
			continue
		}
		base, _, isDir := strings.Cut(rest, "/")
		seen[base] = info{name: base, dir: isDir, size: len(b)}
	}
	if len(seen) == 0 && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	var entries []fs.DirEntry
	for _, i := range seen {
		entries = append(entries, fs.FileInfoToDirEntry(i))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

type memoryFile struct {
	*bytes.Reader
	info info
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFile) Close() error               { return nil }

type memoryDir struct {
	info    info
	entries []fs.DirEntry
}

func (d *memoryDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *memoryDir) Close() error               { return nil }
func (d *memoryDir) Read([]byte) (int, error)   { return 0, fs.ErrInvalid }
func (d *memoryDir) ReadDir(int) (entries []fs.DirEntry, _ error) {
	entries, d.entries = d.entries, nil
	return entries, nil
}

type info struct {
	name string
	size int
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(i.size) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
