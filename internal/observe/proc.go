package observe

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
)

// ticks is the unit of CPU times in /proc/PID/stat: USER_HZ, which Linux fixes
// at 100 for programs on every architecture that PyTorch runs on.
const ticks = 100

// A stat is what /proc/PID/stat says.
type stat struct {
	name    []byte // as the kernel has it: any bytes, and valid as long as the line is
	state   byte
	parent  int
	cpu     float64 // seconds, user and system
	threads int
	start   uint64 // ticks since boot: with the PID it names a process
	rss     int64  // MiB
}

var errStat = errors.New("not a line of /proc/PID/stat")

// parseStat reads a line of /proc/PID/stat and allocates nothing. The name may
// hold anything, blanks and parentheses included, so it ends at the last
// parenthesis.
func parseStat(b []byte) (s stat, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return s, errStat
	}
	s.name = b[open+1 : end]
	rest := b[end+1:]
	for i := range 22 {
		var f []byte
		f, rest = field(rest)
		if i == 0 {
			if len(f) != 1 {
				return stat{}, errStat
			}
			s.state = f[0]
			continue
		}
		if i != 1 && i != 11 && i != 12 && i != 17 && i != 19 && i != 21 {
			continue
		}
		n, ok := digits(f)
		if !ok {
			return stat{}, errStat
		}
		switch i {
		case 1:
			s.parent = int(n)
		case 11, 12:
			s.cpu += float64(n) / ticks
		case 17:
			s.threads = int(n)
		case 19:
			s.start = n
		case 21:
			s.rss = int64(n / (1 << 20 / uint64(os.Getpagesize())))
		}
	}
	return s, nil
}

// field cuts the first word off.
func field(b []byte) (word, rest []byte) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t') {
		i++
	}
	j := i
	for j < len(b) && b[j] != ' ' && b[j] != '\n' && b[j] != '\t' {
		j++
	}
	return b[i:j], b[j:]
}

// digits reads a number of at most 18 digits.
func digits(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, len(b) > 0 && len(b) < 19
}

// children lists a process's children. Only threads that are asked for are
// looked at: a process has many, and most start none.
func children(pid int, allThreads bool) (out []int, ok bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "task")
	threads := []string{strconv.Itoa(pid)}
	if allThreads {
		list, err := os.ReadDir(dir)
		if err != nil {
			return nil, false
		}
		threads = threads[:0]
		for _, e := range list {
			threads = append(threads, e.Name())
		}
	}
	for _, t := range threads {
		b, err := os.ReadFile(filepath.Join(dir, t, "children"))
		if err != nil {
			continue
		}
		ok = true
		for _, w := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(w); err == nil {
				out = append(out, n)
			}
		}
	}
	return out, ok
}

// scanParents reads every process's parent, for kernels that do not list
// children.
func scanParents() map[int][]int {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	out := map[int][]int{}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		if s, err := parseStat(b); err == nil {
			out[s.parent] = append(out[s.parent], pid)
		}
	}
	return out
}

// descendants lists a process and everything below it.
func descendants(root int, allThreads bool) []int {
	out := []int{root}
	if _, ok := children(root, false); !ok {
		parents := scanParents()
		for i := 0; i < len(out) && len(out) < mostProcesses; i++ {
			out = append(out, parents[out[i]]...)
		}
		return out
	}
	for i := 0; i < len(out) && len(out) < mostProcesses; i++ {
		kids, _ := children(out[i], allThreads)
		for _, k := range kids {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}

// mostProcesses bounds what is watched of a job that forks without end.
const mostProcesses = 1024

// commandLine is a process's command, cleaned and short.
func commandLine(pid int) string {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 4096))
	return machine.Clip(strings.TrimSpace(string(bytes.ReplaceAll(b, []byte{0}, []byte(" ")))), 160)
}

// libTorch says which libtorch a process has mapped: cuda, hip, cpu or "".
func libTorch(pid int) string {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 4<<20))
	switch {
	case bytes.Contains(b, []byte("/libtorch_cuda.so")):
		return "cuda"
	case bytes.Contains(b, []byte("/libtorch_hip.so")):
		return "hip"
	case bytes.Contains(b, []byte("/libtorch_cpu.so")):
		return "cpu"
	}
	return ""
}

// openFiles looks at what a process has open: a GPU's device, and a file on a
// network file system.
func openFiles(pid int, mounts []mount) (gpu bool, network string) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	list, err := os.ReadDir(dir)
	if err != nil {
		return false, ""
	}
	for _, e := range list[:min(len(list), 512)] {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		if strings.HasPrefix(to, "/dev/nvidia") || to == "/dev/kfd" || to == "/dev/dxg" {
			gpu = true
		}
		if m := onNetwork(to, mounts); m != "" {
			network = m
		}
	}
	return gpu, network
}

// A mount is a mounted file system.
type mount struct{ point, kind string }

// networkKinds are file systems whose server may let a read wait without end.
var networkKinds = []string{"nfs", "nfs4", "lustre", "cifs", "smb3", "9p", "ceph", "beegfs", "gpfs", "glusterfs", "afs", "orangefs", "virtiofs"}

// parseMounts reads /proc/PID/mountinfo and keeps what is on a network.
func parseMounts(b []byte) (out []mount) {
	for line := range strings.Lines(string(b)) {
		before, after, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 1 {
			continue
		}
		if kind := g[0]; slices.Contains(networkKinds, kind) || strings.HasPrefix(kind, "fuse.") {
			out = append(out, mount{unescape(f[4]), kind})
		}
	}
	return out
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

func onNetwork(path string, mounts []mount) string {
	for _, m := range mounts {
		if path == m.point || strings.HasPrefix(path, strings.TrimSuffix(m.point, "/")+"/") {
			return machine.Clip(m.point+" ("+m.kind+")", 80)
		}
	}
	return ""
}
