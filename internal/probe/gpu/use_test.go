package gpu

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
	"envfix/internal/text"

	"github.com/google/go-cmp/cmp"
)

const initNamespace = "-> pid:[4026531836]"

// A process is named where PIDs are the machine's, and where they are not only if
// it has the GPU open: the same number may be another's.
func TestProcesses(t *testing.T) {
	list := []nvmlchild.Process{
		{PID: 7, Kind: "graphics", Memory: new(uint64(1 << 20))}, {PID: 42, Kind: "compute", Memory: new(uint64(5 << 30))},
		{PID: 42, Kind: "graphics", Memory: new(uint64(5 << 30))}, {PID: 99, Kind: "compute"},
	}
	files := map[string]string{
		"proc/42/comm": "python3\n", "proc/42/cmdline": "/usr/bin/python3\x00-u\x00/home/anna/\x1b[31mtrain.py\x00--token=hunter2\x00",
		"proc/7/comm": "Xorg\n", "proc/7/cmdline": "/usr/lib/xorg/Xorg\x00-core\x00:0\x00",
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n",
	}
	uid := os.Getuid()
	user := map[int]string{0: "root", 1000: "me"}[uid]
	h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, files), OS: "linux"})
	if user == "" {
		user = h.Procs().UserOf(h.Procs().Of(42))
	}
	hidden := machine.UnseenNamespace
	big, small := new(int64(5<<30)), new(int64(1<<20))
	want := []machine.Process{{PID: 42, Kind: "compute", Memory: big, Unseen: hidden}, {PID: 7, Kind: "graphics", Memory: small, Unseen: hidden}, {PID: 99, Kind: "compute", Unseen: hidden}}
	if diff := cmp.Diff(want, processes(h, list)); diff != "" {
		t.Errorf("in a container: %s", diff)
	}

	files["proc/42/fd/3"], files["proc/42/fd/4"] = "-> /dev/null", "-> /dev/nvidia0"
	want[0].Unseen, want[0].User, want[0].Name, want[0].Command = "", user, "python3", "python3train.py"
	want[0].Command = text.Printable("python3 \x1b[31mtrain.py")
	h = sysroot.New(sysroot.Options{Root: testenv.Tree(t, files), OS: "linux"})
	if diff := cmp.Diff(want, processes(h, list)); diff != "" {
		t.Errorf("in a container, with the GPU open: %s", diff)
	}

	files["proc/self/ns/pid"] = initNamespace
	want[1].Unseen, want[1].User, want[1].Name, want[1].Command = "", user, "Xorg", "Xorg"
	want[2].Unseen = machine.UnseenGone
	h = sysroot.New(sysroot.Options{Root: testenv.Tree(t, files), OS: "linux"})
	if diff := cmp.Diff(want, processes(h, list)); diff != "" {
		t.Errorf("on the machine: %s", diff)
	}
}

// What NVML did not say is unknown, with the reason, and never zero.
func TestGPUUse(t *testing.T) {
	h := sysroot.New(sysroot.Options{Root: t.TempDir(), OS: "linux"})
	whole := &nvmlchild.Use{Mode: new(3), Persistence: new(true), ECC: new(true), Volatile: new(uint64(0)), Reasons: new(uint64(0x4d)), Limit: new(700_500), Failed: map[string]int{"remapped_rows": nvmlchild.Absent, "processes": 3, "ecc.aggregate_uncorrected": 4}}
	want := &machine.GPUUse{ComputeMode: "exclusive_process", Persistence: new(true), ECC: &machine.ECC{Enabled: true, Volatile: new(int64(0))},
		Throttle: []string{machine.ThrottlePowerCap, machine.ThrottleHWSlowdown, machine.ThrottleHWHeat}, PowerLimit: new(700),
		Unread: map[string]string{"remapped_rows": "this driver's library does not tell", "processes": "this GPU does not tell", "ecc.aggregate_uncorrected": "no permission"}}
	if diff := cmp.Diff(want, gpuUse(h, whole, nil)); diff != "" {
		t.Error(diff)
	}
	slice := &nvmlchild.Use{Used: new(uint64(1 << 30)), Listed: true}
	want.MemoryUsed, want.Processes = new(int64(1<<30)), []machine.Process{}
	if diff := cmp.Diff(want, gpuUse(h, slice, whole)); diff != "" {
		t.Errorf("a slice: %s", diff)
	}
	if got := gpuUse(h, nil, nil); got != nil {
		t.Errorf("not asked: %v", got)
	}
}

const kmsg = `6,1200,4000000,-;NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05
4,2213,100000000,-;NVRM: Xid (PCI:0000:3b:00): 31, pid=2512125, name=python3.10, Ch 00000008
4,2214,200000000,-;NVRM: Xid (PCI:0000:3B:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen` + "\x1b[31m" + ` off the bus.
 SUBSYSTEM=pci
3,2215,900000000,-;NVRM: Xid (PCI:0000:3b:00.0): 79, GPU has fallen off the bus.
3,2216,950000000,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
4,2217,960000000,-;user: Xid (not one): 5
`

func TestKernelLog(t *testing.T) {
	third := []machine.KernelError{
		{PCIAddress: "0000:3b:00", Number: 31, Count: 1, AgeSeconds: new(int64(900)), Text: "pid=2512125, name=python3.10, Ch 00000008"},
		{PCIAddress: "0000:3b:00", Number: 79, Count: 2, AgeSeconds: new(int64(100)), Text: "GPU has fallen off the bus."},
		{PCIAddress: "0000:c1:00", Number: 20034, Switch: true, Count: 1, AgeSeconds: new(int64(50)), Text: "Fatal, Link 30 LTSSM Fault Up"},
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  *machine.KernelLog
	}{
		"kmsg":  {map[string]string{"dev/kmsg": kmsg, "proc/uptime": "1000.00 3000.00\n"}, &machine.KernelLog{Source: "/dev/kmsg", Errors: third, Lines: []string{"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05"}}},
		"quiet": {map[string]string{"dev/kmsg": "6,1,0,-;Linux version 6.8\n"}, &machine.KernelLog{Source: "/dev/kmsg", Errors: []machine.KernelError{}}},
		"the logger's file, and an earlier start in it": {map[string]string{"proc/uptime": "300.0 1.0", "var/log/kern.log": "Nov 20 h kernel: [   99.000000] NVRM: Xid (PCI:0000:3b:00): 48, old\n" +
			"Nov 21 h kernel: [    0.000000] Linux version 6.8\nNov 21 h kernel: [  200.500000] NVRM: Xid (0000:01:00): 13, Graphics Exception\n"},
			&machine.KernelLog{Source: "/var/log/kern.log", Errors: []machine.KernelError{{PCIAddress: "0000:01:00", Number: 13, Count: 1, AgeSeconds: new(int64(99)), Text: "Graphics Exception"}}}},
		"drivers": {map[string]string{"dev/kmsg": "3,90,900,-;NVRM: a\n3,91,901,-;eth0: up\n3,92,902,-;Loading of module with unavailable key is rejected\n3,93,903,-;NVRM: a\n"},
			&machine.KernelLog{Source: "/dev/kmsg", Errors: []machine.KernelError{}, Lines: []string{"NVRM: a", "Loading of module with unavailable key is rejected"}}},
		"nothing to read": {nil, &machine.KernelLog{Refused: "this system has no /dev/kmsg; `journalctl -k -b | grep -i xid` may show errors of GPUs", Errors: []machine.KernelError{}}},
	} {
		h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, test.files), OS: "linux"})
		if diff := cmp.Diff(test.want, KernelLog(t.Context(), h, Options{}, machine.Platform{Environment: machine.Bare})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for where, want := range map[string]string{machine.Bare: "only root may read", machine.Container: "this container may not read"} {
		if got := refusal(errors.Join(fs.ErrPermission), where); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", where, got)
		}
	}
}

// TestAboutUnusable: of a machine whose GPUs all work the lines are nobody's business.
func TestAboutUnusable(t *testing.T) {
	lines := []string{"NVRM: GPU 0000:01:00.0: a", "NVRM: GPU 0000:02:00.0: b", "NVRM: c"}
	works, not := machine.GPU{PCIAddress: "0000:01:00.0", Visible: true}, machine.GPU{PCIAddress: "0000:02:00.0"}
	if got := AboutUnusable(slices.Clone(lines), []machine.GPU{works}); got != nil {
		t.Errorf("all work: %q", got)
	}
	if got := AboutUnusable(slices.Clone(lines), []machine.GPU{works, not}); !slices.Equal(got, lines[1:]) {
		t.Errorf("one does not: %q", got)
	}
}

// TestLost: what NVML cannot reach is one that the kernel module has, however that is known.
func TestLost(t *testing.T) {
	n := nvidia{report: &nvmlchild.Report{Lost: []int{15}}, kernel: kernelModule{gpus: []string{"0000:01:00.0"}}}
	if got := n.lost([]pciGPU{{PCI: PCI{Vendor: "10de"}, Address: "0000:01:00.0"}}); !slices.Equal(got, []string{machine.FaultLost}) {
		t.Errorf("%q", got)
	}
	if got := n.lost([]pciGPU{{PCI: PCI{Vendor: "10de"}, Address: "0000:02:00.0"}}); got != nil {
		t.Errorf("another driver's: %q", got)
	}
}

// FuzzKernelLog: a log is text of others.
func FuzzKernelLog(f *testing.F) {
	f.Add(kmsg, 1000.0)
	f.Add("NVRM: Xid (PCI:0000:3b:00): 999999, \x00\xff\n", 0.0)
	f.Fuzz(func(t *testing.T, log string, uptime float64) {
		for _, e := range gpuErrors(log, uptime) {
			if e.Count < 1 || e.Text != text.Printable(e.Text) || e.AgeSeconds != nil && *e.AgeSeconds < 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}
