package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// aroundRules look at what stands around the GPUs.
var aroundRules = []rule{
	{[]string{"MG003", "MG004"}, "NVSwitches, and the fabric manager that sets them up", (*exam).fabric},
	{[]string{"CTR008"}, "what the CDI descriptions name, and what is there", (*exam).staleCDI},
	{[]string{"MG001", "MG002"}, "the size of /dev/shm", (*exam).sharedMemorySize},
	{[]string{"PY021"}, "the Pythons that Jupyter starts, and the environment", (*exam).notebooks},
	{[]string{"MG005"}, "whether GPUs can reach each other's memory", (*exam).peers},
}

// fabric: GPUs that are joined by NVSwitch need the fabric manager, in the driver's
// version, before CUDA can be initialised.
func (e *exam) fabric() {
	a, d := e.Around, e.Machine.Driver
	if a == nil || a.Fabric == nil || a.Switches == 0 || d == nil || d.Version.IsZero() || d.NotLoaded {
		return
	}
	said := fact("%d NVSwitches are on the PCI bus", a.Switches)
	if !a.Fabric.Running {
		f := e.find("MG003", proven, said, fact("no process nv-fabricmanager runs"))
		ways := []string{"`sudo systemctl enable --now nvidia-fabricmanager`"}
		if a.Fabric.Package == "" {
			ways = append([]string{fmt.Sprintf("install it in the driver's version: `sudo apt install nvidia-fabricmanager-%d`", d.Version.Major())}, ways...)
		}
		f.fix(append(ways, "a virtual machine: the host has to do it")...)
		return
	}
	if have, err := version.ParseDotted(a.Fabric.Package); err == nil && have.Compare(d.Version) != 0 {
		e.find("MG004", proven, said, fact("package nvidia-fabricmanager %s", have), e.From.Driver).
			says("the fabric manager is %s and the driver is %s: they have to be the same", have, d.Version)
	}
}

// staleCDI: a description that names what is gone breaks every container with a GPU.
func (e *exam) staleCDI() {
	if e.Around == nil {
		return
	}
	d := e.Machine.Driver
	for _, s := range e.Around.CDI {
		other := false
		if v, err := version.ParseDotted(s.Driver); err == nil && d != nil && !d.Version.IsZero() {
			other = v.Compare(d.Version) != 0
		}
		switch {
		case other:
			e.find("CTR008", likely, fact("%s names libraries of driver %s", s.File, s.Driver), e.From.Driver).
				says("the CDI description %s is of driver %s, and this is %s: containers do not start with a GPU", s.File, s.Driver, d.Version).
				severity(know.Warning)
		case len(s.Gone) > 0:
			e.find("CTR008", likely, fact("%s names %s", s.File, strings.Join(s.Gone[:min(3, len(s.Gone))], " "))).
				says("the CDI description %s names what is not there, %s first: containers do not start with a GPU", s.File, s.Gone[0]).
				severity(know.Warning)
		}
	}
}

// sharedMemorySize: workers of a DataLoader and NCCL hand data over in /dev/shm, of which a
// container has 64 MB where nobody asks for more.
func (e *exam) sharedMemorySize() {
	if e.Around == nil || e.Around.SharedMem == nil || e.Torch.Version == "" {
		return
	}
	s := e.Around.SharedMem
	said := fact("/dev/shm: %d of %d MiB are free", s.Free>>20, s.Size>>20)
	switch {
	case s.Size > 0 && s.Free < s.Size/50:
		e.find("MG002", strong, said).
			text("shared memory (/dev/shm) is full: workers of a DataLoader die with a bus error").
			fix("`df -h /dev/shm` and `ls -l /dev/shm` show what fills it: files that an ended program left can be removed",
				"in a container: `--shm-size=16g` or `--ipc=host`").
			severity(know.Warning)
	case s.Size <= 64<<20 && e.Machine.Platform.Environment == machine.Container:
		e.find("MG001", hint, said).
			text("this container has 64 MB of shared memory (/dev/shm): enough without workers, too little for a DataLoader's or for NCCL").
			severity(know.Note)
	}
}

// peers: GPUs that cannot reach each other's memory go through the machine's.
func (e *exam) peers() {
	for _, g := range e.Machine.GPUs {
		if g.Use == nil || len(g.Use.NoPeers) == 0 {
			continue
		}
		p := g.Use.NoPeers[0]
		f := e.find("MG005", hint, fact("GPU %d and GPU %d: %s", g.Index, p.Index, p.Why)).
			says("GPU %d and GPU %d cannot reach each other's memory directly (%s): NCCL goes through the machine's memory, which is slower",
				g.Index, p.Index, p.Why).
			fix("nothing, where it works: GPUs for desktops have no such access; else look at `nvidia-smi topo -p2p r`")
		f.severity(know.Note).cause("none")
		return
	}
}

// notebooks: the environment has a torch that can use the GPU, and a kernel of Jupyter's
// runs another Python, whose torch cannot, or that has none. Where no GPU is to be used
// only a kernel without torch matters, and that one may be meant for something else.
func (e *exam) notebooks() {
	if e.Around == nil || e.Torch.Version == "" {
		return
	}
	computes := !e.Torch.NoCUDA && (e.vendor(machine.NVIDIA) || e.vendor(machine.AMD))
	var bad, good *machine.Kernel
	for i := range e.Around.Kernels {
		switch k := &e.Around.Kernels[i]; {
		case (k.CUDA || !computes && k.Torch != "") && good == nil:
			good = k
		case !k.CUDA && (computes || k.Torch == "") && (bad == nil || k.Own && !bad.Own):
			bad = k
		}
	}
	if bad == nil {
		return
	}
	has := "has no torch"
	if bad.Torch != "" {
		has = "has torch " + bad.Torch + ", built without CUDA"
	}
	weight := likely
	if !computes {
		weight = trifle
	}
	f := e.find("PY021", weight, fact("%s starts %s, which %s", bad.Spec, bad.Python, has), e.Torch.VersionAt).
		says("the notebook kernel %s runs %s, which %s; torch %s of this environment is not what a notebook with it sees",
			bad.Name, bad.Python, has, withLabel(e.Torch))
	if good != nil {
		f.fix("choose the kernel " + good.Name + " in the notebook: it runs " + good.Python)
	}
	if good != nil || !bad.Own || !computes {
		f.severity(know.Note)
	}
}
