package main

import (
	"context"

	"envfix/internal/probe"
	"envfix/internal/system"
)

// alone marks the context of a process that runs one command: it may confine itself.
type alone struct{}

func aloneIn(ctx context.Context) context.Context { return context.WithValue(ctx, alone{}, true) }

// looks begins to look at this machine, as far as that needs rights, and confines the
// process before anything of a project is read: NVIDIA's library may start nvidia-modprobe,
// and who uses a GPU is read of processes that a confined one does not see.
func (f *machineFlags) looks(ctx context.Context) {
	if ctx.Value(alone{}) == nil {
		return
	}
	if f.facts == "" {
		o := probeOptions("")
		o.Use = f.mode == examines
		f.begun = probe.Begin(ctx, o)
	}
	_ = confine(ctx) // without it the answers are the same
}

// confine keeps a command that reads as [system.ConfineReading] does, where it is alone.
func confine(ctx context.Context) error {
	if ctx.Value(alone{}) == nil {
		return nil
	}
	return system.ConfineReading()
}
