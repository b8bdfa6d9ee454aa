package gpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// maxLog is the most that is read of the kernel's log; the kernel's own buffer has
// a few hundred KiB.
const maxLog = 4 << 20

// HasNVIDIA reports whether the kernel could have something to say of a GPU of
// NVIDIA's.
func HasNVIDIA(h *sysroot.Host) bool {
	onBus := func(p pciGPU) bool { return p.Vendor == "10de" }
	return h.Exists("/proc/driver/nvidia/version") || slices.ContainsFunc(busGPUs(h), onBus) ||
		h.Exists("/sys/module/nvidia") || h.Exists("/dev/nvidiactl") || h.Exists("/dev/nvidia0")
}

// KernelLog reads the errors of GPUs since the machine started: from the kernel's
// own buffer, else from the file that the system's logger keeps.
func KernelLog(ctx context.Context, h *sysroot.Host, o Options, p machine.Platform) *machine.KernelLog {
	l := &machine.KernelLog{Source: "/dev/kmsg", Errors: []machine.KernelError{}}
	text, err := kernelMessages(h.Real("/dev/kmsg"), maxLog)
	if err != nil && h.Root == "" {
		if t, err2 := kernelBuffer(maxLog); err2 == nil {
			text, err, l.Source = t, nil, "syslog(2)"
		}
	}
	if err != nil {
		if t := h.Text("/var/log/kern.log"); t != "" {
			text, err, l.Source = []byte(sinceBoot(t)), nil, "/var/log/kern.log"
		}
	}
	if err != nil && h.Root == "" {
		if t := journal(ctx, o.limit()); t != "" {
			text, err, l.Source = []byte(t), nil, "journalctl -k"
		}
	}
	if err != nil {
		l.Source, l.Refused = "", refusal(err, p.Environment)
		return l
	}
	l.Errors = append(l.Errors, gpuErrors(string(text), uptime(h))...)
	l.Lines = driverLines(string(text))
	return l
}

// journal asks systemd's journal for what the kernel said since the machine was
// started, where this user may read it (the groups adm and systemd-journal); "" not.
func journal(ctx context.Context, limit time.Duration) string {
	for _, dir := range []string{"/usr/bin", "/bin"} {
		program := dir + "/journalctl"
		if i, err := os.Stat(program); err != nil || !i.Mode().IsRegular() {
			continue
		}
		a := runLimited(ctx, limit, []string{program, "-k", "-b", "-q", "--no-pager", "-o", "short-monotonic", "-n", "6000"},
			[]string{"LC_ALL=C", "PATH=/usr/bin:/bin"}, func() {})
		return say.If(a.err == nil && !a.late, a.stdout)
	}
	return ""
}

// refusal says why there is no log, and who may read it.
func refusal(err error, environment string) string {
	switch {
	case environment == machine.Container:
		return "this container may not read the kernel's log; on the host `sudo dmesg | grep -i xid` shows errors of GPUs"
	case errors.Is(err, fs.ErrNotExist):
		return "this system has no /dev/kmsg; `journalctl -k -b | grep -i xid` may show errors of GPUs"
	}
	return "only root may read the kernel's log; `sudo dmesg | grep -i xid` shows errors of GPUs"
}

// uptime is how long the machine has run, in seconds; 0 unknown.
func uptime(h *sysroot.Host) float64 {
	first, _, _ := strings.Cut(h.Text("/proc/uptime"), " ")
	s, err := strconv.ParseFloat(first, 64)
	if err != nil || s < 0 {
		return 0
	}
	return s
}

// sinceBoot cuts off what a log holds of earlier starts of the machine: the first
// thing that a kernel says is its version.
func sinceBoot(log string) string {
	i := strings.LastIndex(log, "Linux version ")
	if i < 0 {
		return log // the file was begun after the machine was started
	}
	return log[i:]
}

var (
	// "NVRM: Xid (PCI:0000:3b:00): 79, …", before driver 418 without "PCI:"; of an
	// NVSwitch "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, …".
	xidLine = lazy.Regexp(`\b(S?)Xid \((?:PCI:)?([0-9A-Fa-f:.]{5,20})\): (\d{1,6})[, ]*(.*)`)
	// Lines of the drivers of GPUs, and of the kernel where it refuses a module. What they
	// mean the doctor's catalogue of messages knows.
	driverLine = lazy.Regexp(`(?i)nvrm|nvidia|nouveau|nova_core|amdgpu|\bkfd\b|module.{0,60}(?:reject|unsigned)|lockdown`)
	// What stands before a line: "4,2213,5318921374,-;" in /dev/kmsg, where the third
	// number is of microseconds; "[ 5318.921374]" elsewhere.
	kmsgHead = lazy.Regexp(`^\d+,\d+,(\d+),[^;]*;`)
	logHead  = lazy.Regexp(`\[ *(\d+)\.(\d{6})\]`)
)

// gpuErrors collects the errors of GPUs in a kernel's log, in the order of their
// first lines. uptime tells how long ago each was; 0: unknown.
func gpuErrors(log string, uptime float64) (out []machine.KernelError) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "Xid (") {
			continue
		}
		m := xidLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		number, err := strconv.Atoi(m[3])
		if err != nil {
			continue
		}
		address, _, _ := strings.Cut(strings.ToLower(m[2]), ".")
		e := errorOf(&out, machine.KernelError{PCIAddress: address, Number: number, Switch: m[1] != ""})
		if e == nil {
			continue
		}
		e.Count++
		e.Text = text.Printable(strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf("%.300s", m[4])), `\x20`, " "))
		if at := secondsOf(line); at >= 0 && uptime > 0 {
			e.AgeSeconds = new(int64(max(0, uptime-at)))
		}
	}
	return out
}

// maxLines is how many of the last lines of GPUs' drivers are kept.
const maxLines = 64

// driverLines are the last lines of GPUs' drivers, each once, without what stands before
// it; Xids are counted elsewhere.
func driverLines(log string) []string {
	var out []string
	for line := range strings.Lines(log) {
		if !driverLine().MatchString(line) || strings.Contains(line, "Xid (") {
			continue
		}
		line = kmsgHead().ReplaceAllString(strings.TrimRight(line, "\r\n"), "")
		if line = text.Printable(fmt.Sprintf("%.300s", line)); !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-maxLines):]
}

// AboutUnusable leaves the lines about a GPU that cannot be used: where all can be, none.
func AboutUnusable(lines []string, gpus []machine.GPU) []string {
	if !slices.ContainsFunc(gpus, func(g machine.GPU) bool { return !g.Visible }) {
		return nil
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(gpus, func(g machine.GPU) bool {
			return g.Visible && g.PCIAddress != "" && strings.Contains(strings.ToLower(line), g.PCIAddress)
		})
	})
}

// errorOf finds the entry of the same error of the same device, or makes one; nil
// where there are too many.
func errorOf(list *[]machine.KernelError, e machine.KernelError) *machine.KernelError {
	same := xslices.At(*list, func(o machine.KernelError) bool {
		return o.PCIAddress == e.PCIAddress && o.Number == e.Number && o.Switch == e.Switch
	})
	if same != nil || len(*list) == 100 {
		return same
	}
	*list = append(*list, e)
	return &(*list)[len(*list)-1]
}

// secondsOf is when a line was written, in seconds after the start of the machine;
// negative: unknown.
func secondsOf(line string) float64 {
	if m := kmsgHead().FindStringSubmatch(line); m != nil {
		us, err := strconv.ParseUint(m[1], 10, 63)
		if err == nil {
			return float64(us) / 1e6
		}
	}
	if m := logHead().FindStringSubmatch(line); m != nil {
		s, err := strconv.ParseFloat(m[1]+"."+m[2], 64)
		if err == nil {
			return s
		}
	}
	return -1
}
