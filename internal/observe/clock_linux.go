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

// sinceBoot is the clock of a process's start in /proc/PID/stat, in seconds.
func sinceBoot() float64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return float64(t.Nano()) / 1e9
}
