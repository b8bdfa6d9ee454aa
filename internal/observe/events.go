package observe

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

// An event is a line of a probe's file, of any kind.
type event struct {
	Kind      string            `json:"ev"`
	Version   string            `json:"version"`
	CUDA      *string           `json:"cuda"`
	HIP       *string           `json:"hip"`
	XPU       any               `json:"xpu"`
	Visible   *string           `json:"visible"`
	Answer    *bool             `json:"answer"`
	Workers   int               `json:"workers"`
	Pin       bool              `json:"pin"`
	Batch     *int              `json:"batch"`
	Keep      bool              `json:"persistent"`
	Prefetch  *int              `json:"prefetch"`
	Dataset   string            `json:"dataset"`
	Where     string            `json:"where"`
	N         int               `json:"n"`
	Shape     []int             `json:"shape"`
	Type      string            `json:"dtype"`
	Params    map[string]int64  `json:"params"`
	Matrices  int64             `json:"matrices"`
	CUDAInit  bool              `json:"cuda_init"`
	Matmul    string            `json:"matmul"`
	Compiled  bool              `json:"compiled"`
	Env       map[string]string `json:"env"`
	Rank      *int              `json:"rank"`
	World     *int              `json:"world"`
	Steps     int               `json:"steps"`
	Copy      int               `json:"copy"`
	Sync      int               `json:"sync"`
	CPUCopy   int               `json:"cpu_copy"`
	CPUSync   int               `json:"cpu_sync"`
	Autocast  int               `json:"autocast"`
	Own       int64             `json:"own"`
	CopyAt    string            `json:"copy_at"`
	SyncAt    string            `json:"sync_at"`
	Share     float64           `json:"share"`
	Parallel  string            `json:"kind"`
	Devices   int               `json:"devices"`
	Exception string            `json:"type"`
	Message   string            `json:"msg"`
	Err       string            `json:"err"`
	Error     string            `json:"error"`
	Args      string            `json:"args"`
	Before    float64           `json:"before"`
	After     float64           `json:"after"`
	LoadB     float64           `json:"load_before"`
	LoadA     float64           `json:"load_after"`
	Top       []string          `json:"top"`
}

const mostEvents = 80 // a probe writes 64 at most

// readEvents reads what a probe wrote about its process. The file belongs to
// the job, so everything in it is checked and cleaned; a broken line is left out.
func readEvents(path string) *verdict.Probe {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, 512<<10)
	n, _ := f.ReadAt(data, 0)
	return parseEvents(data[:n])
}

func parseEvents(data []byte) *verdict.Probe {
	p, n := &verdict.Probe{}, 0
	for line := range bytes.Lines(data) {
		var e event
		if n >= mostEvents || json.Unmarshal(line, &e) != nil {
			continue
		}
		n++
		e.apply(p)
	}
	return p
}

func (e *event) apply(p *verdict.Probe) {
	switch e.Kind {
	case "torch":
		p.Version, p.CUDA, p.HIP, p.XPU = text.Clip(e.Version, 60), short(e.CUDA), short(e.HIP), e.XPU != nil && e.XPU != false
		p.Visible = cleanPtr(e.Visible)
	case "available":
		p.SaidNo = e.Answer != nil && !*e.Answer
	case "loader":
		l := verdict.Loader{Workers: e.Workers, Pin: e.Pin, Persistent: e.Keep, Dataset: text.Clip(e.Dataset, 60), Where: text.Clip(e.Where, 200)}
		l.Batch, l.Prefetch = number(e.Batch), number(e.Prefetch)
		l.Source = sourceLine(e.Where)
		p.Loaders = append(p.Loaders, l)
	case "batch":
		p.Tensors = e.N
		if len(e.Shape) > 0 && len(e.Shape) < 16 {
			p.Batch = &verdict.Tensor{Shape: e.Shape, Type: text.Clip(e.Type, 30)}
		}
	case "config":
		e.config(p)
	case "burst":
		b := verdict.Burst{Steps: e.Steps, Copies: e.Copy, Syncs: e.Sync, Autocast: e.Autocast, CopyAt: text.Clip(e.CopyAt, 200), SyncAt: text.Clip(e.SyncAt, 200),
			Own: max(0, float64(e.Own)/1e9)}
		if !p.CUDAInit && e.Copy == 0 && e.Sync == 0 {
			b.Copies, b.Syncs, b.OnCPU = e.CPUCopy, e.CPUSync, true
		}
		p.Burst = &b
	case "python":
		if p.Burst != nil {
			share := max(0.001, min(e.Share, 1))
			if p.Burst.Python == 0 || share < p.Burst.Python { // what else runs here makes it larger, nothing smaller
				p.Burst.Python = share
			}
		}
	case "parallel":
		if len(p.Parallel) < 4 {
			p.Parallel = append(p.Parallel, text.Clip(e.Parallel, 60))
		}
		p.Devices = max(p.Devices, e.Devices)
	case "crash":
		p.Crash = &verdict.Crash{Type: text.Clip(e.Exception, 60), Text: text.Clip(e.Message, 1500)}
	case "end":
		p.CUDAInit, p.Compiled = p.CUDAInit || e.CUDAInit, p.Compiled || e.Compiled
	case "try":
		p.Try = &verdict.Try{Args: text.Clip(e.Args, 200), Steps: e.Steps, Before: e.Before, After: e.After, LoadB: e.LoadB, LoadA: e.LoadA, Error: text.Clip(e.Error, 300)}
	case "deep":
		for i := range min(len(e.Top), 8) {
			p.Deep = append(p.Deep, text.Clip(e.Top[i], 120))
		}
	case "probe_error":
		p.Error = text.Clip(e.Err, 300)
	}
}

func (e *event) config(p *verdict.Probe) {
	p.CUDAInit, p.Matmul, p.Compiled = p.CUDAInit || e.CUDAInit, text.Clip(e.Matmul, 20), e.Compiled
	p.Matrices = max(0, e.Matrices)
	p.Params = map[string]int64{}
	for k, n := range e.Params {
		if len(p.Params) < 64 && n >= 0 {
			p.Params[text.Clip(k, 60)] = n
		}
	}
	if v, ok := e.Env["CUDA_VISIBLE_DEVICES"]; ok {
		p.Visible = cleanPtr(&v)
	}
	p.Rank, p.World = e.Rank, number(e.World)
	if n, err := strconv.Atoi(e.Env["RANK"]); err == nil && p.Rank == nil {
		p.Rank = &n
	}
	if n, err := strconv.Atoi(e.Env["WORLD_SIZE"]); err == nil && p.World == 0 {
		p.World = n
	}
}

func cleanPtr(s *string) *string {
	if s == nil {
		return nil
	}
	c := text.Clip(*s, 200)
	return &c
}

func short(s *string) string {
	if s == nil {
		return ""
	}
	return text.Clip(*s, 30)
}

func number(n *int) int {
	if n == nil || *n < 0 {
		return 0
	}
	return *n
}

// sourceLine reads the line that a place like train.py:12 names, to propose a
// change of it. Only a regular file is read, and only its beginning.
func sourceLine(where string) string {
	file, number, ok := cutLast(where, ":")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return ""
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() || st.Size() > 4<<20 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(data), "\n")
	if n > len(lines) || len(lines[n-1]) > 300 {
		return ""
	}
	return text.Clip(lines[n-1], 300)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
