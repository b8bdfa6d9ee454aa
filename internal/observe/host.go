package observe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"envfix/internal/proc"
)

// A cgroup is what the kernel allows a process and what that cost it.
type cgroup struct {
	quota            float64 // CPUs; 0: no limit
	periods, refused uint64
	memory           int64 // MiB; 0: no limit
	kills            int
	killsIn          string // the folder that counts them; "": none does
	known            bool
}

// mostGroups bounds the control groups that are read before a job begins: a desktop
// has 200, a machine that runs many containers some thousands.
const mostGroups = 1000

// killsOf is how many processes the kernel has killed for want of memory in each
// control group that is there, by folder; nil where there are too many. A job may
// enter a group and lose a process before it is looked at next, so what its group
// had counted before has to be known before the job begins.
func killsOf(root string) map[string]int {
	if v1, err := filepath.Glob(root + "/memory/cgroup.procs"); err == nil && len(v1) > 0 {
		root = filepath.Dir(v1[0])
	}
	counts, n := map[string]int{}, 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it ended meanwhile
			return nil
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		}
		if n++; n > mostGroups {
			return fs.SkipAll
		}
		var c cgroup
		c.folder(dir)
		counts[dir] = c.kills
		return nil
	})
	if err != nil || n > mostGroups {
		return nil
	}
	return counts
}

// groupRoot is where the control groups are mounted.
const groupRoot = "/sys/fs/cgroup"

// groupsOf is the text that names a process's groups; "" where it has ended.
func groupsOf(pid int) string { return proc.Self.Of(pid).Read("cgroup") }

// readCgroup reads the limits of groups, of version 2 and of 1. They are nested, and
// the least on the way up is what holds. The groups outlive the process that was in
// them, and so tell how it ended.
func readCgroup(groups string) (c cgroup) {
	for line := range strings.Lines(groups) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for _, of := range []string{"", "cpu", "memory"} {
			if part[0] == "0" && of == "" || part[0] != "0" && of != "" && strings.Contains(","+part[1]+",", ","+of+",") {
				c.upward(filepath.Join(groupRoot, of), part[2])
			}
		}
	}
	return c
}

// upward reads a group's folder and every one above it, within root.
func (c *cgroup) upward(root, group string) {
	c.known = true
	for g := filepath.Clean("/" + group); ; g = filepath.Dir(g) {
		c.folder(filepath.Join(root, g))
		if g == "/" {
			return
		}
	}
}

// folder reads what a group has of these files; no limit is "max", -1, or beyond any
// machine.
func (c *cgroup) folder(dir string) {
	for _, cpus := range []string{small(dir, "cpu.max"), small(dir, "cpu.cfs_quota_us") + " " + small(dir, "cpu.cfs_period_us")} {
		if f := strings.Fields(cpus); len(f) == 2 && number64(f[0]) > 0 && number64(f[1]) > 0 {
			lower(&c.quota, float64(number64(f[0]))/float64(number64(f[1])))
		}
	}
	if n := fields(small(dir, "cpu.stat")); n["nr_periods"] > c.periods {
		c.periods, c.refused = n["nr_periods"], n["nr_throttled"]
	}
	for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
		if n := number64(strings.TrimSpace(small(dir, name))); n < 1<<60 {
			lower(&c.memory, int64(n>>20))
		}
	}
	for _, name := range []string{"memory.events.local", "memory.events", "memory.oom_control"} {
		if s := small(dir, name); s != "" && c.killsIn == "" {
			c.kills, c.killsIn = int(fields(s)["oom_kill"]), dir
		}
	}
}

// lower takes a limit where it is one, and less than what holds so far; 0 is none.
func lower[T int64 | float64](holds *T, limit T) {
	if limit > 0 && (*holds == 0 || limit < *holds) {
		*holds = limit
	}
}

// small reads a file of at most 64 KiB; "" where it cannot.
func small(dir, name string) string {
	b, err := os.ReadFile(dir + "/" + name)
	if err != nil || len(b) > 64<<10 {
		return ""
	}
	return string(b)
}

func number64(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 63)
	return n
}

// fields reads lines of a name and a number.
func fields(s string) map[string]uint64 {
	out := map[string]uint64{}
	for line := range strings.Lines(s) {
		if f := strings.Fields(line); len(f) == 2 {
			out[f[0]] = number64(f[1])
		}
	}
	return out
}

// addressLimit is how much a process may map, in MiB; 0: as much as it likes.
func addressLimit(pid int) int64 {
	_, after, _ := strings.Cut(proc.Self.Of(pid).Read("limits"), "Max address space")
	f := append(strings.Fields(after), "")
	return int64(number64(f[0]) >> 20)
}

// otherGPU names a GPU that NVML does not show: nvidia on the bus, or AMD's
// with its compute driver.
func otherGPU() string {
	if _, err := os.Stat("/dev/kfd"); err == nil {
		return "amd"
	}
	list, _ := filepath.Glob("/sys/bus/pci/devices/*/vendor")
	for _, v := range list {
		dir := filepath.Dir(v)
		if strings.TrimSpace(small(dir, "vendor")) == "0x10de" && strings.HasPrefix(strings.TrimSpace(small(dir, "class")), "0x03") {
			return "nvidia"
		}
	}
	return ""
}
