// Package proc reads Linux's /proc: which processes there are, whose, what they
// were started with and which files they hold. What cannot be read is empty: a
// process may end at any moment, and another user's does not show its files. What
// is returned is outside text, as the kernel gave it: who prints it cleans it.
package proc

import (
	"bufio"
	"io"
	"iter"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Root is the directory that /proc and /etc lie below: "" is this machine's own,
// tests and recorded machines have others.
type Root string

// Self is this machine.
const Self Root = ""

// A Process is the folder of a process in /proc.
type Process string

// Of returns the folder of a process; it need not be there.
func (r Root) Of(pid int) Process { return Process(string(r) + "/proc/" + strconv.Itoa(pid)) }

// PIDs lists all processes, in the order of their numbers.
func (r Root) PIDs() (out []int) {
	d, err := os.Open(string(r) + "/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // what could be read counts
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out
}

// initNamespace is the kernel's number of the first PID namespace (PROC_PID_INIT_INO).
const initNamespace = "pid:[4026531836]"

// HostPIDs reports whether PIDs here are the machine's own, as NVML's are.
func (r Root) HostPIDs() bool {
	to, err := os.Readlink(string(r) + "/proc/self/ns/pid")
	return err == nil && to == initNamespace
}

// UserName is a user's name by number: of /etc/passwd, or of what else this
// machine asks for names.
func (r Root) UserName(uid int) (name string, ok bool) {
	id := strconv.Itoa(uid)
	data, _ := os.ReadFile(string(r) + "/etc/passwd")
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == id {
			return f[0], true
		}
	}
	if r == Self {
		if u, err := user.LookupId(id); err == nil {
			return u.Username, true
		}
	}
	return "", false
}

// UserOf is the user whose process it is, by name where there is one; "" unknown.
func (r Root) UserOf(p Process) string {
	uid, ok := Owner(string(p))
	if !ok {
		return ""
	}
	if name, ok := r.UserName(uid); ok {
		return text.Printable(name)
	}
	return "uid " + strconv.Itoa(uid)
}

// mostBytes bounds what is read of one file of a process.
const mostBytes = 4 << 20

// Read returns the text of one of a process's files, such as "status".
func (p Process) Read(name string) string {
	f, err := os.Open(string(p) + "/" + name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, mostBytes))
	return string(b)
}

// Stat reads what the kernel says of a process at this moment.
func (p Process) Stat() (s Stat, ok bool) {
	var buf [4096]byte
	f := Open(string(p)+"/stat", false)
	b, ok := f.Read(buf[:])
	if !ok {
		return s, false
	}
	s, err := ParseStat(b)
	return s, err == nil
}

// Name is the name that a process has, or gave itself: 15 bytes at most.
func (p Process) Name() string { return strings.TrimSuffix(p.Read("comm"), "\n") }

// Args is the command line that a process was started with; nil for one of the
// kernel's own.
func (p Process) Args() []string { return split(p.Read("cmdline")) }

// Env is the environment that a process was started with, as NAME=value.
func (p Process) Env() []string { return split(p.Read("environ")) }

// Environ is [Process.Env] with the reason where it cannot be read: fs.ErrPermission
// for another user's process, fs.ErrNotExist for one that has ended.
func (p Process) Environ() ([]string, error) {
	f, err := os.Open(string(p) + "/environ")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostBytes))
	return split(string(b)), err
}

// split cuts a list whose entries each end with a NUL.
func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\x00"), "\x00")
}

// Link is where one of a process's links leads: "exe", "cwd", "root".
func (p Process) Link(name string) string {
	to, _ := os.Readlink(string(p) + "/" + name)
	return to
}

// Files yields the paths of the files that a process has open; of other kinds, such
// as pipes, what the kernel calls them.
func (p Process) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		dir := string(p) + "/fd"
		d, err := os.Open(dir)
		if err != nil {
			return
		}
		defer d.Close()
		names, _ := d.Readdirnames(-1)
		for _, name := range names {
			if to, err := os.Readlink(dir + "/" + name); err == nil && !yield(to) {
				return
			}
		}
	}
}

// Mapped yields the paths of the files that a process has mapped: its program and
// its libraries. A path may come more than once.
func (p Process) Mapped() iter.Seq[string] {
	return func(yield func(string) bool) {
		f, err := os.Open(string(p) + "/maps")
		if err != nil {
			return
		}
		defer f.Close()
		for s := bufio.NewScanner(io.LimitReader(f, mostBytes)); s.Scan(); {
			if i := strings.IndexByte(s.Text(), '/'); i >= 0 && !yield(s.Text()[i:]) {
				return
			}
		}
	}
}

// Children lists the processes that a process started: those of its main thread,
// or of all its threads, which costs more: a process has many, and most start
// none. ok is false where the kernel lists no children.
func (p Process) Children(allThreads bool) (out []int, ok bool) {
	task := string(p) + "/task"
	threads := []string{filepath.Base(string(p))}
	if allThreads {
		list, err := os.ReadDir(task)
		if err != nil {
			return nil, false
		}
		threads = threads[:0]
		threads = append(threads, text.Each(list, func(e os.DirEntry) string { return e.Name() })...)
	}
	for _, t := range threads {
		b, err := os.ReadFile(task + "/" + t + "/children")
		if err != nil {
			continue
		}
		ok = true
		for w := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(w); err == nil {
				out = append(out, n)
			}
		}
	}
	return out, ok
}

// Descendants lists a process and everything below it, at most a number of them.
func (r Root) Descendants(pid int, allThreads bool, most int) []int {
	out := []int{pid}
	below := func(pid int) []int {
		kids, _ := r.Of(pid).Children(allThreads)
		return kids
	}
	if _, ok := r.Of(pid).Children(false); !ok { // a kernel that lists no children
		kids := map[int][]int{}
		for _, p := range r.PIDs() {
			if s, ok := r.Of(p).Stat(); ok {
				kids[s.Parent] = append(kids[s.Parent], p)
			}
		}
		below = func(pid int) []int { return kids[pid] }
	}
	for i := 0; i < len(out) && len(out) < most; i++ {
		for _, k := range below(out[i]) {
			out = xslices.Add(out, k)
		}
	}
	return out
}

// Command is the program of a command line and, of an interpreter, its script or
// module. The other arguments may hold secrets and are left out.
func Command(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := path.Base(args[0])
	if name == "." || name == "/" {
		return ""
	}
	interpreters := []string{"python", "pypy", "torchrun", "accelerate", "bash", "sh", "node", "ruby", "perl", "java", "julia", "Rscript"}
	if !slices.ContainsFunc(interpreters, func(of string) bool { return strings.HasPrefix(name, of) }) {
		return text.Printable(name)
	}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-m" && i+1 < len(args):
			return text.Printable(name + " -m " + args[i+1])
		case a == "-c":
			return text.Printable(name + " -c …")
		case a == "-W" || a == "-X":
			i++
		case a != "" && a[0] != '-':
			return text.Printable(name + " " + path.Base(a))
		}
	}
	return text.Printable(name)
}
