package use

import (
	"fmt"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// fabric: GPUs that are joined by NVSwitch need the fabric manager, in the driver's
// version, before CUDA can be initialised.
func fabric(e *evidence.Evidence, out *evidence.Findings) {
	a, d := e.Around, e.Machine.Driver
	if a == nil || a.Fabric == nil || a.Switches == 0 || d == nil || d.Version.IsZero() || d.NotLoaded {
		return
	}
	said := evidence.Fact("%d NVSwitches are on the PCI bus", a.Switches)
	if !a.Fabric.Running {
		f := out.Find("MG003", evidence.Proven, said, evidence.Fact("no process nv-fabricmanager runs"))
		ways := []string{"`sudo systemctl enable --now nvidia-fabricmanager`"}
		if a.Fabric.Package == "" {
			ways = append([]string{fmt.Sprintf("install it in the driver's version: `sudo apt install nvidia-fabricmanager-%d`", d.Version.Major())}, ways...)
		}
		f.Do(append(ways, "a virtual machine: the host has to do it")...)
		return
	}
	if have, err := version.ParseDotted(a.Fabric.Package); err == nil && have.Compare(d.Version) != 0 {
		out.Find("MG004", evidence.Proven, said, evidence.Fact("package nvidia-fabricmanager %s", have), e.From.Driver).
			Says("the fabric manager is %s and the driver is %s: they have to be the same", have, d.Version)
	}
}

// sharedMemorySize: workers of a DataLoader and NCCL hand data over in /dev/shm, of which a
// container has 64 MB where nobody asks for more.
func sharedMemorySize(e *evidence.Evidence, out *evidence.Findings) {
	if e.Around == nil || e.Around.SharedMem == nil || e.Torch.Version == "" {
		return
	}
	s := e.Around.SharedMem
	said := evidence.Fact("/dev/shm: %d of %d MiB are free", s.Free>>20, s.Size>>20)
	switch {
	case s.Fault != "":
		out.Find("MG001", evidence.Likely, evidence.Fact("/dev/shm: %s", s.Fault)).
			Says("shared memory (/dev/shm) cannot be used, %s: workers of a DataLoader and NCCL need it", s.Fault).
			Do("`sudo mkdir -p /dev/shm && sudo mount -t tmpfs -o size=50%,mode=1777 tmpfs /dev/shm`, with a line in /etc/fstab",
				"where it is there and closed: `sudo chmod 1777 /dev/shm`; in a container: `--shm-size=16g` or `--ipc=host`").As(evidence.Warning)
	case s.Size > 0 && s.Free < s.Size/50:
		out.Find("MG002", evidence.Strong, said).
			Say("shared memory (/dev/shm) is full: workers of a DataLoader die with a bus error").
			Do("`df -h /dev/shm` and `ls -l /dev/shm` show what fills it: files that an ended program left can be removed",
				"in a container: `--shm-size=16g` or `--ipc=host`").
			As(evidence.Warning)
	case s.Size > 0 && s.Size < 64<<20:
		out.Find("MG001", evidence.Hint, said).
			Says("shared memory (/dev/shm) has %d MiB: too little for the workers of a DataLoader and for NCCL", s.Size>>20).
			Do("`sudo mount -o remount,size=8g /dev/shm`; in a container: `--shm-size=16g` or `--ipc=host`").As(evidence.Warning)
	case s.Size <= 64<<20 && e.Machine.Platform.Environment == machine.Container:
		out.Find("MG001", evidence.Hint, said).
			Say("this container has 64 MB of shared memory (/dev/shm): enough without workers, too little for a DataLoader's or for NCCL").
			As(evidence.Note)
	}
}

// peers: GPUs that cannot reach each other's memory go through the machine's.
func peers(e *evidence.Evidence, out *evidence.Findings) {
	for _, g := range e.Machine.GPUs {
		if g.Use == nil || len(g.Use.NoPeers) == 0 {
			continue
		}
		p := g.Use.NoPeers[0]
		f := out.Find("MG005", evidence.Hint, evidence.Fact("GPU %d and GPU %d: %s", g.Index, p.Index, p.Why)).
			Says("GPU %d and GPU %d cannot reach each other's memory directly (%s): NCCL goes through the machine's memory, which is slower",
				g.Index, p.Index, p.Why).
			Do("nothing, where it works: GPUs for desktops have no such access; else look at `nvidia-smi topo -p2p r`")
		f.As(evidence.Note).Of("none")
		return
	}
}
