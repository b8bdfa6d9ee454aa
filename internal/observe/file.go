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
		clip(40, &p.Name)
		clip(160, &p.Command)
		clip(32, &p.User)
		clip(80, &p.Mount)
		clip(10, &p.Torch)
		clip(200, &p.Missed)
		if p.Probe != nil {
			scrubProbe(p.Probe)
		}
	}
}

// clip makes texts safe to show, and no longer than n.
func clip(n int, list ...*string) {
	for _, s := range list {
		*s = text.Clip(*s, n)
	}
}

func scrubProbe(b *verdict.Probe) {
	clip(60, &b.Version)
	clip(30, &b.CUDA, &b.HIP, &b.Matmul)
	clip(300, &b.Error)
	b.Visible = cleanPtr(b.Visible)
	for j := range b.Loaders {
		l := &b.Loaders[j]
		clip(200, &l.Own, &l.Setting, &l.Where)
		clip(60, &l.Dataset)
		clip(300, &l.Source)
	}
	if u := b.Burst; u != nil {
		clip(200, &u.CopyAt, &u.SyncAt, &u.CopyOwn, &u.SyncOwn)
	}
	if b.Where != nil {
		scrubWhere(b.Where)
	}
	b.Via = cleanAll(b.Via)
	if b.Crash != nil {
		clip(60, &b.Crash.Type)
		clip(1500, &b.Crash.Text)
	}
	if b.Try != nil {
		clip(200, &b.Try.Args)
		clip(300, &b.Try.Error)
	}
	for j := range b.Deep {
		clip(120, &b.Deep[j])
	}
}

func scrubWhere(w *verdict.Where) {
	clip(200, &w.GCAt, &w.CompileAt, &w.Reason)
	for i := range w.Top {
		s := &w.Top[i]
		clip(200, &s.At)
		clip(80, &s.Func, &s.Call)
		clip(20, &s.Part)
	}
}
