package packages

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// Files reads every copy of the distributions; the files of those that torch imports
// are compared with the disk.
func Files(h *sysroot.Host, sites []string, e python.Env) []machine.DistFiles {
	infos, _ := python.Infos(h, sites, ".dist-info")
	read := map[string]python.Dist{}
	for _, d := range e.Dists {
		read[d.Info] = d
	}
	imported, abi := python.Needs(e.Dists, "torch"), "cp"+strings.ReplaceAll(version.Minor(e.Python.Version), ".", "")
	return sysroot.Each(infos, func(info string) machine.DistFiles {
		d, ok := read[info]
		if !ok {
			d = python.ReadDist(h, info)
		}
		f := machine.DistFiles{Name: d.Name, Version: d.Listed, Info: text.Printable(info), Requires: d.Needs}
		f.Installer = python.Installer(h, info)
		f.Gone = movedSource(h, info)
		if d.Name == "torch" {
			f.Module = d.Module
		}
		if module := python.Backend(h, info); module != "" && !python.HasModule(h, sites, module) {
			f.Backend = module
		}
		wheel := h.Bytes(info+"/WHEEL", 4096)
		if m := wheelABI().FindSubmatch(wheel); m != nil && strings.TrimSuffix(string(m[1]), "t") != abi && abi != "cp" {
			f.ABI = string(m[1])
		}
		if platform := foreignPlatform(wheel, h.OS, runtime.GOARCH); platform != "" && h.Root == "" {
			f.ABI = platform
		}
		if python.TorchSet().MatchString(d.Name) || imported[d.Name] || d.Name == "numpy" {
			checkRecord(h, &f, info)
		}
		return f
	})
}

// wheelABI is the first tag of a wheel whose machine code is for one Python alone.
var wheelABI = lazy.Regexp(`(?m)^Tag: cp3\d+-(cp3\d+t?)-`)

// wheelPlatform is what a tag of a wheel says of systems: "manylinux_2_28_x86_64".
var wheelPlatform = lazy.Regexp(`(?m)^Tag: [^-\s]+-[^-\s]+-(\S+)$`)

// foreignPlatform is the platform of a wheel that is for another system or processor than
// this one; "" it is for this one, or for any.
func foreignPlatform(wheel []byte, os, arch string) string {
	last := ""
	for _, m := range wheelPlatform().FindAllSubmatch(wheel, -1) {
		last = string(m[1])
		ours := map[string]string{"linux": "linux", "macos": "macosx_", "darwin": "macosx_", "windows": "win"}[os]
		processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
		if last == "any" || ours == "" || processor == "" || strings.Contains(last, ours) && (os != "linux" || strings.HasSuffix(last, processor)) {
			return ""
		}
	}
	return last
}

// movedSource is where the sources of a distribution were that is installed in place of
// them (PEP 610), if they are not there any more; "" all is well.
func movedSource(h *sysroot.Host, info string) string {
	u := direct(h, info)
	if u.Dir == nil || !u.Dir.Editable {
		return ""
	}
	if dir := localPath(u.URL); dir != "" && !h.Exists(path.Join(dir, u.Subdirectory)) {
		return text.Printable(path.Join(dir, u.Subdirectory))
	}
	return ""
}

// emptyHash is RECORD's hash of a file that is empty.
const emptyHash = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"

// checkRecord compares RECORD with the disk: every file by existence, libraries and sources by
// size too; nothing is hashed. What conda installs has other sizes than the wheel
// that it was made of, so sizes count for pip and uv alone.
func checkRecord(h *sysroot.Host, d *machine.DistFiles, info string) {
	byPip := d.Installer == "pip" || d.Installer == "uv"
	data := h.Bytes(info+"/RECORD", sysroot.MaxFile)
	if len(data) == 0 {
		if byPip {
			d.Record = "missing or empty"
		}
		return
	}
	site, own := path.Dir(info), path.Base(info)+"/RECORD"
	var itself bool
	c := comparison{h, d, modified(h, info+"/RECORD").Add(settled), byPip, map[string]map[string]bool{}, 0}
	for _, f := range machine.ReadRecord(data) {
		switch {
		case f.Path == own:
			itself = true
			continue
		case f.Hash == emptyHash && strings.HasSuffix(f.Path, "/__init__.py"):
			continue // a package without it is one all the same (PEP 420)
		case f.Path == "", strings.HasPrefix(f.Path, "../"), path.IsAbs(f.Path), strings.HasSuffix(f.Path, ".pyc"):
			continue // programs are rewritten; byte code comes and goes
		}
		d.Files++
		if isLibrary(f.Path) {
			d.Libraries = append(d.Libraries, f.Path)
		}
		c.compare(site+"/"+path.Clean(f.Path), f)
	}
	if !itself && byPip { // it lists itself, by its specification
		d.Record = "cut off"
	}
	d.Missing = xslices.First(d.Missing, isLibrary)
	d.Missing = d.Missing[:min(len(d.Missing), sysroot.MaxNamed)]
	for file := append(d.Missing, site)[0]; file != site && d.Link == ""; file = path.Dir(file) {
		if to := h.Target(file); to != "" && !h.Exists(file) {
			d.Link = text.Printable(to)
		}
	}
}

// isLibrary reports whether a file is machine code.
func isLibrary(file string) bool {
	return strings.Contains(path.Base(file), ".so") || strings.HasSuffix(file, ".dll") || strings.HasSuffix(file, ".pyd") || strings.HasSuffix(file, ".dylib")
}

// A comparison is that of one distribution's RECORD with the disk.
type comparison struct {
	h     *sysroot.Host
	d     *machine.DistFiles
	after time.Time // what is younger was written to since
	byPip bool
	dirs  map[string]map[string]bool // the names in each directory
	read  int                        // sources that were read for their hash
}

func (c *comparison) compare(file string, f machine.RecordFile) {
	dir, name := path.Split(file)
	names := c.names(dir)
	switch {
	case !names[name] && (len(names) > 0 || !c.h.Exists(file)): // a directory may be one that cannot be listed
		c.absent(file)
	case path.Base(dir) == "bin" && c.h.Root == "" && c.h.OS != "windows" && path.Ext(name) == "" && !c.h.IsProgram(file) &&
		python.TorchSet().MatchString(c.d.Name):
		c.d.Closed = append(c.d.Closed, text.Printable(file))
	case c.byPip && f.Size > 0 && len(c.d.Resized) < sysroot.MaxNamed && (isSource(file) || isLibrary(file)):
		c.content(file, f)
	}
}

// names are those in a directory: one directory costs less than a question for each of its files.
func (c *comparison) names(dir string) map[string]bool {
	names, read := c.dirs[dir]
	if !read {
		names = map[string]bool{}
		for _, name := range c.h.Unsorted(dir) {
			names[name] = true
		}
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
	switch depth := strings.Count(file[len(path.Dir(c.d.Info)):], "/"); {
	case err != nil:
	case altered(c.h, file, i, f.Size, depth):
		c.d.Resized = append(c.d.Resized, text.Printable(file))
	case isSource(file) && i.Mode()&0o004 == 0 && refused(os.ReadFile(c.h.Real(file))): // few are closed to others
		c.d.Barred, c.d.Absent = text.Printable(file), c.d.Absent+1
	case depth <= 3 && isSource(file) && i.ModTime().After(c.after):
		c.rewritten(file, f.Hash)
	}
}

// refused reports whether a question about a file was: this user may not read it, or not enter a directory above it.
func refused[T any](_ T, err error) bool { return errors.Is(err, fs.ErrPermission) }

// mostRead bounds the sources whose hashes are taken: a copy that kept no times has all of them younger.
const mostRead = 100

// rewritten looks at a source that importing the package may run, and that was written to after it was installed.
func (c *comparison) rewritten(file, hash string) {
	sum, known := strings.CutPrefix(hash, "sha256=")
	if !known || c.read == mostRead {
		return
	}
	c.read++
	switch code := c.h.Bytes(file, sysroot.MaxFile); {
	case digest(code) == sum:
	case closes(code):
		c.d.Rewritten = append(c.d.Rewritten, text.Printable(file))
	default:
		c.d.Resized = append(c.d.Resized, text.Printable(file))
	}
}

// closes reports whether the strings and brackets of a source of Python end, as those of one that was cut off do not, and
// it holds no marks of a merge.
func closes(code []byte) bool {
	var open []byte
	for i := 0; i < len(code); i++ {
		switch b := code[i]; b {
		case 0:
			return false
		case '#':
			for i+1 < len(code) && code[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			n := quoted(code[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case '(', '[', '{':
			open = append(open, b)
		case ')', ']', '}':
			if len(open) == 0 || b-open[len(open)-1] > 2 { // each stands one or two after its partner
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0 && !bytes.Contains(code, []byte("\n<<<<<<< "))
}

// quoted is how long the string of Python is that code begins with, its quotes included; 0 it does not end.
func quoted(code []byte) int {
	quote := code[:1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(code, triple) {
		quote = triple
	}
	for i := len(quote); i < len(code); i++ {
		switch {
		case bytes.HasPrefix(code[i:], quote):
			return i + len(quote)
		case code[i] == '\\':
			i++
		case code[i] == '\n' && len(quote) == 1:
			return 0
		}
	}
	return 0
}

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
	case !isSource(file):
		return isLibrary(file) && size != i.Size()
	case i.Size() < size:
		return i.Size()%block == 0
	}
	return depth <= 2 && bytes.HasPrefix(h.Bytes(file, 1), []byte{0})
}

// variants end the names of packages that are one for several kinds of machines.
var variants = lazy.Regexp(`^(?:pytorch-)?(.+?)-(?:gpu|cpu|cuda|cuda1\d[a-z]?|cu1\d\d?|cuda11x|rocm[\d.]*|directml|openvino|nightly|headless)$`)

// Clashes are pairs of installed distributions that are the same one for another machine,
// and whose files lie over each other.
func Clashes(h *sysroot.Host, dists []python.Dist) (out [][2]string) {
	first := map[string]python.Dist{}
	for _, d := range dists { // sorted: the plain name comes first
		stem := d.Name
		if m := variants().FindStringSubmatch(d.Name); m != nil && !strings.HasPrefix(d.Name, "nvidia-") {
			stem = m[1]
		}
		other, twice := first[stem]
		if !twice {
			first[stem] = d
			continue
		}
		mine, theirs := machine.ReadRecord(h.Bytes(d.Info+"/RECORD", sysroot.MaxFile)), machine.ReadRecord(h.Bytes(other.Info+"/RECORD", sysroot.MaxFile))
		unknown := len(mine) == 0 || len(theirs) == 0 // then their names tell
		if unknown && strings.HasSuffix(d.Name, "-gpu") || slices.ContainsFunc(theirs, func(f machine.RecordFile) bool {
			return strings.HasSuffix(f.Path, "/__init__.py") && slices.ContainsFunc(mine, func(o machine.RecordFile) bool { return o.Path == f.Path })
		}) {
			out = append(out, [2]string{other.Name, d.Name})
		}
	}
	return out
}
