package probe

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/proc"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// maxMapped is how many libraries of one process are looked at: a Python with torch
// has about two hundred.
const maxMapped = 4096

var (
	mappedLibrary = lazy.Regexp(`\.so(\.[\d.]+)?$`)
	sitePart      = lazy.Regexp(`^(.+)/lib(?:64)?/python3\.\d{1,2}t?/(?:site|dist)-packages/`)
	driverMapped  = lazy.Regexp(`/libcuda\.so\.(\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)$`)
)

// Process reads a running process and returns the options that look at what it runs
// in: its variables, its directory, its environment and, where it sees other files
// than this program does, its root. Errors: fs.ErrNotExist where there is no such
// process, fs.ErrPermission where it is
// another user's, syscall.ESRCH where it has no memory of its own, and
// errors.ErrUnsupported off Linux.
func Process(o Options, pid int) (Options, *machine.Running, error) {
	h := o.host()
	if h.OS != "linux" {
		return o, nil, fmt.Errorf("process %d: %w", pid, errors.ErrUnsupported)
	}
	p := h.Procs().Of(pid)
	r := &machine.Running{PID: pid, Devices: []string{}}
	if _, ok := p.Stat(); !ok {
		return o, nil, fmt.Errorf("process %d: %w", pid, fs.ErrNotExist)
	}
	r.User = h.Procs().UserOf(p)
	args := p.Args()
	if r.Command = proc.Command(args); r.Command == "" {
		r.Command = text.Printable(p.Name())
	}
	env, err := p.Environ()
	if err != nil {
		return o, r, fmt.Errorf("process %d: %w", pid, err)
	}
	r.Exe, _ = removed(p.Link("exe"))
	r.Dir = p.Link("cwd")
	o.Env, o.Dir, o.Venv, o.Named = env, r.Dir, "", false
	if elsewhere(h, p) {
		r.Elsewhere, o.Root = true, string(p)+"/root"
	}
	o.Cgroups = p.Read("cgroup")
	r.Group = group(o.Cgroups)
	of := o.host() // as the process sees the machine
	r.Unit, _ = variables.OwnUnit(of)
	mapped(r, p)
	r.Devices = devices(p)
	r.Env = envOf(of, r, args)
	if !r.Torch && !strings.HasPrefix(path.Base(r.Exe), "python") {
		r.Below = pythonsBelow(h, pid)
	}
	if r.Env != "" {
		o.Venv, o.Named = r.Env, true
		r.Own = python.SitePackages(of, r.Env)
	} else {
		o.Python, o.Named = r.Exe, true
	}
	return o, r, nil
}

// pythonsBelow are the Pythons that a launcher, a shell or a server started.
func pythonsBelow(h *sysroot.Host, pid int) (out []string) {
	for _, child := range h.Procs().Descendants(pid, true, 200)[1:] {
		c := h.Procs().Of(child)
		if strings.HasPrefix(path.Base(c.Link("exe")), "python") && len(out) < 8 {
			out = append(out, fmt.Sprintf("%d %s", child, proc.Command(c.Args())))
		}
	}
	return out
}

// elsewhere reports whether a process has other mounts than this one: its root is
// that of a container.
func elsewhere(h *sysroot.Host, p proc.Process) bool {
	if h.Root != "" {
		return false
	}
	theirs, ours := p.Link("ns/mnt"), h.Procs().Of(os.Getpid()).Link("ns/mnt")
	root := p.Link("root")
	return theirs != "" && ours != "" && theirs != ours || root != "" && root != "/"
}

// group is a control group of systemd's hierarchy, or of the only one.
func group(cgroups string) string {
	out := ""
	for line := range strings.Lines(cgroups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controller, group, _ := strings.Cut(rest, ":")
		if controller == "" || controller == "name=systemd" {
			out = text.Printable(group)
		}
	}
	return out
}

// mapped reads the libraries that a process has mapped, and what they tell.
func mapped(r *machine.Running, p proc.Process) {
	seen := map[string]bool{}
	for file := range p.Mapped() {
		if seen[file] || len(seen) >= maxMapped {
			continue
		}
		seen[file] = true
		file, gone := removed(file)
		base := path.Base(file)
		if !mappedLibrary().MatchString(base) {
			continue
		}
		file = text.Printable(file)
		r.Mapped = append(r.Mapped, file)
		if gone {
			r.Gone = append(r.Gone, file)
		}
		r.Torch = r.Torch || strings.HasPrefix(base, "libtorch")
		if strings.HasPrefix(base, "libcuda.so") {
			r.CUDA = true
			r.Driver = cmp.Or(driverMapped.Group(file), r.Driver)
		}
	}
}

// devices are the files of GPUs that a process has open.
func devices(p proc.Process) []string {
	out := []string{}
	for file := range p.Files() {
		gpu := strings.HasPrefix(file, "/dev/nvidia") || strings.HasPrefix(file, "/dev/dri/render") || file == "/dev/kfd" || file == "/dev/dxg"
		if gpu && !slices.Contains(out, file) && len(out) < 64 {
			out = append(out, text.Printable(file))
		}
	}
	slices.Sort(out)
	return out
}

// envOf is the environment that a process runs in: where the libraries of packages lie
// that it has mapped, torch's before others; else where its program lies as it was
// called, for a virtual environment's Python is a link to another. "" none.
func envOf(h *sysroot.Host, r *machine.Running, args []string) string {
	var dirs []string
	for _, wanted := range []string{"/torch/", ""} {
		for _, file := range r.Mapped {
			if dir := sitePart.Group(file); dir != "" && strings.Contains(file, wanted) {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(args) > 0 {
		switch program := args[0]; {
		case path.IsAbs(program):
			dirs = append(dirs, path.Dir(path.Dir(program)))
		case strings.Contains(program, "/"):
			dirs = append(dirs, path.Dir(path.Dir(path.Join(r.Dir, program))))
		default:
			for _, dir := range h.PathDirs() {
				if h.IsProgram(dir + "/" + program) {
					dirs = append(dirs, path.Dir(dir))
					break
				}
			}
		}
	}
	dir, _ := xslices.Find(dirs, func(dir string) bool { return python.IsEnv(h, dir) })
	return dir
}

// removed cuts off what the kernel writes behind a file that has no name any more.
func removed(file string) (string, bool) { return strings.CutSuffix(file, " (deleted)") }
