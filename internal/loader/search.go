package loader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"envfix/internal/say"
	"envfix/internal/xslices"
)

// Files is a machine's tree of files, and what the loader takes from its surroundings.
// The functions take absolute paths of that machine.
type Files struct {
	Real     func(path string) string // where it lies for this process
	Resolved func(path string) string // with all links followed

	Dir         string              // where the program is started: entries may lead from there; "" unknown
	LibraryPath []string            // the entries of LD_LIBRARY_PATH as they stand there
	Preload     []string            // of LD_PRELOAD
	PreloadFile []string            // of /etc/ld.so.preload, which come after those
	Cache       map[string][]string // ld.so.cache: paths by soname
	Default     []string            // the directories that are looked into last
	Levels      []string            // of glibc-hwcaps that this processor has, the best first

	Blind bool // a file that is there could not be opened: what is not found may be there
}

// Entries are those of a value of LD_LIBRARY_PATH that lead somewhere, from dir; "" unknown.
func Entries(list, dir string) []string {
	return slices.DeleteFunc(strings.Split(strings.ReplaceAll(list, ";", ":"), ":"), func(entry string) bool {
		return list == "" || dir == "" && !path.IsAbs(entry)
	})
}

// open opens a file of the tree, without waiting for who writes into a FIFO in its place. That no more files may be open says nothing of the file.
func (s *Files) open(file string) (*os.File, error) {
	f, err := os.OpenFile(s.Real(file), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	told := []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, syscall.EISDIR}
	if err != nil && !slices.ContainsFunc(told, func(e error) bool { return errors.Is(err, e) }) {
		s.Blind = true
	}
	return f, err
}

// The values of [Object.Via].
const (
	ByRPath       = "RPATH"
	ByLibraryPath = "LD_LIBRARY_PATH"
	ByRunPath     = "RUNPATH"
	ByCache       = "ld.so.cache"
	ByDefault     = "default"
	ByPreload     = "LD_PRELOAD"
	ByPreloadFile = "/etc/ld.so.preload"
)

// A Missing is a library that the loader does not find.
type Missing struct {
	Name   string
	By     *Object
	Opened bool // it is opened by name while By works, and By loads without it

	Path       string // a file of that name that was passed over; "" none
	Why        string // it was: what is wrong with it
	Via, Entry string // how it was come upon, as an Object's
}

// A View is what one process loads. What is loaded once serves everybody who asks by its
// name.
type View struct {
	*Files
	Program *Object   // the interpreter; nil unknown
	Global  []*Object // whose symbols all others find: the program, what it needs, and what was opened so
	All     []*Object
	Missing []Missing
	Ignored []string // entries of LD_PRELOAD that are not there: the loader says so and goes on

	byName  map[string]*Object
	leveled map[string]bool // directories that have libraries for some processors alone
	closed  map[string]bool // directories from which nothing may be executed
	opens   func(*Object) []string
	like    *Object // of whose processor all must be
}

// maxObjects is the most libraries that are followed; torch has about eighty.
const maxObjects = 400

// Start is the view of a program before it opens anything. opens names the libraries that
// one opens by name while it works.
func (s *Files) Start(program string, opens func(*Object) []string) *View {
	v := &View{Files: s, byName: map[string]*Object{}, leveled: map[string]bool{}, closed: map[string]bool{}, opens: opens}
	first := &Object{}
	if v.Program = s.Read(program); v.Program != nil {
		first, v.like = v.Program, v.Program
		v.take(v.Program, program)
		v.load(v.Program.Interp, v.Program, false) // the kernel starts that one (execve(2))
	}
	for i, entry := range slices.Concat(s.Preload, s.PreloadFile) {
		via := say.Either(i >= len(s.Preload), ByPreloadFile, ByPreload)
		o := v.Find(entry, first)
		if o == nil {
			v.Ignored = append(v.Ignored, entry)
			continue
		}
		if o.By == nil {
			o.By, o.Via, o.Entry = first, via, entry
			v.take(o, entry)
		}
	}
	v.follow(0)
	v.Global = slices.Clone(v.All)
	return v
}

// Open follows a library that the program opens by its path, and what that needs, breadth
// first. global: its symbols serve those that are opened later, too. nil: it is none that fits.
func (v *View) Open(file string, global bool) *Object {
	o := v.Read(file)
	if !v.fits(o) {
		return nil
	}
	if i := slices.IndexFunc(v.All, func(l *Object) bool { return l.Path == o.Path }); i >= 0 {
		o = v.All[i]
	} else {
		if v.like == nil {
			v.like = o
		}
		o.By = v.Program
		v.take(o, file)
		v.follow(len(v.All) - 1)
	}
	if global {
		for _, l := range v.Tree(o) {
			v.Global = xslices.Add(v.Global, l)
		}
	}
	return o
}

// take keeps an object under the names that lead to it.
func (v *View) take(o *Object, asked string) {
	v.All = append(v.All, o)
	for _, name := range []string{asked, o.Name} {
		if v.byName[name] == nil {
			v.byName[name] = o
		}
	}
}

// follow loads what the objects from one on ask for.
func (v *View) follow(first int) {
	for i := first; i < len(v.All) && len(v.All) < maxObjects; i++ {
		o := v.All[i]
		for _, name := range o.Needed {
			v.load(name, o, false)
		}
		if v.opens != nil {
			for _, name := range v.opens(o) {
				v.load(name, o, true)
			}
		}
	}
}

func (v *View) load(name string, by *Object, opened bool) {
	if name == "" || v.byName[name] != nil || slices.ContainsFunc(v.Missing, func(m Missing) bool { return m.Name == name }) {
		return
	}
	o := v.Find(name, by)
	if o == nil {
		at, why := v.passed(name, by)
		v.Missing = append(v.Missing, Missing{name, by, opened, at.file, why, at.via, at.entry})
		return
	}
	if i := slices.IndexFunc(v.All, func(l *Object) bool { return l.Path == o.Path }); i >= 0 {
		v.byName[name] = v.All[i] // one file under two names is loaded once
		return
	}
	o.By = by
	v.take(o, name)
}

// Full reports whether there were more libraries than are followed.
func (v *View) Full() bool { return len(v.All) >= maxObjects }

// Loaded is the object that a name leads to; nil none.
func (v *View) Loaded(name string) *Object { return v.byName[name] }

// Tree is an object and what it needs, breadth first: the scope in which it looks for
// symbols after the global one.
func (v *View) Tree(o *Object) []*Object {
	out := []*Object{o}
	for i := 0; i < len(out); i++ {
		for _, name := range out[i].Needed {
			if l := v.byName[name]; l != nil && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// Find returns the file that a name leads to for one that asks; nil: there is none.
func (v *View) Find(name string, by *Object) *Object {
	if l := v.byName[name]; l != nil && !strings.Contains(name, "/") {
		return l
	}
	for p := range v.places(name, by) {
		switch o := v.Read(p.file); {
		case v.fits(o):
			o.Via, o.Entry = p.via, p.entry
			return o
		case o == nil && v.Unfit(p.file) == notELF, o != nil && v.sameProcessor(o):
			return nil // the loader ends there
		}
	}
	return nil
}

// A place is a file that the loader looks for.
type place struct{ file, via, entry string }

// places are those of a name, in their order: by the RPATH of who asks and of who loaded
// that, LD_LIBRARY_PATH, the RUNPATH of who asks, the cache, the default directories.
func (v *View) places(name string, by *Object) iter.Seq[place] {
	return func(yield func(place) bool) {
		if strings.Contains(name, "/") {
			yield(place{file: strings.NewReplacer("${ORIGIN}", by.Dir, "$ORIGIN", by.Dir).Replace(name)})
			return
		}
		in := func(dirs []string, via, entry string) bool {
			for _, dir := range dirs {
				for _, level := range v.levels(dir) {
					if !yield(place{dir + "/glibc-hwcaps/" + level + "/" + name, via, entry}) {
						return false
					}
				}
				if !yield(place{dir + "/" + name, via, entry}) {
					return false
				}
			}
			return true
		}
		for o := by; o != nil && len(by.runpath) == 0; o = o.By {
			if !in(o.rpath, ByRPath, "") {
				return
			}
		}
		for _, entry := range v.LibraryPath {
			dir := path.Join(say.If(!path.IsAbs(entry), v.Dir), entry)
			if !in([]string{dir}, ByLibraryPath, entry) {
				return
			}
		}
		if !in(by.runpath, ByRunPath, "") {
			return
		}
		for _, file := range v.Cache[name] {
			_, rest, level := strings.Cut(file, "/glibc-hwcaps/")
			if level && !slices.Contains(v.Levels, strings.SplitN(rest, "/", 2)[0]) {
				continue // it is for a newer processor
			}
			if !yield(place{file, ByCache, ""}) {
				return
			}
		}
		in(v.Default, ByDefault, "")
	}
}

// levels are those that a directory has libraries for: few have any.
func (v *View) levels(dir string) []string {
	some, known := v.leveled[dir]
	if !known {
		_, err := os.Stat(v.Real(dir + "/glibc-hwcaps"))
		some = err == nil
		v.leveled[dir] = some
	}
	return say.Either(some, v.Levels, nil)
}

// fits reports whether a library is for the processor of the program, whose others the
// loader passes over, and may be mapped.
func (v *View) fits(o *Object) bool {
	return o != nil && v.sameProcessor(o) && !v.noExec(o) && !o.cut()
}

// cut reports whether the end of the file is missing, as where the disk was full, or holds zeros, as where the power went.
func (o *Object) cut() bool {
	return o.hollow || slices.ContainsFunc(o.loads, func(l load) bool { return l.offset+l.size > uint64(o.Size) })
}

func (v *View) sameProcessor(o *Object) bool {
	return v.like == nil || o.Machine == v.like.Machine && o.class == v.like.class
}

func (v *View) noExec(o *Object) bool {
	dir := path.Dir(o.Path)
	if _, known := v.closed[dir]; !known {
		v.closed[dir] = NotExecutable(v.Real(dir))
	}
	return v.closed[dir]
}

// passed finds a file under the name of a library that was not found, and why it is none.
func (v *View) passed(name string, by *Object) (at place, why string) {
	for p := range v.places(name, by) {
		if why = v.Unfit(p.file); why != "" {
			return p, why
		}
	}
	return place{}, ""
}

const (
	notELF = "it is no library"
	NoExec = "its file system is mounted noexec"
)

// Unfit is what is wrong with a file as a library; "": nothing, or there is no such file.
func (v *View) Unfit(file string) string {
	at := v.Real(file)
	if _, err := os.Lstat(at); err != nil {
		return ""
	}
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read it"
	case err != nil:
		return "it is a link to nothing"
	}
	defer f.Close()
	switch o := v.Read(file); {
	case o == nil:
		return notELF
	case v.noExec(o):
		return NoExec
	case o.cut():
		return say.Either(o.hollow, "its end holds zeros, as after a loss of power", "it is cut off: its end is missing")
	case !v.fits(o):
		return "it is for another processor, " + strings.ToLower(strings.TrimPrefix(o.Machine.String(), "EM_"))
	}
	return ""
}

// Plainly is the library that a name leads to where neither LD_LIBRARY_PATH nor LD_PRELOAD
// is set; nil: there is none.
func (v *View) Plainly(name string, by *Object) *Object {
	plain := &View{Files: &Files{Real: v.Real, Resolved: v.Resolved, Cache: v.Cache, Default: v.Default, Levels: v.Levels}, leveled: v.leveled, closed: v.closed, like: v.like}
	return plain.Find(name, by)
}

// ReadCache reads ld.so.cache in the form that glibc has written since 2.2: a header of 48
// bytes, entries of 24 (flags, key, value, OS version, hwcap), then strings. Keys and
// values are offsets from the header (glibc, dl-cache.h).
func ReadCache(data []byte) map[string][]string {
	at := bytes.Index(data, []byte("glibc-ld.so.cache1.1"))
	if at < 0 || len(data) < at+48 {
		return nil
	}
	data = data[at:]
	text := func(at uint32) string {
		if int64(at) >= int64(len(data)) {
			return ""
		}
		s, _, _ := bytes.Cut(data[at:], []byte{0})
		return string(s)
	}
	n := binary.LittleEndian.Uint32(data[20:])
	out := map[string][]string{}
	for i := range int64(n) {
		entry := 48 + 24*i
		if entry+24 > int64(len(data)) {
			break
		}
		name := text(binary.LittleEndian.Uint32(data[entry+4:]))
		out[name] = append(out[name], text(binary.LittleEndian.Uint32(data[entry+8:])))
	}
	return out
}
