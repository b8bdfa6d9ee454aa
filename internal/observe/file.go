package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"envfix/internal/machine"
	"envfix/internal/observe/verdict"
)

func cleanAll(list []string) []string {
	out := make([]string, 0, len(list))
	for i, s := range list {
		if i == 64 {
			return append(out, "…")
		}
		out = append(out, machine.Clip(s, 300))
	}
	return out
}

// mostBytes is how large a recording may be.
const mostBytes = 1 << 20

// Encode writes a trace as JSON of at most 1 MB; a longer one loses resolution,
// then processes that are neither leading nor large.
func Encode(t *verdict.Trace) ([]byte, error) {
	c := *t
	for {
		b, err := json.Marshal(&c)
		switch {
		case err != nil:
			return nil, err
		case len(b) < mostBytes:
			return append(b, '\n'), nil
		case len(c.Frames) > 20:
			c.Frames = verdict.Halve(c.Frames)
		case len(c.Processes) > 8:
			c.Processes = c.Processes[:len(c.Processes)/2]
		default:
			return nil, errors.New("the recording does not fit into 1 MB")
		}
	}
}

// Load reads a recording, or samples of GPUs as CSV (verdict.ReadCSV).
func Load(path string) (*verdict.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<20))
	if err != nil {
		return nil, err
	}
	t, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Decode reads what Encode wrote, or CSV. Text in it is outside text and is
// cleaned; what a trace cannot hold is an error.
func Decode(data []byte) (*verdict.Trace, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return verdict.ReadCSV(data)
	}
	var t verdict.Trace
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("not a recording of `envfix run --save`: %w", err)
	}
	switch {
	case t.Format > verdict.Format:
		return nil, fmt.Errorf("recorded by a newer envfix (format %d)", t.Format)
	case t.Format < 1 || t.Seconds < 0 || len(t.Frames) > 100*mostFrames || len(t.GPUs) > 64:
		return nil, errors.New("not a recording of `envfix run --save`")
	}
	scrub(&t)
	return &t, nil
}

// scrub cleans every text of a trace that came from a file.
func scrub(t *verdict.Trace) {
	t.Command, t.Signal, t.Notes = cleanAll(t.Command), machine.Clip(t.Signal, 20), cleanAll(t.Notes)
	for i := range t.GPUs {
		g := &t.GPUs[i]
		g.Name, g.UUID, g.Link = machine.Clip(g.Name, 60), machine.Clip(g.UUID, 60), machine.Clip(g.Link, 20)
		for j := range g.Tenants {
			g.Tenants[j].User, g.Tenants[j].Name = machine.Clip(g.Tenants[j].User, 32), machine.Clip(g.Tenants[j].Name, 40)
		}
	}
	for i := range t.Processes {
		p := &t.Processes[i]
		p.Name, p.Command, p.User, p.Mount, p.Torch = machine.Clip(p.Name, 40), machine.Clip(p.Command, 160), machine.Clip(p.User, 32), machine.Clip(p.Mount, 80), machine.Clip(p.Torch, 10)
		if p.Probe != nil {
			scrubProbe(p.Probe)
		}
	}
}

func scrubProbe(b *verdict.Probe) {
	b.Version, b.CUDA, b.HIP, b.Matmul, b.Error, b.Visible = machine.Clip(b.Version, 60), machine.Clip(b.CUDA, 30), machine.Clip(b.HIP, 30), machine.Clip(b.Matmul, 20), machine.Clip(b.Error, 300), cleanPtr(b.Visible)
	for j := range b.Loaders {
		l := &b.Loaders[j]
		l.Dataset, l.Where, l.Source = machine.Clip(l.Dataset, 60), machine.Clip(l.Where, 200), machine.Clip(l.Source, 300)
	}
	if b.Burst != nil {
		b.Burst.CopyAt, b.Burst.SyncAt = machine.Clip(b.Burst.CopyAt, 200), machine.Clip(b.Burst.SyncAt, 200)
	}
	if b.Crash != nil {
		b.Crash.Type, b.Crash.Text = machine.Clip(b.Crash.Type, 60), machine.Clip(b.Crash.Text, 1500)
	}
	if b.Try != nil {
		b.Try.Args, b.Try.Error = machine.Clip(b.Try.Args, 200), machine.Clip(b.Try.Error, 300)
	}
	for j := range b.Deep {
		b.Deep[j] = machine.Clip(b.Deep[j], 120)
	}
}
