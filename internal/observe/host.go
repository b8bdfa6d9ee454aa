package observe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"envfix/internal/proc"
)

// A cgroup is what the kernel allows a process and what that cost it.
type cgroup struct {
	quota             float64 // CPUs; 0: no limit
	periods, refused  uint64
	memory            int64 // MiB; 0: no limit
	kills             int
	known, killsKnown bool
}

// groupsOf is the text that names a process's groups; "" where it has ended.
func groupsOf(pid int) string { return proc.Self.Of(pid).Read("cgroup") }

// readCgroup reads the limits of groups. They are nested, and the least on the
// way up is what holds. The groups outlive the process that was in them, and so
// tell how it ended.
func readCgroup(groups string) (c cgroup) {
	for line := range strings.Lines(groups) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[0] == "0":
			c.unified("/sys/fs/cgroup", part[2])
		case strings.Contains(","+part[1]+",", ",cpu,"):
			c.legacyCPU("/sys/fs/cgroup/cpu", part[2])
		case strings.Contains(","+part[1]+",", ",memory,"):
			c.legacyMemory("/sys/fs/cgroup/memory", part[2])
		}
	}
	return c
}

// upward calls fn for a group's folder and every one above it, within root.
func upward(root, group string, fn func(dir string)) {
	for g := filepath.Clean("/" + group); ; g = filepath.Dir(g) {
		fn(filepath.Join(root, g))
		if g == "/" {
			return
		}
	}
}

func (c *cgroup) unified(root, group string) {
	upward(root, group, func(dir string) {
		f := strings.Fields(small(dir, "cpu.max"))
		if len(f) == 2 && f[0] != "max" {
			a, b := number64(f[0]), number64(f[1])
			if b > 0 {
				c.limit(float64(a) / float64(b))
			}
		}
		if n := fields(small(dir, "cpu.stat")); n["nr_periods"] > c.periods {
			c.periods, c.refused = n["nr_periods"], n["nr_throttled"]
		}
		if s := strings.TrimSpace(small(dir, "memory.max")); s != "" && s != "max" {
			c.limitMemory(int64(number64(s)))
		}
		if s := small(dir, "memory.events.local"); s != "" && !c.killsKnown {
			c.kills, c.killsKnown = int(fields(s)["oom_kill"]), true
		} else if s := small(dir, "memory.events"); s != "" && !c.killsKnown {
			c.kills, c.killsKnown = int(fields(s)["oom_kill"]), true
		}
	})
	c.known = true
}

func (c *cgroup) legacyCPU(root, group string) {
	upward(root, group, func(dir string) {
		q, err := strconv.ParseInt(strings.TrimSpace(small(dir, "cpu.cfs_quota_us")), 10, 64)
		p := number64(strings.TrimSpace(small(dir, "cpu.cfs_period_us")))
		if err == nil && q > 0 && p > 0 {
			c.limit(float64(q) / float64(p))
		}
		if n := fields(small(dir, "cpu.stat")); n["nr_periods"] > c.periods {
			c.periods, c.refused = n["nr_periods"], n["nr_throttled"]
		}
	})
	c.known = true
}

func (c *cgroup) legacyMemory(root, group string) {
	upward(root, group, func(dir string) {
		if n := number64(strings.TrimSpace(small(dir, "memory.limit_in_bytes"))); n > 0 && n < 1<<60 {
			c.limitMemory(int64(n))
		}
		if s := small(dir, "memory.oom_control"); s != "" && !c.killsKnown {
			c.kills, c.killsKnown = int(fields(s)["oom_kill"]), true
		}
	})
}

func (c *cgroup) limit(cpus float64) {
	if c.quota == 0 || cpus < c.quota {
		c.quota = cpus
	}
}

func (c *cgroup) limitMemory(bytes int64) {
	if m := bytes >> 20; m > 0 && (c.memory == 0 || m < c.memory) {
		c.memory = m
	}
}

// small reads a file of at most 64 KiB; "" where it cannot.
func small(dir, name string) string {
	var buf [4096]byte
	f := proc.Open(dir+"/"+name, false)
	b, ok := f.Read(buf[:])
	if !ok {
		return ""
	}
	if len(b) == len(buf) {
		if b, _ = os.ReadFile(dir + "/" + name); len(b) > 64<<10 {
			return ""
		}
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

// allowedCPUs counts the CPUs of a process's affinity mask; 0: not readable.
func allowedCPUs(pid int) float64 {
	for line := range strings.Lines(proc.Self.Of(pid).Read("status")) {
		if v, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return float64(countList(strings.TrimSpace(v)))
		}
	}
	return 0
}

// addressLimit is how much a process may map, in MiB; 0: as much as it likes.
func addressLimit(pid int) int64 {
	for line := range strings.Lines(proc.Self.Of(pid).Read("limits")) {
		if v, ok := strings.CutPrefix(line, "Max address space"); ok {
			if f := strings.Fields(v); len(f) > 0 {
				return int64(number64(f[0]) >> 20)
			}
		}
	}
	return 0
}

// countList counts the members of a list such as 0-3,8.
func countList(s string) (n int) {
	for part := range strings.SplitSeq(s, ",") {
		a, b, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(a)
		if err != nil {
			continue
		}
		hi := lo
		if isRange {
			if hi, err = strconv.Atoi(b); err != nil || hi < lo || hi-lo > 1<<16 {
				continue
			}
		}
		n += hi - lo + 1
	}
	return n
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
