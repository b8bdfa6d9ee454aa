package doctor

import (
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// driverCases are what is wrong between the driver, its device files and a process.
var driverCases = []liveCase{
	{"the second instance of a card, by an index", func(c *read.Case) {
		variable("CUDA_VISIBLE_DEVICES", "1")(c)
		c.Machine.GPUs = append(c.Machine.GPUs, c.Machine.GPUs[0])
		for i := range c.Machine.GPUs {
			c.Machine.GPUs[i].MIG, c.Machine.GPUs[i].PCIAddress = "1g.10gb", "0000:01:00.0"
		}
	}, "ACC001", []string{"not there"}, false},
	{"a GPU that is kept for a guest, beside a driver", func(c *read.Case) {
		c.Machine.Driver.NotLoaded, c.Machine.GPUs[0].Visible, c.Machine.GPUs[0].KernelDriver = true, false, "pci-stub"
	}, "HW012", []string{"pci-stub"}, false},
	{"a Linux driver under WSL, whose module is not loaded", func(c *read.Case) {
		c.Machine.Platform.Environment, c.Machine.Driver.NotLoaded, c.Machine.GPUs = machine.WSL2, true, nil
		c.Machine.Notes = []string{"/usr/lib/x86_64-linux-gnu/libcuda.so.1 is a Linux driver's; under WSL it shadows the one of Windows in /usr/lib/wsl/lib"}
	}, "CTR013", []string{"wsl --shutdown"}, false},
	{"Windows' driver that does not answer WSL", func(c *read.Case) {
		c.Machine.Platform.Environment, c.Machine.Driver.NotLoaded, c.Machine.GPUs = machine.WSL2, true, nil
	}, "CTR014", []string{"Windows"}, false},
	{"a job of Slurm without a GPU", func(c *read.Case) {
		c.Machine.Env["SLURM_JOB_ID"], c.Machine.GPUs[0].Visible, c.Machine.GPUs[0].PCIAddress = "4711", false, "0000:07:00.0"
	}, "ACC011", []string{"4711", "--gres=gpu:1"}, false},
	{"a container that Docker gave nothing", func(c *read.Case) {
		c.Machine.Platform.Environment, c.Machine.Driver, c.Machine.GPUs[0].Visible = machine.Container, nil, false
		c.Machine.Env["NVIDIA_VISIBLE_DEVICES"] = "void"
	}, "CTR022", []string{"void", "docker run --gpus all"}, false},
	{"a pod without a limit", func(c *read.Case) {
		c.Machine.Platform.Environment, c.Machine.Driver, c.Machine.GPUs[0].Visible = machine.Container, nil, false
		c.Machine.Env["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
	}, "CTR001", []string{"pod of Kubernetes", "nvidia.com/gpu: 1"}, false},
	{"a GPU that the driver left behind", func(c *read.Case) {
		g := &c.Machine.GPUs[0]
		g.Visible, g.Name, g.SM = false, "Tesla K80", machine.SM{Major: 3, Minor: 7}
	}, "HW014", []string{"branch 470", "--change-driver"}, false},
	{"a card that the driver left behind, beside one that works", func(c *read.Case) {
		c.Machine.GPUs = append(c.Machine.GPUs, machine.GPU{Vendor: machine.NVIDIA, Name: "Tesla K80", SM: machine.SM{Major: 3, Minor: 7}, Index: 1})
	}, "", nil, false},
	{"a GPU that is named twice", variable("CUDA_VISIBLE_DEVICES", "0,0", bashrc), "ACC001", []string{"twice", "~/.bashrc:7"}, false},
	{"a kernel of notebooks that hides the GPU", func(c *read.Case) {
		c.Files.Elsewhere = []machine.Variable{{Name: "CUDA_VISIBLE_DEVICES", Value: "", Origins: []machine.Origin{{Kind: machine.OriginKernel, Name: "ml", File: "/k/ml/kernel.json"}}}}
	}, "ACC001", []string{"hides every GPU", "/k/ml/kernel.json"}, true},
	{"a value that an option cannot have", func(c *read.Case) {
		variable("PYTORCH_ALLOC_CONF", "max_split_size_mb:10")(c)
		c.Files.Options = []machine.BadOption{{Variable: "PYTORCH_ALLOC_CONF", Option: "max_split_size_mb", Value: "10", Wants: "more than 20"}}
	}, "ACC023", []string{"more than 20"}, false},
	{"no NVML beside a kernel module", func(c *read.Case) {
		c.Machine.Driver.Evidence, c.Machine.Notes = machine.FromProc, []string{"nvml: library not found"}
	}, "DRV003", []string{"libnvidia-ml.so.1", "nvidia-utils-"}, true},
	{"a libcuda of another driver", libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01", "535.183.01", "ld.so.cache"), "DRV004", []string{"535.183.01"}, false},
	{"a libcuda of an upgrade, before the reboot", libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.590.48.01", "590.48.01", "ld.so.cache"), "DRV004", []string{"590.48.01", "reboot"}, false},
	{"a compatibility libcuda that is older", libcuda("/usr/local/cuda/compat/libcuda.so.535.54.03", "535.54.03", "LD_LIBRARY_PATH"), "CTR011", []string{"535.54.03"}, false},
	{"a compatibility libcuda that is newer, on GeForce", func(c *read.Case) {
		libcuda("/usr/local/cuda/compat/libcuda.so.999.10.01", "999.10.01", "LD_LIBRARY_PATH")(c)
		c.Machine.GPUs[0].Name = "NVIDIA GeForce RTX 4090"
	}, "CTR011", []string{"999.10.01", "804"}, false},
	{"an empty libcuda that an image kept", func(c *read.Case) {
		c.Machine.Platform.Environment, c.Machine.Driver.Evidence = machine.Container, machine.FromNVML
		c.Files.Links = []machine.LinkFault{{By: "/e/libcudart.so.12", Library: "libcuda.so.1", Path: "/lib/libcuda.so.1", Why: "it is no library", Opened: true}}
	}, "DRV002", []string{"/lib/libcuda.so.1 cannot be loaded, it is empty", "rm /lib/libcuda.so.1"}, false},
	{"an empty libcuda that a variable names", func(c *read.Case) { // as an H200's container had it
		c.Machine.Platform.Environment, c.Machine.Driver.Evidence = machine.Container, machine.FromNVML
		c.Files.Links = []machine.LinkFault{{By: "/e/libcudart.so.12", Library: "libcuda.so.1", Path: "/junk/libcuda.so.1", Why: "it is no library", Opened: true,
			Via: "LD_LIBRARY_PATH", Entry: "/junk"}}
	}, "DRV002", []string{"/junk/libcuda.so.1 cannot be loaded", "remove /junk from LD_LIBRARY_PATH"}, false},
	{"the device rules of a container", func(c *read.Case) {
		c.Machine.Notes = []string{"nvml: the kernel module 570.1 is loaded, but NVIDIA's library cannot reach it; the device rules of this container (cgroup) refuse /dev/nvidiactl"}
	}, "CTR006", []string{"device rules"}, false},
	{"a limit on open files that CUDA does not start with", func(c *read.Case) { c.Around = &machine.Around{Files: 20} }, "ACC024", []string{"20 files", "busy"}, false},
	{"libraries that could not be opened", func(c *read.Case) {
		c.Around, c.Files.Notes = &machine.Around{}, []string{machine.LibrariesUnread}
	}, "ACC024", []string{"cannot be told"}, false},
	{"a file in the place of a device", func(c *read.Case) {
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/nvidia-uvm", Is: machine.NodePlain}}}
	}, "DRV015", []string{"no device", "sudo rm"}, false},
	{"a mount in the place of a device, in a container", func(c *read.Case) {
		c.Machine.Platform.Environment = machine.Container
		c.Machine.Notes = []string{"nvml: the device rules of this container (cgroup) refuse /dev/nvidiactl"}
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/nvidiactl", Is: machine.NodePlain}}}
	}, "DRV015", []string{"no device", "--gpus all"}, false},
	{"the second of the GPUs that are named is not there", variable("CUDA_VISIBLE_DEVICES", "0,7", bashrc), "ACC001", []string{"not there", "before it can be used", "~/.bashrc:7"}, true},
	{"no NVML, and a GPU that CUDA may use", func(c *read.Case) {
		c.Machine.Driver.Evidence, c.Machine.Notes, c.Machine.GPUs[0].Visible = machine.FromProc, []string{"nvml: library not found"}, false
	}, "DRV003", []string{"CUDA may compute"}, true},
	{"an algorithm that NCCL has not", variable("NCCL_ALGO", "^Trees", bashrc), "ACC025", []string{"Tree", "~/.bashrc:7"}, true},
	{"a word at which torch does not import", variable("TORCH_DISTRIBUTED_DEBUG", "verbose", bashrc), "ACC025", []string{"`import torch` fails", "~/.bashrc:7"}, false},
	{"a log that this torch has not", func(c *read.Case) {
		variable("TORCH_LOGS", "+c10d")(c)
		c.Files.Options = []machine.BadOption{{Variable: "TORCH_LOGS", Option: "c10d"}}
	}, "ACC023", []string{"\"c10d\"", "`import torch` fails"}, false},
	{"no libcuda in a container for utilities", func(c *read.Case) {
		c.Machine.Platform.Environment = machine.Container
		c.Files.Links = []machine.LinkFault{{By: "libcudart.so.12", Library: "libcuda.so.1", Opened: true}}
	}, "DRV002", []string{"NVIDIA_DRIVER_CAPABILITIES"}, false},
	{"device files that are missing", func(c *read.Case) {
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/nvidia-uvm", Is: machine.NodeMissing}}}
	}, "DRV015", []string{"/dev/nvidia-uvm", "nvidia-modprobe"}, false},
	{"device files that are closed", func(c *read.Case) {
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/nvidia0", Is: machine.NodeClosed}}}
	}, "ACC008", []string{"/dev/nvidia0", "usermod"}, false},
	{"a device file of another driver", func(c *read.Case) {
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/nvidia-uvm", Is: machine.NodeForeign}}}
	}, "DRV015", []string{"sudo rm /dev/nvidia-uvm"}, false},
	{"a GPU that did not start", func(c *read.Case) {
		g := &c.Machine.GPUs[0]
		g.Visible, g.PCIAddress = false, "0000:01:00.0"
		c.Machine.KernelLog = &machine.KernelLog{Source: "/dev/kmsg", Lines: []string{"NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0x40:2393)"}}
	}, "KMD008", []string{"RmInitAdapter failed!"}, false},
	{"a GPU that its kernel module does not drive, as the kernel says", func(c *read.Case) {
		c.Machine.GPUs[0].Visible = false
		c.Machine.KernelLog = &machine.KernelLog{Source: "/dev/kmsg", Lines: []string{"NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2b85)", "NVRM: installed in this system requires use of the NVIDIA open kernel modules."}}
	}, "HW022", []string{"open module", "kernel log"}, false},
	{"a kernel module that a file keeps out", func(c *read.Case) {
		c.Machine.GPUs[0].Visible, c.Machine.Driver.NotLoaded = false, true
		c.Machine.Notes = []string{"/etc/modprobe.d/blacklist-nvidia.conf" + machine.BarredBy + "blacklist nvidia"}
	}, "DRV001", []string{"blacklist-nvidia.conf", "blacklist nvidia", "update-initramfs"}, false},
	{"a module that was not built for the kernel", func(c *read.Case) {
		c.Machine.GPUs[0].Visible, c.Machine.Driver.NotLoaded = false, true
		c.Machine.Notes = []string{"no NVIDIA kernel module was found" + machine.NotBuiltFor + "6.12.5-generic"}
	}, "DRV001", []string{"6.12.5-generic", "linux-headers-6.12.5-generic", "dkms"}, false},
	{"a UUID that is cut too short", func(c *read.Case) {
		variable("CUDA_VISIBLE_DEVICES", "GPU-1111")(c)
		c.Machine.GPUs = append(c.Machine.GPUs, c.Machine.GPUs[0])
		c.Machine.GPUs[1].UUID = "GPU-11112222-2222-3333-4444-555555555555"
	}, "ACC001", []string{"more than one UUID"}, false},
	{"a UUID in capitals", func(c *read.Case) {
		variable("CUDA_VISIBLE_DEVICES", "GPU-ABCDEF11-2222")(c)
		c.Machine.GPUs[0].UUID = "GPU-abcdef11-2222-3333-4444-555555555555"
	}, "ACC001", []string{"torch counts no GPU", "GPU-abcdef11-2222-3333"}, false},
	{"a device file that nobody may open", func(c *read.Case) {
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/nvidia0", Is: machine.NodeNoDev}}}
	}, "ACC008", []string{"nodev", "remount,dev"}, false},
	{"a kernel module that Secure Boot refused", func(c *read.Case) {
		c.Machine.GPUs[0].Visible, c.Machine.Driver.NotLoaded = false, true
		c.Machine.KernelLog = &machine.KernelLog{Source: "/dev/kmsg", Lines: []string{"Loading of module with unavailable key is rejected"}}
	}, "KMD002", []string{"mokutil"}, false},
	{"a GPU that the kind of module cannot drive", func(c *read.Case) {
		g := &c.Machine.GPUs[0]
		g.Visible, g.Name, g.SM = false, "NVIDIA GeForce RTX 5090", machine.SM{Major: 12}
		c.Machine.Driver.Version, c.Machine.Driver.KernelModule = version.MustDotted("580.95.05"), "proprietary"
	}, "HW022", nil, false},
	{"one of two GPUs that did not start", func(c *read.Case) {
		second := c.Machine.GPUs[0]
		second.Visible, second.Index = false, 1
		c.Machine.GPUs = append(c.Machine.GPUs, second)
	}, "DRV013", nil, true},
	{"AMD without /dev/kfd", func(c *read.Case) {
		c.Around = &machine.Around{Nodes: []machine.DeviceNode{{Path: "/dev/kfd", Is: machine.NodeMissing}}}
	}, "DRV015", []string{"/dev/kfd", "amdgpu"}, false},
}
