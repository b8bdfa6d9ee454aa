package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

func cleanAll(list []string) []string {
	out := make([]string, 0, len(list))
	for i, s := range list {
		if i == 64 {
			return append(out, "…")
		}
		out = append(out, text.Clip(s, 300))
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
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 && !strings.HasPrefix(path, "/dev/") {
		return nil, fmt.Errorf("%s is a pipe, not a file", path) // whose writer may never come
	}
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

// LoadReport reads what --report wrote, or judges what --save wrote.
func LoadReport(path string) (r verdict.Report, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 64<<20))
	if err != nil {
		return r, err
	}
	var of struct {
		Verdict string          `json:"verdict"`
		Frames  json.RawMessage `json:"frames"`
	}
	if json.Unmarshal(data, &of) == nil && of.Verdict != "" && of.Frames == nil {
		if err = json.Unmarshal(data, &r); err == nil && r.Format > verdict.Format {
			err = fmt.Errorf("written by a newer envfix (format %d)", r.Format)
		}
	} else {
		var t *verdict.Trace
		if t, err = Decode(data); err == nil {
			r = verdict.Judge(t)
		}
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
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
	t.Command, t.Signal, t.Notes = cleanAll(t.Command), text.Clip(t.Signal, 20), cleanAll(t.Notes)
	for i := range t.GPUs {
		g := &t.GPUs[i]
		g.Name, g.UUID, g.Link = text.Clip(g.Name, 60), text.Clip(g.UUID, 60), text.Clip(g.Link, 20)
		for j := range g.Tenants {
			g.Tenants[j].User, g.Tenants[j].Name = text.Clip(g.Tenants[j].User, 32), text.Clip(g.Tenants[j].Name, 40)
		}
	}
	for i := range t.Processes {
		p := &t.Processes[i]
		p.Name, p.Command, p.User, p.Mount, p.Torch = text.Clip(
			p.Name,
			40,
		), text.Clip(
			p.Command,
			160,
		), text.Clip(
			p.User,
			32,
		), text.Clip(
			p.Mount,
			80,
		), text.Clip(
			p.Torch,
			10,
		)
		p.Missed = text.Clip(p.Missed, 200)
		if p.Probe != nil {
			scrubProbe(p.Probe)
		}
	}
}

func scrubProbe(b *verdict.Probe) {
	b.Version, b.CUDA, b.HIP, b.Matmul, b.Error, b.Visible = text.Clip(
		b.Version,
		60,
	), text.Clip(
		b.CUDA,
		30,
	), text.Clip(
		b.HIP,
		30,
	), text.Clip(
		b.Matmul,
		20,
	), text.Clip(
		b.Error,
		300,
	), cleanPtr(
		b.Visible,
	)
	for j := range b.Loaders {
		l := &b.Loaders[j]
		l.Own, l.Setting = text.Clip(l.Own, 200), text.Clip(l.Setting, 200)
		l.Dataset, l.Where, l.Source = text.Clip(l.Dataset, 60), text.Clip(l.Where, 200), text.Clip(l.Source, 300)
	}
	if b.Burst != nil {
		b.Burst.CopyAt, b.Burst.SyncAt = text.Clip(b.Burst.CopyAt, 200), text.Clip(b.Burst.SyncAt, 200)
	}
	if u := b.Burst; u != nil {
		u.CopyOwn, u.SyncOwn, u.PythonAt = text.Clip(u.CopyOwn, 200), text.Clip(u.SyncOwn, 200), text.Clip(u.PythonAt, 200)
		for j := range u.Parts {
			u.Parts[j].Name = text.Clip(u.Parts[j].Name, 20)
		}
	}
	if b.Where != nil {
		for j := range b.Where.Top {
			s := &b.Where.Top[j]
			s.At, s.Func, s.Call, s.Part = text.Clip(s.At, 200), text.Clip(s.Func, 80), text.Clip(s.Call, 80), text.Clip(s.Part, 20)
		}
	}
	b.Via = cleanAll(b.Via)
	if b.Crash != nil {
		b.Crash.Type, b.Crash.Text = text.Clip(b.Crash.Type, 60), text.Clip(b.Crash.Text, 1500)
	}
	if b.Try != nil {
		b.Try.Args, b.Try.Error = text.Clip(b.Try.Args, 200), text.Clip(b.Try.Error, 300)
	}
	for j := range b.Deep {
		b.Deep[j] = text.Clip(b.Deep[j], 120)
	}
}
