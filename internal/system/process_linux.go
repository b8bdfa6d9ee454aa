package system

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent has the kernel kill the child when we are killed, so that no
// installer goes on writing after the lock is gone.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// written returns how many bytes the processes of a group have written so far.
func written(group int) (sum int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it ended
		}
		// pid (name) state ppid pgrp …; the name may hold anything
		_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		if f := bytes.Fields(rest); len(f) < 3 || string(f[2]) != strconv.Itoa(group) {
			continue
		}
		io, err := os.ReadFile(filepath.Join(dir, "io"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(io)) {
			if n, yes := strings.CutPrefix(line, "wchar: "); yes {
				bytes, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
				sum += bytes
			}
		}
	}
	return sum
}
