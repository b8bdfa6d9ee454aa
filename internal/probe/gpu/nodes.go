package gpu

import (
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
)

var deviceMinor = lazy.Regexp(`(?m)^Device Minor:\s*(.*?)\s*$`)

// Nodes are the device files that programs need to reach the GPUs which the kernel's
// drivers serve, where one is not as it should be.
func Nodes(h *sysroot.Host) []machine.DeviceNode {
	if h.Root != "" && !h.IsDir("/dev") || h.Exists("/dev/dxg") {
		return nil
	}
	var want []string
	const gpus = "/proc/driver/nvidia/gpus"
	inside := platform.InContainer(h)
	given := func(name string) bool { return strings.Trim(name, "0123456789") == "nvidia" && name != "nvidia" }
	switch list := h.Names(gpus); {
	case len(list) == 0:
	case inside:
		if slices.ContainsFunc(h.Names("/dev"), given) { // which of the host's GPUs it is to have is not known
			want = []string{"/dev/nvidiactl", "/dev/nvidia-uvm"}
		}
	default:
		want = append(want, "/dev/nvidiactl")
		if !h.Exists("/usr/bin/nvidia-modprobe") { // which makes it for the first program that uses CUDA
			want = append(want, "/dev/nvidia-uvm")
		}
		for _, address := range list {
			for _, m := range deviceMinor().FindAllStringSubmatch(h.Text(gpus+"/"+address+"/information"), -1) {
				want = append(want, "/dev/nvidia"+m[1])
			}
		}
	}
	if h.Exists("/sys/module/amdgpu") && len(h.Names("/sys/class/kfd/kfd/topology/nodes")) > 1 {
		want = append(want, "/dev/kfd")
	}
	majors := majors(h)
	var out []machine.DeviceNode
	for _, node := range want {
		if is := nodeState(h, node, majors); is != "" {
			out = append(out, machine.DeviceNode{Path: node, Is: is})
		}
	}
	return out
}

// nodeState tells what is wrong with one; "" nothing.
func nodeState(h *sysroot.Host, node string, majors map[string]uint64) string {
	i, err := os.Stat(h.Real(node))
	if err != nil {
		return machine.NodeMissing
	}
	driver := "nvidia"
	switch node {
	case "/dev/nvidia-uvm", "/dev/kfd":
		driver = strings.TrimPrefix(node, "/dev/")
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(node, "/dev/nvidia"), 10, 32) // of a GPU's it is the minor number too
	if major, minor, ok := numbersOf(i); ok && majors[driver] != 0 && (major != majors[driver] || err == nil && minor != number) {
		return machine.NodeForeign
	}
	if i.Mode()&fs.ModeCharDevice == 0 {
		return say.If(h.Root == "", machine.NodePlain)
	}
	return closed(h.Real(node))
}

// nvidiaMajor is the number of the driver's devices where the kernel does not say (its documentation, admin-guide/devices.txt).
const nvidiaMajor = 195

// majors are the numbers that the kernel gave its drivers of character devices.
func majors(h *sysroot.Host) map[string]uint64 {
	out := map[string]uint64{"nvidia": nvidiaMajor}
	for line := range strings.Lines(h.Text("/proc/devices")) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] == "Block" {
			continue
		}
		if n, err := strconv.ParseUint(f[0], 10, 32); err == nil {
			out[say.Either(f[1] == "nvidia-frontend", "nvidia", f[1])] = n
		}
	}
	return out
}
