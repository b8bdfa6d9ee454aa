package use

import (
	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
)

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
