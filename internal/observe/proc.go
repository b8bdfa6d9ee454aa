package observe

import (
	"slices"
	"strings"

	"envfix/internal/proc"
	"envfix/internal/text"
)

// mostProcesses bounds what is watched of a job that forks without end.
const mostProcesses = 1024

// libTorch says which libtorch a process has mapped: cuda, hip, cpu or "".
func libTorch(p proc.Process) (kind string) {
	if args := p.Args(); len(args) > 1 && strings.Contains(args[1], "/torch/_inductor/compile_worker/") {
		return "" // torch.compile's own workers load PyTorch, and train nothing
	}
	for path := range p.Mapped() {
		switch {
		case strings.Contains(path, "/libtorch_cuda.so"):
			return "cuda"
		case strings.Contains(path, "/libtorch_hip.so"):
			return "hip"
		case strings.Contains(path, "/libtorch_cpu.so"):
			kind = "cpu"
		}
	}
	return kind
}

// mostFiles bounds how many open files of a process are looked at.
const mostFiles = 512

// openFiles looks at what a process has open: a GPU's device, and a file on a
// network file system.
func openFiles(p proc.Process, mounts []mount) (gpu bool, network string) {
	n := 0
	for to := range p.Files() {
		if strings.HasPrefix(to, "/dev/nvidia") || to == "/dev/kfd" || to == "/dev/dxg" {
			gpu = true
		}
		if m := onNetwork(to, mounts); m != "" {
			network = m
		}
		if n++; n == mostFiles {
			break
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
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

func onNetwork(path string, mounts []mount) string {
	for _, m := range mounts {
		if path == m.point || strings.HasPrefix(path, strings.TrimSuffix(m.point, "/")+"/") {
			return text.Clip(m.point+" ("+m.kind+")", 80)
		}
	}
	return ""
}
