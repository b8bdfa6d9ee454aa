package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/proc"
	"envfix/internal/text"
)

// maxFile is the most that is read of one file. The largest that matter are
// libc.so.6 (2 MB) and pci.ids (1.5 MB).
const maxFile = 8 << 20

// A host is the machine below a root directory, with its environment variables.
// Its methods take absolute paths of that machine; what cannot be read is empty.
type host struct {
	root    string // "" the machine itself
	os      string // as machine.Platform.OS
	env     map[string]string
	vars    []string // the same as they came
	home    string
	project string // its directory; "" none
	notes   []string
	cgroups string              // of the process that the machine is looked at for; "" this one
	dirs    map[string]string   // directories with their links followed
	listed  map[string][]string // what is in directories, in no order; made by once
	started func()              // a program was
}

// hostOptions say which machine is read. The zero value is this one, with no variables.
type hostOptions struct {
	Root    string   // the directory that stands for /; "" the machine itself
	OS      string   // as machine.Platform.OS; "" the one this binary is built for
	Env     []string // NAME=value
	Dir     string   // the project's absolute directory; "" no project
	Cgroups string   // the text of the control groups that count; "" this process's own
}

func newHost(o hostOptions) *host {
	h := &host{root: strings.TrimRight(o.Root, "/"), os: o.OS, vars: o.Env, cgroups: o.Cgroups, project: o.Dir, env: map[string]string{}, started: func() {}}
	if h.os == "" {
		h.os, _ = machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	}
	for _, pair := range o.Env {
		name, value, ok := strings.Cut(pair, "=")
		if h.os == "windows" { // where letter case does not count: Path is PATH
			name = strings.ToUpper(name)
		}
		if ok && name != "" {
			h.env[name] = value
		}
	}
	h.home = h.env["HOME"]
	if h.os == "windows" {
		h.home = h.env["USERPROFILE"]
	}
	return h
}

// apart is h for another goroutine: it shares neither the notes nor what was looked up.
func (h *host) apart() *host {
	own := *h
	own.notes, own.dirs, own.listed = nil, nil, nil
	return &own
}

// note keeps a sentence about what could not be read, and why.
func (h *host) note(format string, args ...any) {
	h.notes = append(h.notes, text.Printable(fmt.Sprintf(format, args...)))
}

// real returns where a path of the machine lies for this process. Below a root,
// symbolic links are followed by hand, so that an absolute one stays below it.
func (h *host) real(path string) string {
	if h.root == "" {
		return path
	}
	return h.root + h.follow(path, 40)
}

// follow returns the path that remains when every symbolic link is followed.
func (h *host) follow(path string, links int) string {
	done := "/"
	parts := strings.Split(filepath.Clean("/"+path), "/")[1:]
	for i, part := range parts {
		next := filepath.Join(done, part)
		target, err := os.Readlink(h.root + next)
		if err != nil || links == 0 {
			done = next
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(done, target)
		}
		return h.follow(filepath.Join(append([]string{"/", target}, parts[i+1:]...)...), links-1)
	}
	return done
}

// bytes returns the first part of a regular file, at most limit bytes; nil where
// it cannot be read.
func (h *host) bytes(path string, limit int64) []byte { return readFile(h.real(path), limit) }

// text returns a file's text without the white space around it. Files of /proc
// and the device tree may end with a NUL.
func (h *host) text(path string) string {
	return strings.Trim(string(h.bytes(path, maxFile)), " \t\r\n\x00")
}

// names lists a directory, sorted.
func (h *host) names(dir string) []string {
	names := h.unsorted(dir)
	slices.Sort(names)
	return names
}

func (h *host) unsorted(dir string) []string { return readNames(h.real(dir)) }

// once lists a directory in no order, and reads it once: tools and Pythons are both
// looked for in all of PATH, and /bin is a link to /usr/bin, which has thousands of names.
// What is returned must not be changed. Like h.dirs it is not for several goroutines.
func (h *host) once(dir string) []string {
	real := h.resolved(dir)
	names, known := h.listed[real]
	if !known {
		if h.listed == nil {
			h.listed = map[string][]string{}
		}
		names = h.unsorted(real)
		h.listed[real] = names
	}
	return names
}

// abs reports whether a path names a place by itself.
func (h *host) abs(path string) bool {
	return strings.HasPrefix(path, "/") || h.os == "windows" && filepath.IsAbs(path)
}

func (h *host) exists(path string) bool {
	_, err := os.Stat(h.real(path))
	return err == nil
}

func (h *host) isDir(path string) bool {
	i, err := os.Stat(h.real(path))
	return err == nil && i.IsDir()
}

// link returns the last element of a symbolic link's target, "" where path is
// none. The kernel's links are relative and need not be followed.
func (h *host) link(path string) string {
	target := h.target(path)
	if target == "" {
		return ""
	}
	return filepath.Base(target)
}

// target returns a symbolic link's target as it stands there, "" where path is
// none.
func (h *host) target(path string) string {
	target, err := os.Readlink(filepath.Join(h.real(filepath.Dir(path)), filepath.Base(path)))
	if err != nil {
		return ""
	}
	return target
}

// resolved returns a path of the machine with every symbolic link followed.
func (h *host) resolved(path string) string {
	if h.root != "" {
		return h.follow(path, 40)
	}
	for range 40 {
		dir := h.resolvedDir(filepath.Dir(path))
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if path = target; !filepath.IsAbs(target) {
			path = filepath.Join(dir, target)
		}
	}
	return path
}

// resolvedDir follows the links of a directory, once per directory: programs and
// libraries stand together.
func (h *host) resolvedDir(dir string) string {
	if real, ok := h.dirs[dir]; ok {
		return real
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	if h.dirs == nil {
		h.dirs = map[string]string{}
	}
	h.dirs[dir] = real
	return real
}

// isProgram reports whether path is a file that can be started.
func (h *host) isProgram(path string) bool {
	i, err := os.Stat(h.real(path))
	return err == nil && i.Mode().IsRegular() && (h.os == "windows" || i.Mode()&0o111 != 0)
}

// pathDirs returns the absolute directories of PATH, each once. Empty and
// relative entries mean the working directory, which nobody should run programs
// from.
func (h *host) pathDirs() []string {
	list := ":"
	if h.os == "windows" {
		list = ";"
	}
	var dirs []string
	for _, dir := range strings.Split(h.env["PATH"], list) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, filepath.Clean(dir)) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// firstText is the text of the first of some files that has one.
func (h *host) firstText(paths ...string) string {
	for _, p := range paths {
		if s := h.text(p); s != "" {
			return s
		}
	}
	return ""
}

// procs is its /proc.
func (h *host) procs() proc.Root { return proc.Root(h.root) }

// maxNamed is how many files of a kind are named; the rest are counted.
const maxNamed = 8
