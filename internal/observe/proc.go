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
)

// ticks is the unit of CPU times in /proc/PID/stat: USER_HZ, which Linux fixes
// at 100 for programs on every architecture that PyTorch runs on.
const ticks = 100

// A stat is what /proc/PID/stat says.
type stat struct {
	name    string
	state   byte
	parent  int
	cpu     float64 // seconds, user and system
	threads int
	start   uint64 // ticks since boot: with the PID it names a process
	rss     int64  // MiB
}

var errStat = errors.New("not a line of /proc/PID/stat")

// parseStat reads a line of /proc/PID/stat. The name may hold anything, blanks
// and parentheses included, so it ends at the last parenthesis.
func parseStat(b []byte) (s stat, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return s, errStat
	}
	s.name = clean(string(b[open+1:end]), 40)
	f := bytes.Fields(b[end+1:])
	if len(f) < 22 || len(f[0]) != 1 {
		return s, errStat
	}
	s.state = f[0][0]
	num := func(i int) (v uint64) {
		if err == nil {
			v, err = strconv.ParseUint(string(f[i]), 10, 63)
		}
		return v
	}
	s.parent = int(num(1))
	s.cpu = float64(num(11)+num(12)) / ticks
	s.threads, s.start = int(num(17)), num(19)
	s.rss = int64(num(21)) * int64(os.Getpagesize()) >> 20
	if err != nil {
		return stat{}, errStat
	}
	return s, nil
}

// A procFile is a file of /proc that is read again and again through one
// descriptor, which follows the process it was opened for and no other.
type procFile struct{ f *os.File }

func openProc(path string) procFile {
	f, err := os.Open(path)
	if err != nil {
		return procFile{}
	}
	return procFile{f}
}

// read returns the file's first bytes; false when the process is gone.
func (p procFile) read(buf []byte) ([]byte, bool) {
	if p.f == nil {
		return nil, false
	}
	if _, err := p.f.Seek(0, io.SeekStart); err != nil {
		return nil, false
	}
	n, err := p.f.Read(buf)
	return buf[:max(n, 0)], err == nil && n > 0
}

func (p procFile) close() {
	if p.f != nil {
		p.f.Close()
	}
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
	return clean(strings.TrimSpace(string(bytes.ReplaceAll(b, []byte{0}, []byte(" ")))), 160)
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
			return clean(m.point+" ("+m.kind+")", 80)
		}
	}
	return ""
}
