//go:build linux && cgo

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// What could not be shown is an error: standard output is closed, or full.
func TestOutputIsLost(t *testing.T) {
	envfix := build(t)
	for command, want := range map[string]int{
		"facts >&-": 1, "facts --json >&-": 1, "plan --gpu V100 --driver 580.95.05 >&-": 1, "--version >&-": 1, ">&-": 1, "doctor --json >&-": 1,
		"facts >/dev/full": 1, "doctor --json >/dev/full": 1, "plan --gpu nosuch --json >/dev/full": 2, "plan --gpu nosuch --json >&-": 1,
		"facts >/dev/null": 0, "facts </dev/null 2>&1 >/dev/null": 0, "run -- true >&-": 0,
	} {
		var said strings.Builder
		cmd := exec.Command("/bin/sh", "-c", envfix+" "+command)
		cmd.Dir, cmd.Stderr = t.TempDir(), &said
		_ = cmd.Run() // its status is compared
		if got := cmd.ProcessState.ExitCode(); got != want || want > 0 && !strings.Contains(said.String(), "envfix: error: ") {
			t.Errorf("%s: exit status %d, want %d; it says %q", command, got, want, said.String())
		}
	}
}

// Under `ulimit -v` envfix works, or says in one sentence what it needs.
func TestAddressLimit(t *testing.T) {
	envfix := build(t)
	for _, limit := range []int{50_000, 800_000, 902_000, 1_000_000, 1_150_000, 1_250_000, 1_350_000, 1_450_000, 1_500_000, 4_000_000} {
		cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("ulimit -v %d; ulimit -v; exec %s facts", limit, envfix))
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		works := limit > 900_000
		if (err == nil) != works || strings.Contains(string(out), "goroutine") || !works && strings.Count(string(out), "\n") > 5 {
			t.Errorf("ulimit -v %d: %v\n%s", limit, err, out)
		}
	}
}
