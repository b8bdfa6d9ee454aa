package main

import (
	"os"
	"syscall"
)

// maxRSS is the greatest memory of a process that ended, in bytes; Linux counts
// in KiB.
func maxRSS(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
