package ui

import (
	"strings"
	"testing"

	"envfix/internal/machine"
)

// The table fits its columns and steers no terminal, whatever the names are, and
// never shows what is unknown as nothing.
func TestGPUUse(t *testing.T) {
	long := strings.Repeat("wide ", 40) + "\x1b[31m\u202e"
	m := machine.Machine{Platform: machine.Platform{Environment: machine.Container}, KernelLog: &machine.KernelLog{Refused: long},
		GPUs: []machine.GPU{{Name: long, MemoryBytes: 1 << 40, Use: &machine.GPUUse{MemoryUsed: new(int64(1 << 40)), ComputeMode: long, Utilization: new(100), Temperature: new(100),
			Processes: []machine.Process{{PID: 1 << 30, User: long, Command: long, Memory: new(int64(1 << 40))}, {Unseen: machine.UnseenNamespace}},
			Throttle:  []string{machine.ThrottleHeat, long}, Unread: map[string]string{long: long}, ECC: &machine.ECC{Enabled: true, Volatile: new(int64(7))}}},
			{Index: 1, Name: "NVIDIA L4", Use: &machine.GPUUse{Unread: map[string]string{"processes": "no permission"}}}}}
	got := GPUUse(m, true, Style{})
	for line := range strings.Lines(got) {
		if n := columns(strings.TrimRight(line, "\n")); n > Width {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	for _, bad := range []string{"\x1b", "\u202e"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in %q", bad, got)
		}
	}
	for _, want := range []string{"memory unknown", "processes unknown: no permission", "1 process holds it; this container cannot see which", "slowed by heat", "7 uncorrectable memory errors"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := GPUUse(machine.Machine{GPUs: []machine.GPU{{Name: "NVIDIA L4"}}}, true, Style{}); got != "" {
		t.Errorf("nothing was asked: %q", got)
	}
}
