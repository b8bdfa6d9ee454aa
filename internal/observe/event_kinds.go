package observe

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

func parseEvents(data []byte) *verdict.Probe {
	p, n := &verdict.Probe{}, 0
	for line := range bytes.Lines(data) {
		var of struct {
			Kind string `json:"ev"`
		}
		if n >= mostEvents || json.Unmarshal(line, &of) != nil {
			continue
		}
		e := newEvent(of.Kind)
		if e == nil || json.Unmarshal(line, e) != nil {
			continue
		}
		n++
		e.apply(p)
	}
	return p
}

// place is text that names a line of a file.
func place(s string) string { return text.Clip(s, 200) }

// A torchEvent says which torch was imported.
type torchEvent struct {
	Version string  `json:"version"`
	CUDA    *string `json:"cuda"`
	HIP     *string `json:"hip"`
	XPU     any     `json:"xpu"`
	Visible *string `json:"visible"`
	Prefix  string  `json:"prefix"`
}

func (e *torchEvent) apply(p *verdict.Probe) {
	p.Version, p.CUDA, p.HIP, p.XPU = text.Clip(e.Version, 60), short(e.CUDA), short(e.HIP), e.XPU != nil && e.XPU != false
	p.Visible = cleanPtr(e.Visible)
	if filepath.IsAbs(e.Prefix) && e.Prefix == text.Clip(e.Prefix, 1024) {
		p.Prefix = e.Prefix
	}
}

// An availableEvent is the answer of torch.cuda.is_available() to the job.
type availableEvent struct {
	Answer *bool `json:"answer"`
}

func (e *availableEvent) apply(p *verdict.Probe) { p.SaidNo = e.Answer != nil && !*e.Answer }

// A loaderEvent is a DataLoader that was made.
type loaderEvent struct {
	Workers  int    `json:"workers"`
	Pin      bool   `json:"pin"`
	Batch    *int   `json:"batch"`
	Keep     bool   `json:"persistent"`
	Prefetch *int   `json:"prefetch"`
	Dataset  string `json:"dataset"`
	Data     int64  `json:"data"` // tells one data set from another
	Stream   bool   `json:"stream"`
	Divided  bool   `json:"divided"`
	Files    *int   `json:"files"`
	Where    string `json:"where"`
	Own      string `json:"own"`
}

func (e *loaderEvent) apply(p *verdict.Probe) {
	p.Loaders = append(p.Loaders, verdict.Loader{Workers: e.Workers, Pin: e.Pin, Persistent: e.Keep, Dataset: text.Clip(e.Dataset, 60),
		Where: place(e.Where), Own: place(e.Own), Data: e.Data, Stream: e.Stream, Divided: e.Divided, Files: number(e.Files),
		Batch: number(e.Batch), Prefetch: number(e.Prefetch), Source: sourceLine(e.Where), Setting: settingLine(e.Own)})
}

// A feedsEvent names a data set that a training step used: another loader is one
// for validation.
type feedsEvent struct {
	Data int64 `json:"data"`
}

func (e *feedsEvent) apply(p *verdict.Probe) {
	for i := range p.Loaders {
		p.Loaders[i].Trains = p.Loaders[i].Trains || p.Loaders[i].Data == e.Data
	}
}

// A batchEvent is the first batch.
type batchEvent struct {
	N     int    `json:"n"`
	Shape []int  `json:"shape"`
	Type  string `json:"dtype"`
}

func (e *batchEvent) apply(p *verdict.Probe) {
	p.Tensors = e.N
	if len(e.Shape) > 0 && len(e.Shape) < 16 {
		p.Batch = &verdict.Tensor{Shape: e.Shape, Type: text.Clip(e.Type, 30)}
	}
}

// A configEvent is what the first step of an optimizer showed.
type configEvent struct {
	Params   map[string]int64  `json:"params"`
	Matrices int64             `json:"matrices"`
	CUDAInit bool              `json:"cuda_init"`
	Matmul   string            `json:"matmul"`
	Compiled bool              `json:"compiled"`
	Env      map[string]string `json:"env"`
	Via      []string          `json:"via"`
	Rank     *int              `json:"rank"`
	World    *int              `json:"world"`
}

func (e *configEvent) apply(p *verdict.Probe) {
	p.CUDAInit, p.Matmul, p.Compiled = p.CUDAInit || e.CUDAInit, text.Clip(e.Matmul, 20), e.Compiled
	p.Matrices = max(0, e.Matrices)
	p.Params = map[string]int64{}
	for k, n := range e.Params {
		if len(p.Params) < 64 && n >= 0 {
			p.Params[text.Clip(k, 60)] = n
		}
	}
	for _, name := range e.Via[:min(len(e.Via), 12)] {
		p.Via = append(p.Via, text.Clip(name, 40))
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

// A burstEvent is what a few steps under closer watch showed. Times are in
// nanoseconds.
type burstEvent struct {
	Steps    int    `json:"steps"`
	Copy     int    `json:"copy"`
	Sync     int    `json:"sync"`
	CPUCopy  int    `json:"cpu_copy"`
	CPUSync  int    `json:"cpu_sync"`
	Autocast int    `json:"autocast"`
	Own      int64  `json:"own"`
	OwnLeast int64  `json:"own_least"`
	Batches  int    `json:"batches"`
	Backward int    `json:"backward"`
	CopyAt   string `json:"copy_at"`
	CopyOwn  string `json:"copy_own"`
	SyncAt   string `json:"sync_at"`
	SyncOwn  string `json:"sync_own"`
}

func (e *burstEvent) apply(p *verdict.Probe) {
	b := verdict.Burst{Steps: e.Steps, Copies: e.Copy, Syncs: e.Sync, Autocast: e.Autocast, Own: max(0, float64(e.Own)/1e9),
		CopyAt: place(e.CopyAt), CopyOwn: place(e.CopyOwn), SyncAt: place(e.SyncAt), SyncOwn: place(e.SyncOwn)}
	b.OwnLeast, b.Passes = max(0, float64(e.OwnLeast)/1e9), passes(e.Batches, e.Backward)
	if !p.CUDAInit && e.Copy == 0 && e.Sync == 0 {
		b.Copies, b.Syncs, b.OnCPU = e.CPUCopy, e.CPUSync, true
	}
	p.Burst = &b
}

// passes is how often a model was run forward and backward: each takes a batch, and
// may have more than one loss. A loop without a DataLoader is known by its losses.
func passes(batches, backward int) int {
	if batches > 0 && backward > 0 {
		return min(batches, backward)
	}
	return max(0, batches, backward)
}

// A whereEvent is what ran in the loop, or in a worker, when it was looked at.
// Times are in microseconds.
type whereEvent struct{ verdict.Where }

func (e *whereEvent) apply(p *verdict.Probe) {
	w := e.Where
	w.Seen, w.Looks, w.Count, w.GC, w.Compiles = max(0, w.Seen), max(0, w.Looks), max(0, w.Count), max(0, w.GC), max(0, w.Compiles)
	w.Top, w.Parts = nil, map[string]int{}
	for _, s := range e.Top[:min(len(e.Top), 24)] {
		if s.N > 0 && s.N <= e.Seen {
			w.Top = append(w.Top, s)
		}
	}
	for _, part := range verdict.LoopParts {
		if n := e.Parts[part]; n > 0 {
			w.Parts[part] = n
		}
	}
	scrubWhere(&w)
	p.Where = &w // a later one has counted on
}

// A parallelEvent is a model wrapped for several GPUs or ranks.
type parallelEvent struct {
	Kind    string `json:"kind"`
	Devices int    `json:"devices"`
}

func (e *parallelEvent) apply(p *verdict.Probe) {
	if len(p.Parallel) < 4 {
		p.Parallel = append(p.Parallel, text.Clip(e.Kind, 60))
	}
	p.Devices = max(p.Devices, e.Devices)
}

// A crashEvent is the exception that ended the process.
type crashEvent struct {
	Type    string `json:"type"`
	Message string `json:"msg"`
}

func (e *crashEvent) apply(p *verdict.Probe) {
	p.Crash = &verdict.Crash{Type: text.Clip(e.Type, 60), Text: text.Clip(text.Redact(e.Message), 1500)}
}

// An endEvent is what held when the process ended by itself.
type endEvent struct {
	CUDAInit bool `json:"cuda_init"`
	Compiled bool `json:"compiled"`
	Loaders  int  `json:"loaders"`
}

func (e *endEvent) apply(p *verdict.Probe) {
	p.CUDAInit, p.Compiled, p.Made = p.CUDAInit || e.CUDAInit, p.Compiled || e.Compiled, max(0, e.Loaders)
}

// A tryEvent is the measured effect of other arguments of the loader.
type tryEvent struct{ verdict.Try }

func (e *tryEvent) apply(p *verdict.Probe) {
	e.Args, e.Error = text.Clip(e.Args, 200), text.Clip(e.Error, 300)
	e.LoadB, e.LoadA = e.Before, e.After
	p.Try = &e.Try
}

// A deepEvent lists the costliest operators.
type deepEvent struct {
	Top     []string `json:"top"`
	Kernels bool     `json:"kernels"`
}

func (e *deepEvent) apply(p *verdict.Probe) {
	p.Kernels = e.Kernels
	for _, s := range e.Top[:min(len(e.Top), 8)] {
		p.Deep = append(p.Deep, text.Clip(s, 120))
	}
}

// An errorEvent is why the probe took itself out.
type errorEvent struct {
	Err string `json:"err"`
}

func (e *errorEvent) apply(p *verdict.Probe) { p.Error = text.Clip(e.Err, 300) }
