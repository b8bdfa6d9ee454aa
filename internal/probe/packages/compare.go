package packages

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/pylex"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A comparison is that of one distribution's RECORD with the disk.
type comparison struct {
	h      *sysroot.Host
	d      *machine.DistFiles
	site   string // the directory of packages, with a slash
	record []byte
	after  time.Time // what is younger was written to since
	put    time.Time // when RECORD came to its place, whatever time it was given
	byPip  bool
	dirs   map[string]map[string]bool // the names in each directory
	read   int                        // sources that were read for their hash
	young  []machine.RecordFile       // libraries that were written to since
	late   []machine.RecordFile       // files that keep their time, and came to their place since
	seen   int                        // files that were looked at
}

// compare looks at one file of RECORD.
func (c *comparison) compare(f machine.RecordFile) {
	file := c.site + path.Clean(f.Path)
	dir, name := path.Split(file)
	names := c.names(dir)
	switch {
	case !names[name] && (len(names) > 0 || !c.h.Exists(file)): // a directory may be one that cannot be listed
		c.absent(file)
	case path.Base(dir) == "bin" && c.h.Root == "" && c.h.OS != "windows" && path.Ext(name) == "" && !c.h.IsProgram(file) &&
		python.TorchSet().MatchString(c.d.Name):
		c.d.Closed = append(c.d.Closed, text.Printable(file))
	case c.byPip && f.Size > 0 && len(c.d.Resized) < sysroot.MaxNamed && judged(file):
		c.content(file, f)
	}
}

// hidden finds what Python takes in place of a module, a package or machine code of its name, and RECORD does not know: another
// version left it there.
func (c *comparison) hidden(tag string) {
	for dir, names := range c.dirs {
		for name := range names {
			stem, ext, code := strings.Cut(name, ".")
			if code && ext != "so" && ext != "abi3.so" && !(strings.HasPrefix(ext, tag+"-") && strings.HasSuffix(ext, ".so")) || !names[stem+".py"] {
				continue
			}
			first := dir + name + say.If(!code, "/__init__.py")
			if (code || c.h.Exists(first)) && !machine.Lists(c.record, first[len(c.site):]) && len(c.d.Hides) < sysroot.MaxNamed {
				c.d.Hides = append(c.d.Hides, text.Printable(dir+name))
			}
		}
	}
	slices.Sort(c.d.Hides)
}

// names are those in a directory: one directory costs less than a question for each of its files.
func (c *comparison) names(dir string) map[string]bool {
	names, read := c.dirs[dir]
	if !read {
		names = xslices.Set(c.h.Unsorted(dir), func(name string) string { return name })
		c.dirs[dir] = names
	}
	return names
}

// absent notes a file that is not there, or that this user may not see.
func (c *comparison) absent(file string) {
	for at := file; refused(os.Stat(c.h.Real(at))); at = path.Dir(at) {
		c.d.Barred = text.Printable(path.Dir(at))
	}
	c.d.Absent++
	if n := len(c.d.Missing); n < 100 || isLibrary(file) && n < 1000 {
		c.d.Missing = append(c.d.Missing, text.Printable(file))
	}
}

// content notes a file that is not as it was installed, or that this user may not read.
func (c *comparison) content(file string, f machine.RecordFile) {
	i, err := os.Stat(c.h.Real(file))
	c.seen++
	switch depth := strings.Count(file[len(c.site):], "/") + 1; {
	case errors.Is(err, fs.ErrNotExist): // a link to nothing
		c.absent(file)
	case err != nil:
	case altered(c.h, file, i, f.Size, depth):
		c.d.Resized = append(c.d.Resized, text.Printable(file))
	case isSource(file) && i.Mode()&0o004 == 0 && refused(os.ReadFile(c.h.Real(file))): // few are closed to others
		c.d.Barred, c.d.Absent = text.Printable(file), c.d.Absent+1
	case isSource(file) && (c.isYoung(i) || i.Size() != f.Size):
		c.rewritten(file, f.Hash)
	case isLibrary(file) && c.isYoung(i):
		c.young = append(c.young, f)
	case !c.put.IsZero() && changed(i).After(c.put.Add(settled)):
		c.late = append(c.late, f)
	}
}

// isYoung reports whether a file was written to since its package was installed, or is to be read whatever its time.
func (c *comparison) isYoung(i os.FileInfo) bool { return c.h.Whole || i.ModTime().After(c.after) }

// lateFiles takes those that came after RECORD for written to, where that are few: a copy of the whole, a cache that drops
// its names and a change of owner move most of a package at once.
func (c *comparison) lateFiles() {
	if 2*len(c.late) > c.seen {
		return
	}
	for _, f := range c.late {
		if file := c.site + path.Clean(f.Path); isSource(file) {
			c.rewritten(file, f.Hash)
		} else if isLibrary(file) {
			c.young = append(c.young, f)
		}
	}
}

// youngLibraries reads for their hashes the libraries that were written to after their package was
// installed, where that are few: of a copy that kept no times all are.
func (c *comparison) youngLibraries() {
	if len(c.young) > 2 && !c.h.Whole {
		return
	}
	for _, f := range c.young {
		file := c.site + path.Clean(f.Path)
		if sum, known := strings.CutPrefix(f.Hash, "sha256="); known && f.Size < mostHashed && !hashed(c.h.Real(file), sum) {
			c.d.Resized, c.d.Damaged = append(c.d.Resized, text.Printable(file)), true
		}
	}
}

// refused reports whether a question about a file was: this user may not read it, or not enter a directory above it.
func refused[T any](_ T, err error) bool { return errors.Is(err, fs.ErrPermission) }

// mostRead bounds the sources whose hashes are taken: a copy that kept no times has all of them younger (torch: 2500, 18 MB).
const mostRead = 4000

// rewritten looks at a source that has another size, or was written to after it was installed. Other ends of lines change nothing.
func (c *comparison) rewritten(file, hash string) {
	sum, known := strings.CutPrefix(hash, "sha256=")
	if !known || len(sum) != len(emptyHash)-len("sha256=") || c.read == mostRead || len(c.d.Rewritten) == sysroot.MaxNamed {
		return
	}
	c.read++
	code := c.h.Bytes(file, sysroot.MaxFile)
	plain := bytes.ReplaceAll(code, []byte("\r\n"), []byte("\n"))
	switch {
	case digest(code) == sum, digest(plain) == sum:
	case pylex.Whole(string(plain)):
		c.d.Rewritten = append(c.d.Rewritten, text.Printable(file))
	default:
		c.d.Resized = append(c.d.Resized, text.Printable(file))
	}
}

// judged reports whether the content of a file counts.
func judged(file string) bool { return isSource(file) || isLibrary(file) || isMetadata(file) }

// isMetadata reports whether a file describes a distribution: what asks for its version fails where it is empty.
func isMetadata(file string) bool { return strings.HasSuffix(file, ".dist-info/METADATA") }

func isSource(file string) bool {
	return strings.HasSuffix(file, ".py") && !strings.Contains(file, "/test")
}

// block is what a file is written by: one that was cut off ends with a whole one.
const block = 4096

// altered reports whether a file is not the one of that size which was installed: a library of
// another size; a source that is empty or cut off, which somebody's own changes are not, or
// that holds zeros after a loss of power. Those that are deep in a package are not opened.
func altered(h *sysroot.Host, file string, i os.FileInfo, size int64, depth int) bool {
	switch {
	case isMetadata(file):
		return i.Size() < size
	case !isSource(file):
		return isLibrary(file) && size != i.Size()
	case i.Size() < size:
		return i.Size()%block == 0
	}
	return depth <= 2 && bytes.HasPrefix(h.Bytes(file, 1), []byte{0})
}
