package observe

import "golang.org/x/sys/unix"

// monotonic is the clock of Python's time.monotonic_ns.
func monotonic() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}

// shm reads the size of /dev/shm and what is free, in MiB.
func shm() (total, free int64) {
	var s unix.Statfs_t
	if unix.Statfs("/dev/shm", &s) != nil || s.Type != tmpfs {
		return 0, 0
	}
	return int64(s.Blocks) * int64(s.Bsize) >> 20, int64(s.Bavail) * int64(s.Bsize) >> 20
}

const tmpfs = 0x01021994 // TMPFS_MAGIC

// allowedCPUs counts the CPUs of a process's affinity mask; 0: not readable.
func allowedCPUs(pid int) float64 {
	var set unix.CPUSet
	if unix.SchedGetaffinity(pid, &set) != nil {
		return 0
	}
	return float64(set.Count())
}

// sinceBoot is the clock of a process's start in /proc/PID/stat, in seconds.
func sinceBoot() float64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return float64(t.Nano()) / 1e9
}

// networkDisk names the network file system that a folder is on; "" none. The
// numbers are linux/magic.h's and those of the kernel's sources.
func networkDisk(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return map[int64]string{0x6969: "NFS", 0xFF534D42: "SMB", 0xFE534D42: "SMB", 0x0BD00BD0: "Lustre", 0x00C36400: "Ceph",
		0x47504653: "GPFS", 0x19830326: "BeeGFS", 0x5346414F: "AFS", 0x01021997: "9P"}[int64(s.Type)]
}
