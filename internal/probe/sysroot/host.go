// Package sysroot is a machine as it can be read: its files and directories below a root,
// its environment variables, the programs of its PATH. It starts nothing and judges nothing.
//
// The root may be a tree of files that stands for a machine: a fixture of a test, or a
// disk image that is mounted somewhere.
package sysroot

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/proc"
	"envfix/internal/say"
	"envfix/internal/text"
)

// MaxFile is the most that is read of one file. The largest that matter are
// libc.so.6 (2 MB) and pci.ids (1.5 MB).
const MaxFile = 8 << 20

// A Host is the machine below a root directory, with its environment variables.
// Its methods take absolute paths of that machine; what cannot be read is empty.
type Host struct {
	Root    string              // "" the machine itself
	OS      string              // as machine.Platform.OS
	Env     map[string]string   // its variables
	Vars    []string            // the same as they came
	Home    string              // the user's directory; "" unknown
	Project string              // its directory; "" none
	Whole   bool                // installed files are read whole, for their hashes
	Notes   []string            // what could not be read, and why
	Cgroups string              // of the process that the machine is looked at for; "" this one
	dirs    map[string]string   // directories with their links followed
	listed  map[string][]string // what is in directories, in no order; made by once
	Started func()              // a program was
}

// Options say which machine is read. The zero value is this one, with no variables.
type Options struct {
	Root    string   // the directory that stands for /; "" the machine itself
	OS      string   // as machine.Platform.OS; "" the one this binary is built for
	Env     []string // NAME=value
	Dir     string   // the project's absolute directory; "" no project
	Cgroups string   // the text of the control groups that count; "" this process's own
	Whole   bool     // installed files are read whole
}

// New is the machine that o says.
func New(o Options) *Host {
	h := &Host{Root: strings.TrimRight(o.Root, "/"), OS: o.OS, Vars: o.Env, Cgroups: o.Cgroups, Project: o.Dir, Whole: o.Whole, Env: map[string]string{}, Started: func() {}}
	if h.OS == "" {
		h.OS, _ = machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	}
	for _, pair := range o.Env {
		name, value, ok := strings.Cut(pair, "=")
		if h.OS == "windows" { // where letter case does not count: Path is PATH
			name = strings.ToUpper(name)
		}
		if ok && name != "" {
			h.Env[name] = value
		}
	}
	h.Home = h.Env["HOME"]
	if h.OS == "windows" {
		h.Home = h.Env["USERPROFILE"]
	}
	for _, file := range []string{h.Home + "/.nccl.conf", "/etc/nccl.conf"} { // NCCL's, of which the environment wins
		for line := range strings.Lines(h.Text(file)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.HasPrefix(name, "NCCL_") && h.Env[name] == "" {
				h.Env[name] = value
			}
		}
	}
	return h
}

// Apart is h for another goroutine: it shares neither the notes nor what was looked up.
func (h *Host) Apart() *Host {
	own := *h
	own.Notes, own.dirs, own.listed = nil, nil, nil
	return &own
}

// Note keeps a sentence about what could not be read, and why.
func (h *Host) Note(format string, args ...any) {
	h.Notes = append(h.Notes, text.Printable(fmt.Sprintf(format, args...)))
}

// Real returns where a path of the machine lies for this process. Below a root,
// symbolic links are followed by hand, so that an absolute one stays below it.
func (h *Host) Real(path string) string {
	if h.Root == "" {
		return path
	}
	return h.Root + h.follow(path, 40)
}

// follow returns the path that remains when every symbolic link is followed.
func (h *Host) follow(path string, links int) string {
	done := "/"
	parts := strings.Split(filepath.Clean("/"+path), "/")[1:]
	for i, part := range parts {
		next := filepath.Join(done, part)
		target, err := os.Readlink(h.Root + next)
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

// Bytes returns the first part of a regular file, at most limit bytes; nil where
// it cannot be read.
func (h *Host) Bytes(path string, limit int64) []byte { return ReadFile(h.Real(path), limit) }

// Text returns a file's text without the white space around it. Files of /proc
// and the device tree may end with a NUL.
func (h *Host) Text(path string) string {
	return strings.Trim(string(h.Bytes(path, MaxFile)), " \t\r\n\x00")
}

// Names lists a directory, sorted.
func (h *Host) Names(dir string) []string {
	names := h.Unsorted(dir)
	slices.Sort(names)
	return names
}

// Unsorted lists a directory in no order.
func (h *Host) Unsorted(dir string) []string {
	f, err := os.Open(h.Real(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}

// Once lists a directory in no order, and reads it once: tools and Pythons are both
// looked for in all of PATH, and /bin is a link to /usr/bin, which has thousands of names.
// What is returned must not be changed. Like h.dirs it is not for several goroutines.
func (h *Host) Once(dir string) []string {
	real := h.Resolved(dir)
	names, known := h.listed[real]
	if !known {
		if h.listed == nil {
			h.listed = map[string][]string{}
		}
		names = h.Unsorted(real)
		h.listed[real] = names
	}
	return names
}

// Abs reports whether a path names a place by itself.
func (h *Host) Abs(path string) bool {
	return strings.HasPrefix(path, "/") || h.OS == "windows" && filepath.IsAbs(path)
}

// Exists reports whether there is something at a path, its links followed.
func (h *Host) Exists(path string) bool {
	_, err := os.Stat(h.Real(path))
	return err == nil
}

// IsDir reports whether it is a directory.
func (h *Host) IsDir(path string) bool {
	i, err := os.Stat(h.Real(path))
	return err == nil && i.IsDir()
}

// Link returns the last element of a symbolic link's target, "" where path is
// none. The kernel's links are relative and need not be followed.
func (h *Host) Link(path string) string {
	target := h.Target(path)
	return say.If(target != "", filepath.Base(target))
}

// Target returns a symbolic link's target as it stands there, "" where path is
// none.
func (h *Host) Target(path string) string {
	target, err := os.Readlink(filepath.Join(h.Real(filepath.Dir(path)), filepath.Base(path)))
	return say.If(err == nil, target)
}

// Resolved returns a path of the machine with every symbolic link followed.
func (h *Host) Resolved(path string) string {
	if h.Root != "" {
		return h.follow(path, 40)
	}
	for range 40 {
		dir := h.ResolvedDir(filepath.Dir(path))
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

// ResolvedDir follows the links of a directory, once per directory: programs and
// libraries stand together.
func (h *Host) ResolvedDir(dir string) string {
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

// IsProgram reports whether path is a file that can be started.
func (h *Host) IsProgram(path string) bool {
	i, err := os.Stat(h.Real(path))
	return err == nil && i.Mode().IsRegular() && (h.OS == "windows" || i.Mode()&0o111 != 0)
}

// PathDirs returns the absolute directories of PATH, each once. Empty and
// relative entries mean the working directory, which nobody should run programs
// from.
func (h *Host) PathDirs() (dirs []string) {
	list := say.Either(h.OS == "windows", ";", ":")
	for _, dir := range strings.Split(h.Env["PATH"], list) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, filepath.Clean(dir)) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// FirstText is the text of the first of some files that has one.
func (h *Host) FirstText(paths ...string) string {
	for _, p := range paths {
		if s := h.Text(p); s != "" {
			return s
		}
	}
	return ""
}

// Procs is its /proc.
func (h *Host) Procs() proc.Root { return proc.Root(h.Root) }

// MaxNamed is how many files of a kind are named; the rest are counted.
const MaxNamed = 8
