package gpu

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/version"

	"github.com/google/go-cmp/cmp"
)

// TestAskSMI starts stand-ins for nvidia-smi.
func TestAskSMI(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	l4 := []machine.GPU{{Vendor: machine.NVIDIA, Name: "NVIDIA L4", SM: machine.MustSM("8.9"), MemoryBytes: 23034 << 20, Visible: true, Evidence: machine.FromSMI}}
	t4 := []machine.GPU{{Vendor: machine.NVIDIA, Name: "Tesla T4", MemoryBytes: 15109 << 20, Visible: true, Evidence: machine.FromSMI}}
	tests := []struct {
		name, script string
		driver       string
		gpus         []machine.GPU
		note         string
	}{
		{"answers", `echo '550.54.14, 0, NVIDIA L4, [N/A], [N/A], 23034, 8.9'`, "550.54.14", l4, ""},
		{"old, without compute_cap", `case $1 in *compute_cap*) echo 'Field "compute_cap" is not a valid field to query.'; exit 2;; esac
echo '450.119.04, 0, Tesla T4, [N/A], [N/A], 15109'`, "450.119.04", t4, ""},
		{"no driver", `echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."; exit 9`, "", nil,
			"nvidia-smi: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."},
		{"no answer", `exit 0`, "", nil, ""},
		{"garbage", `printf 'No devices\033[2J were found\n'`, "", nil, `nvidia-smi: its answer is not understood: "No devices were found"`},
		{"hangs", `exec sleep 60`, "", nil, "nvidia-smi did not answer within 100ms: the driver hangs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "nvidia-smi")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Parallel() // after every script is written: a file that is open for writing cannot be started
			o := Options{SMI: program, Limit: time.Minute}
			if tt.name == "hangs" {
				o.Limit = 100 * time.Millisecond
			}
			h := sysroot.New(sysroot.Options{OS: "linux", Env: os.Environ()})
			r := askSMI(context.Background(), h, o)
			if r == nil {
				r = &smiReport{}
			}
			if diff := cmp.Diff(tt.gpus, r.gpus); diff != "" || r.driver.String() != tt.driver {
				t.Errorf("driver %q, want %q; GPUs (-want +got):\n%s", r.driver, tt.driver, diff)
			}
			if got := strings.Join(h.Notes, "\n"); got != tt.note {
				t.Errorf("notes %q, want %q", got, tt.note)
			}
		})
	}
}

// TestMerge: what NVML, the bus and the kernel's files say adds up to one list.
func TestMerge(t *testing.T) {
	h := sysroot.New(sysroot.Options{OS: "linux"})
	o := Options{Device: func(p PCI) (Device, bool) {
		d, ok := map[string]Device{
			"10de:2882": {Name: "NVIDIA GeForce RTX 4060", SM: machine.MustSM("8.9")},
			"10de:2204": {Name: "NVIDIA GeForce RTX 3090", SM: machine.MustSM("8.6")},
			"10de:1db5": {Name: "Tesla V100-SXM2-32GB", SM: machine.MustSM("7.0")},
		}[p.Vendor+":"+p.Device]
		return d, ok
	}}
	bus := []pciGPU{
		{PCI: PCI{Vendor: "10de", Device: "1db5", SubVendor: "10de", SubDevice: "1249"}, Address: "0000:3b:00.0", Driver: "nvidia"},
		{PCI: PCI{Vendor: "10de", Device: "2204"}, Address: "0000:5e:00.0", Driver: "vfio-pci"},
		{PCI: PCI{Vendor: "10de", Device: "2882"}, Address: "0000:60:00.0", Driver: "nvidia"},
	}
	n := nvidia{bus: bus, kernel: kernelModule{version: version.ReadDotted("550.54.14"), flavour: "proprietary"}, report: &nvmlchild.Report{Driver: "550.54.14",
		GPUs: []nvmlchild.GPU{{Name: "Tesla V100-SXM2-32GB", Major: 7, UUID: "GPU-1", PCIBus: "00000000:3B:00.0", PCIDevice: 0x1db510de, Memory: 34359738368},
			{Name: "NVIDIA Graphics Device", PCIBus: "00000000:60:00.0", PCIDevice: 0x288210de}}}}
	d := findDriver(h, n, machine.Bare)
	want := []machine.GPU{
		{Vendor: "nvidia", Name: "Tesla V100-SXM2-32GB", SM: machine.MustSM("7.0"), UUID: "GPU-1", PCIID: "10de:1db5", Subsystem: "10de:1249", PCIAddress: "0000:3b:00.0",
			MemoryBytes: 34359738368, Visible: true, KernelDriver: "nvidia", Evidence: "nvml"},
		// The driver is older than the GPU: the device table knows it.
		{Vendor: "nvidia", Name: "NVIDIA GeForce RTX 4060", SM: machine.MustSM("8.9"), PCIID: "10de:2882", PCIAddress: "0000:60:00.0", Visible: true, KernelDriver: "nvidia", Evidence: "nvml"},
		// Passed through to a virtual machine: on the bus, not NVML's.
		{Vendor: "nvidia", Name: "NVIDIA GeForce RTX 3090", SM: machine.MustSM("8.6"), PCIID: "10de:2204", PCIAddress: "0000:5e:00.0", KernelDriver: "vfio-pci", Evidence: "pci"},
	}
	if diff := cmp.Diff(want, nvidiaGPUs(h, n, d, o)); diff != "" {
		t.Errorf("GPUs (-want +got):\n%s", diff)
	}
	wantDriver := &machine.Driver{Version: version.ReadDotted("550.54.14"), LoadedVersion: version.ReadDotted("550.54.14"), KernelModule: "proprietary", Evidence: "nvml"}
	if diff := cmp.Diff(wantDriver, d, cmp.Comparer(func(a, b machine.Driver) bool {
		return a == b || a.Version.Compare(b.Version) == 0 && a.LoadedVersion.Compare(b.LoadedVersion) == 0 && a.KernelModule == b.KernelModule && a.Evidence == b.Evidence && a.NotLoaded == b.NotLoaded
	})); diff != "" {
		t.Errorf("driver (-want +got):\n%s", diff)
	}
}
