package system

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Users returns the processes that use something below dir: a program or a
// library from there, a file that is open, or it as their working or root
// directory, or as the environment that they run in. Of another user's process
// only the arguments can be read, unless we are root.
func Users(dir string) []int {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if uses(filepath.Join("/proc", e.Name()), real) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

func uses(proc, dir string) bool {
	for _, link := range []string{"exe", "cwd", "root"} {
		if to, err := os.Readlink(filepath.Join(proc, link)); err == nil && below(to, dir) {
			return true
		}
	}
	if named(proc, dir) {
		return true
	}
	if b, err := os.ReadFile(filepath.Join(proc, "environ")); err == nil {
		for kv := range strings.SplitSeq(string(b), "\x00") {
			if v, yes := strings.CutPrefix(kv, "VIRTUAL_ENV="); yes && below(realDir(v), dir) {
				return true
			}
		}
	}
	return mapped(proc, dir) || opened(proc, dir)
}

// named reports whether a process was started with something below dir: a virtual
// environment's python is a link to the system's, and only the arguments name the
// environment.
func named(proc, dir string) bool {
	b, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return false
	}
	cwd, _ := os.Readlink(filepath.Join(proc, "cwd")) // "" for another user's
	for i, arg := range strings.Split(string(b), "\x00") {
		if i > 1 || arg == "" || !strings.ContainsRune(arg, '/') {
			continue // the program and its script; any further path may be only data
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

func opened(proc, dir string) bool {
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(proc, "fd", fd.Name())); err == nil && below(to, dir) {
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

func mapped(proc, dir string) bool {
	f, err := os.Open(filepath.Join(proc, "maps"))
	if err != nil {
		return false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if i := strings.IndexByte(s.Text(), '/'); i >= 0 && below(s.Text()[i:], dir) {
			return true
		}
	}
	return false
}

func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Openers returns the processes that have a file open whose name begins with
// prefix, such as /dev/nvidia, as far as we may look; root is "" but in tests.
func Openers(root, prefix string) []int {
	fds, err := filepath.Glob(root + "/proc/[0-9]*/fd/*")
	if err != nil {
		return nil
	}
	var pids []int
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		if err != nil || !strings.HasPrefix(to, prefix) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(fd)))); err == nil && pid != os.Getpid() && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
