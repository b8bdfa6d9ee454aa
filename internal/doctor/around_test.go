package doctor

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// A surrounding is a machine with something around it, and what is said of it; check ""
// is nothing but notes.
type surrounding struct {
	name, check, text string
	severity          know.Severity
	change            func(*read.Case)
}

// examineSurroundings judges machines on which nothing else is wrong.
func examineSurroundings(t *testing.T, all []surrounding) {
	t.Helper()
	for _, s := range all {
		c := patientWith(t, nil)
		c.Machine.GPUs = []machine.GPU{working(0)}
		c.Machine.Driver = &machine.Driver{Version: version.MustDotted("580.95.05"), LoadedVersion: version.MustDotted("580.95.05")}
		s.change(c)
		found := Examine(know.Embedded(), c).Findings
		if s.check == "" {
			for _, f := range found {
				t.Errorf("%s: %s %s", s.name, f.Check, f.Text)
			}
			continue
		}
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Check == s.check })
		if i < 0 || found[i].Severity != s.severity || !strings.Contains(found[i].Text, s.text) || len(found[i].Fix) == 0 || len(found[i].Evidence) == 0 {
			t.Errorf("%s: %+v", s.name, found)
		}
	}
}

func TestAround(t *testing.T) {
	around := func(a machine.Around) func(*read.Case) { return func(c *read.Case) { c.Around = &a } }
	torch := func(c *read.Case) { c.Torch.Version = "2.9.1" }
	examineSurroundings(t, []surrounding{
		{"nothing around", "", "", 0, around(machine.Around{})},
		{"switches without a manager", "MG003", "fabric manager that sets it up does not run", know.Error, around(machine.Around{Switches: 6, Fabric: &machine.Fabric{}})},
		{"a manager of another version", "MG004", "is 575.57.08 and the driver is 580.95.05", know.Error, around(machine.Around{Switches: 6, Fabric: &machine.Fabric{Running: true, Package: "575.57.08"}})},
		{"the manager runs", "", "", 0, around(machine.Around{Switches: 6, Fabric: &machine.Fabric{Running: true, Package: "580.95.05"}})},
		{"a manager of unknown version", "", "", 0, around(machine.Around{Switches: 6, Fabric: &machine.Fabric{Running: true}})},
		{"switches, in a container", "", "", 0, around(machine.Around{Switches: 6})},
		{"CDI of another driver", "CTR008", "is of driver 570.86.10, and this is 580.95.05", know.Warning, around(machine.Around{CDI: []machine.CDISpec{{File: "/etc/cdi/nvidia.yaml", Driver: "570.86.10", Gone: []string{"/usr/lib/libcuda.so.570.86.10"}}}})},
		{"CDI of a device that is gone", "CTR008", "/dev/nvidia3", know.Warning, around(machine.Around{CDI: []machine.CDISpec{{File: "/etc/cdi/nvidia.yaml", Driver: "580.95.05", Gone: []string{"/dev/nvidia3"}}}})},
		{"CDI that is right", "", "", 0, around(machine.Around{CDI: []machine.CDISpec{{File: "/etc/cdi/nvidia.yaml", Driver: "580.95.05"}}})},
		{"shared memory is full", "MG002", "is full", know.Warning, func(c *read.Case) {
			torch(c)
			around(machine.Around{SharedMem: &machine.SharedMem{Size: 64 << 20, Free: 1 << 19}})(c)
		}},
		{"little that may be locked", "MG011", "", know.Warning, around(machine.Around{Locked: 64 << 10})},
		{"few files for workers", "ACC024", "may open 1000 files: too few for the workers", know.Warning, around(machine.Around{Files: 1000})},
		{"a container's 64 MB", "MG001", "64 MB", know.Note, func(c *read.Case) {
			torch(c)
			c.Machine.Platform.Environment = machine.Container
			around(machine.Around{SharedMem: &machine.SharedMem{Size: 64 << 20, Free: 64 << 20}})(c)
		}},
		{"shared memory enough", "", "", 0, func(c *read.Case) {
			torch(c)
			around(machine.Around{SharedMem: &machine.SharedMem{Size: 16 << 30, Free: 15 << 30}})(c)
		}},
		{"a notebook with another Python", "PY021", "kernel nb runs /usr/bin/python3, which has no torch", know.Warning, func(c *read.Case) {
			torch(c)
			around(machine.Around{Kernels: []machine.Kernel{{Name: "nb", Own: true, Python: "/usr/bin/python3"}}})(c)
		}},
		{"a notebook with a CPU build, and one that is right", "PY021", "has torch 2.4.1+cpu, built without CUDA", know.Note, func(c *read.Case) {
			torch(c)
			around(machine.Around{Kernels: []machine.Kernel{{Name: "nb", Own: true, Python: "/a/bin/python", Torch: "2.4.1+cpu"}, {Name: "t", Python: "/b/bin/python", Torch: "2.9.1", CUDA: true}}})(c)
		}},
		{"a notebook with this torch", "", "", 0, func(c *read.Case) {
			torch(c)
			around(machine.Around{Kernels: []machine.Kernel{{Name: "t", Own: true, Python: "/b/bin/python", Torch: "2.9.1", CUDA: true}}})(c)
		}},
		{"no GPU, and a notebook without torch", "PY021", "kernel nb runs /usr/bin/python3, which has no torch", know.Note, func(c *read.Case) {
			torch(c)
			c.Machine.GPUs, c.Machine.Driver = nil, nil
			around(machine.Around{Kernels: []machine.Kernel{{Name: "nb", Own: true, Python: "/usr/bin/python3"}}})(c)
		}},
		{"a CPU build, and a notebook with another one", "", "", 0, func(c *read.Case) {
			torch(c)
			c.Torch.NoCUDA, c.Machine.GPUs, c.Machine.Driver = true, nil, nil
			around(machine.Around{Kernels: []machine.Kernel{{Name: "nb", Own: true, Python: "/a/bin/python", Torch: "2.4.1+cpu"}}})(c)
		}},
		{"no peer access", "MG005", "hang on different processors", know.Note, func(c *read.Case) {
			c.Machine.GPUs[0].Use.NoPeers = []machine.NoPeer{{Index: 1, Why: "they hang on different processors"}}
		}},
	})
}

func TestRunning(t *testing.T) {
	running := func(r machine.Running) func(*read.Case) { return func(c *read.Case) { c.Running = &r } }
	examineSurroundings(t, []surrounding{
		{"well", "", "", 0, running(machine.Running{PID: 7, Torch: true, CUDA: true, Driver: "580.95.05", Devices: []string{"/dev/nvidia0"}})},
		{"replaced under it", "PY034", "libtorch_cuda.so first", know.Error, running(machine.Running{PID: 7, Torch: true, Devices: []string{"/dev/nvidia0"}, Gone: []string{"/e/numpy.so", "/e/torch/lib/libtorch_cuda.so"}})},
		{"another file is gone", "", "", 0, running(machine.Running{PID: 7, Torch: true, Devices: []string{"/dev/nvidia0"}, Gone: []string{"/e/numpy.so"}})},
		{"the driver was updated", "DRV022", "of driver 570.86.10, and 580.95.05 is loaded", know.Error, running(machine.Running{PID: 7, CUDA: true, Driver: "570.86.10", Gone: []string{"/usr/lib/libcuda.so.570.86.10"}})},
		{"a container's compatibility library", "", "", 0, running(machine.Running{PID: 7, CUDA: true, Driver: "590.10", Elsewhere: true})},
		{"torch, and no GPU open", "ACC020", "has not opened a GPU", know.Note, running(machine.Running{PID: 7, Torch: true})},
	})
}
