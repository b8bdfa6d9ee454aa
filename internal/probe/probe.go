// Package probe gathers the facts about this machine: GPUs, driver, platform,
// toolkits, Pythons, installed packages, tools and environment variables.
//
// It only reads. It starts two programs at most: envfix itself, as the child
// that loads NVIDIA's library (a broken library may end or stall the child but
// never envfix), and nvidia-smi where everything else was silent. It never
// starts Python, a package manager or a shell. What cannot be read is unknown,
// and a note says why; nothing here is an error.
//
// Everything is read below a root directory, so that a tree of files can stand
// for a machine: a fixture of a test, or a disk image that is mounted somewhere.
package probe

import (
	"context"
	"runtime"

	"envfix/internal/machine"
)

const (
	goos   = runtime.GOOS
	goarch = runtime.GOARCH
)

// Options say where to look. The zero Options look at this machine with no
// environment variables and ask neither NVML nor nvidia-smi.
type Options struct {
	Root string   // the directory that stands for /; "" the machine itself
	OS   string   // as machine.Platform.OS; "" the one this binary is built for
	Env  []string // NAME=value
}

// Gather reads everything.
func Gather(ctx context.Context, o Options) machine.Machine {
	h := newHost(o)
	m := machine.Machine{Format: machine.Format}
	m.Platform = h.platform()
	m.Notes = h.notes
	return m
}
