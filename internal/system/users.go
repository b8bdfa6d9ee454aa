package system

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/proc"
	"envfix/internal/xslices"
)

// Users returns the processes that use something below dir: a program or a
// library from there, a file that is open, or it as their working or root
// directory, or as the environment that they run in. Of another user's process
// only the arguments can be read, unless we are root. Only Linux tells.
func Users(dir string) (pids []int) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	return xslices.Filter(proc.Self.PIDs(), func(pid int) bool { return pid != os.Getpid() && uses(proc.Self.Of(pid), real) })
}

// SeesProcesses reports whether [Users] can be believed when it names nobody: where
// something lies over /proc, or none is mounted, it sees no process, not even this one.
func SeesProcesses() bool {
	return runtime.GOOS != "linux" || slices.Contains(proc.Self.PIDs(), os.Getpid())
}

func uses(p proc.Process, dir string) bool {
	in := func(path string) bool { return below(path, dir) }
	for _, link := range []string{"exe", "cwd", "root"} {
		if in(p.Link(link)) {
			return true
		}
	}
	if named(p, dir) {
		return true
	}
	for _, pair := range p.Env() {
		if v, yes := strings.CutPrefix(pair, "VIRTUAL_ENV="); yes && in(realDir(v)) {
			return true
		}
	}
	for path := range p.Mapped() {
		if in(path) {
			return true
		}
	}
	for path := range p.Files() {
		if in(path) {
			return true
		}
	}
	return false
}

// named reports whether a process was started with something below dir: a virtual
// environment's python is a link to the system's, and only the arguments name the
// environment.
func named(p proc.Process, dir string) bool {
	cwd := p.Link("cwd") // "" for another user's
	args := p.Args()
	for _, arg := range args[:min(2, len(args))] { // the program and its script; any further path may be only data
		if !strings.ContainsRune(arg, '/') {
			continue
		}
		if !filepath.IsAbs(arg) {
			if cwd == "" {
				continue
			}
			arg = filepath.Join(cwd, arg)
		}
		if below(filepath.Join(realDir(filepath.Dir(arg)), filepath.Base(arg)), dir) {
			return true
		}
	}
	return false
}

func realDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Openers returns the processes that have a file open whose name begins with
// prefix, such as /dev/nvidia, as far as we may look; root is "" but in tests.
func Openers(root, prefix string) (pids []int) {
	for _, pid := range proc.Root(root).PIDs() {
		if pid == os.Getpid() {
			continue
		}
		for path := range proc.Root(root).Of(pid).Files() {
			if strings.HasPrefix(path, prefix) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
