package observe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"envfix/internal/nvmlchild"
	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
	"envfix/internal/say"
)

// A Watch looks at the machine, or at one job of it, second by second.
type Watch struct {
	gpus    *gpuLane
	rec     *Recorder // of the job with --pid
	Job     []string  // its command line
	spy     *spy      // of one that envfix did not start
	w       *watcher  // of the whole machine without
	prior   map[int]counters
	options Options
}

// counters are a process's totals at the last view.
type counters struct {
	cpu   float64
	steps uint64
	load  uint64
	at    time.Time
}

// StartWatch begins to watch: everything, or the process pid and those below
// it. The error says that there is no such process.
func StartWatch(o Options, pid int) (*Watch, error) {
	w := &Watch{prior: map[int]counters{}, options: o}
	if pid < 1 {
		w.gpus, w.w = startGPUs(o), newWatcher(0, false, nil, nil)
		return w, nil
	}
	job := proc.Self.Of(pid)
	if _, ok := job.Stat(); !ok {
		return nil, fmt.Errorf("no process %d", pid)
	}
	l := o.laneOf(pid)
	w.gpus, w.Job = startGPUs(o), job.Args() // while it is there
	w.gpus.started = time.Time{}             // the job was there before we were
	w.rec = newRecorder(pid, false, l, w.gpus, job.Env())
	w.w = w.rec.w
	if l == nil && strings.HasPrefix(job.Name(), "python") {
		w.spy = newSpy(pid)
	}
	return w, nil
}

// Stop ends the child that reads the GPUs.
func (w *Watch) Stop() { w.gpus.stop() }

// Trace is what was seen of the job so far; nil where no job was asked for.
func (w *Watch) Trace() *verdict.Trace {
	if w.rec == nil {
		return nil
	}
	t := w.rec.Trace()
	t.Notes = append(t.Notes, w.spy.notes()...)
	return t
}

// Next watches for about a second and returns what it was like. ok is false
// when the process that is watched has ended, or ctx is done.
func (w *Watch) Next(ctx context.Context) (v verdict.View, ok bool) {
	var frame verdict.Frame
	end := time.After(time.Second)
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return v, false
		case l, open := <-w.gpus.lines:
			if !open {
				w.gpus.lines = nil
				continue
			}
			w.take(l, &frame)
		case now := <-tick.C:
			if w.rec != nil {
				w.rec.tick(now)
			} else {
				w.w.look(now)
			}
		case now := <-end:
			if w.rec == nil {
				w.findProcesses()
			} else if p := w.w.procs[w.w.root]; p == nil || p.gone {
				return v, false
			}
			w.spy.look()
			return w.view(now, frame), true
		}
	}
}

func (w *Watch) take(l nvmlchild.SampleLine, f *verdict.Frame) {
	ours := func(pid int) bool { return w.rec != nil && w.rec.ours(pid) }
	var one verdict.Frame
	w.gpus.take(l, ours, &one)
	f.GPUs = f.Plus(one).GPUs
	if w.rec != nil {
		w.rec.current.GPUs = w.rec.current.Plus(one).GPUs
	}
}

// findProcesses adds who is on a GPU, this user's probes, and Pythons that have
// PyTorch.
func (w *Watch) findProcesses() {
	maps.DeleteFunc(w.w.procs, func(_ int, p *watched) bool { return p.gone }) // this watch never ends
	w.w.order = slices.DeleteFunc(w.w.order, func(pid int) bool { return w.w.procs[pid] == nil })
	for _, r := range w.gpus.latest {
		for _, p := range r.Procs {
			w.w.add(int(p[0]))
		}
	}
	for pid := range w.pages() {
		w.w.add(pid)
	}
	for _, pid := range proc.Self.PIDs() {
		if w.w.procs[pid] != nil {
			continue
		}
		name := proc.Self.Of(pid).Name()
		if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pt_main") {
			w.w.add(pid)
		}
	}
}

func (w *Watch) view(now time.Time, f verdict.Frame) verdict.View {
	v := verdict.View{Format: 1, Time: now.Format(time.RFC3339), GPUs: []verdict.GPUView{}, Processes: []verdict.ProcessView{}}
	on, mem := map[int][]int{}, map[int]int64{}
	for i, g := range w.gpus.gpus {
		if i < len(f.GPUs) {
			v.GPUs = append(v.GPUs, gpuView(g, f.GPUs[i]))
		}
		if i < len(w.gpus.latest) {
			for _, p := range w.gpus.latest[i].Procs {
				on[int(p[0])] = append(on[int(p[0])], g.Index)
				mem[int(p[0])] += p[1]
			}
		}
	}
	pages := w.pages()
	for _, pid := range w.w.order {
		p := w.w.procs[pid]
		if p.gone {
			continue
		}
		if x, show := w.process(p, on[pid], pages[pid], now); show {
			x.Memory = mem[pid]
			v.Processes = append(v.Processes, x)
		}
	}
	slices.SortFunc(v.Processes, func(a, b verdict.ProcessView) int {
		return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.PID, b.PID))
	})
	if w.gpus.note != "" {
		v.Notes = append(v.Notes, "GPUs: "+w.gpus.note)
	}
	if w.rec != nil {
		r := verdict.Judge(w.rec.Trace())
		v.Verdict, v.Text = r.Verdict, r.Text
	}
	return v
}

// pages are those of this user's probes, by process.
func (w *Watch) pages() map[int]string {
	out := map[int]string{}
	for _, l := range w.options.lanes() {
		maps.Copy(out, l.files("page"))
	}
	return out
}

func gpuView(g verdict.GPU, f verdict.GPUFrame) verdict.GPUView {
	out := verdict.GPUView{Index: g.Index, Name: g.Name, MemoryUsed: f.Used, MemoryTotal: g.Memory,
		Util: mean(f.Util, f.N), Power: mean(f.Power, f.PowerN), Clock: mean(f.Clock, f.Active)}
	if f.Temp > 0 {
		out.Temperature = &f.Temp
	}
	switch {
	case f.Hot > 0:
		out.Slowed = "heat"
	case f.Capped+f.Brake > 0:
		out.Slowed = "power"
	}
	return out
}

// mean is nil where nothing was measured.
func mean(sum float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// process is what is shown of a process; show is false for one that neither
// holds a GPU nor has PyTorch, unless it was asked for.
func (w *Watch) process(p *watched, gpus []int, page string, now time.Time) (x verdict.ProcessView, show bool) {
	x = verdict.ProcessView{PID: p.PID, User: p.User, GPUs: append([]int{}, gpus...), RSS: p.RSS, Command: cmp.Or(p.Command, "["+p.Name+"]")}
	if page != "" {
		if raw, ok := readPage(page); ok {
			p.page, p.paged = raw, true
		}
	}
	if p.Torch == "" && !p.looked && !p.paged {
		p.looked = true
		p.Torch = libTorch(proc.Self.Of(p.PID))
	}
	was, known := w.prior[p.PID]
	w.prior[p.PID] = counters{p.lastCPU, p.page[wSteps], p.page[wLoad], now}
	if dt := now.Sub(was.at).Seconds(); known && dt > 0 {
		x.CPU = max(0, p.lastCPU-was.cpu) / dt
		if p.paged && p.page[wSteps] > 0 {
			s := float64(p.page[wSteps]-min(was.steps, p.page[wSteps])) / dt
			x.StepsPer = &s
		}
	}
	x.Waits = waits(p, x.CPU, len(gpus) > 0, was, now)
	return x, w.rec != nil || len(gpus) > 0 || p.paged || p.Torch != ""
}

// waits says in a few words what a process waits for.
func waits(p *watched, cores float64, onGPU bool, was counters, now time.Time) string {
	pg := p.page.page(clock{}, monotonic())
	switch {
	case p.paged && pg.Waiting > 1:
		return fmt.Sprintf("data, for %.0f s", pg.Waiting)
	case p.state == 'D':
		return say.Either(p.Mount != "", "disk: "+p.Mount, "disk")
	case p.state == 'T':
		return "stopped"
	case p.paged && p.page[wSteps] > was.steps && !was.at.IsZero():
		share := ns(p.page[wLoad]-min(was.load, p.page[wLoad])) / max(now.Sub(was.at).Seconds(), 0.001)
		if share >= 0.2 {
			return fmt.Sprintf("data %.0f %%", 100*min(share, 1))
		}
		return "nothing: it trains"
	case cores >= 0.9:
		return "its CPU work"
	case onGPU:
		return "the GPU, or idle"
	case cores < 0.02:
		return "idle"
	}
	return "some CPU work"
}
