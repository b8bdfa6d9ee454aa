package observe

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
	"envfix/internal/say"
	"envfix/internal/text"
)

// A watched is one process of the job while it is watched.
type watched struct {
	verdict.Process
	stat, sched  proc.File
	kids, shared proc.File // its main thread's children; its page
	rawName      string    // as the kernel has it
	threads      int
	start        uint64
	firstCPU     float64 // at the first look: what a process did before counts for nothing
	lastCPU      float64
	seen         time.Time // first look
	warmCPU      float64
	warmAt       time.Time
	born         time.Time // as the kernel has it
	latest       int64     // memory at the latest look, MiB
	firstDelay   float64
	state        byte
	page         rawPage
	paged        bool
	firstRead    float64 // MiB from storage at the first look; io: there was one
	io           bool
	looked, gone bool // libraries were looked at; the process ended
}

// A watcher looks at a tree of processes.
type watcher struct {
	root    int
	own     bool // root was started by this envfix, so all of its CPU time counts
	lane    *lane
	clock   clock
	begun   time.Time
	procs   map[int]*watched
	order   []int
	owners  map[int]string // names of users by number
	secrets []string       // of the job's environment, which no command line may show
	mounts  []mount
	devices bool  // there are GPU devices that a process may have open
	seconds int   // whole seconds so far, for what is looked at less often
	pages   int64 // when the lane's folder last changed, in nanoseconds
	peak    int64
	buf     [4096]byte
	list    [4096]byte // of children, while buf is used for them
}

func newWatcher(root int, own bool, l *lane, env []string) *watcher {
	w := &watcher{secrets: text.Secrets(env), root: root, own: own, lane: l, begun: time.Now(), clock: clock{monotonic()},
		procs: map[int]*watched{}, owners: map[int]string{}, devices: gpuDevices()}
	w.mounts = parseMounts([]byte(proc.Self.Of(root).Read("mountinfo")))
	w.tree(true)
	return w
}

// delay is how long the main thread was ready and waited for a CPU: the second
// number of /proc/PID/schedstat.
func (p *watched) delay(buf []byte) float64 {
	b, ok := p.sched.Read(buf)
	if !ok {
		return 0
	}
	_, b = proc.Field(b)
	b, _ = proc.Field(b)
	n, _ := proc.Number(b)
	return ns(n)
}

// look takes one look at every process and returns the CPU seconds since the
// last and the memory now.
func (w *watcher) look(now time.Time) (cpu float64, rss int64) {
	second := int(now.Sub(w.begun) / time.Second)
	slow := second > w.seconds
	w.seconds = max(w.seconds, second)
	if slow || second < watchClosely {
		w.tree(slow && (second < watchClosely || second%5 == 0))
	}
	for _, pid := range w.order {
		p := w.procs[pid]
		if p.gone {
			continue
		}
		c, ok := w.one(p, now, slow)
		if !ok {
			p.close()
			continue
		}
		cpu, rss = cpu+c, rss+p.latest
	}
	w.peak = max(w.peak, rss)
	return cpu, rss
}

func (p *watched) close() {
	p.gone = true
	for _, f := range []*proc.File{&p.stat, &p.sched, &p.kids, &p.shared} {
		f.Close()
	}
}

func (w *watcher) one(p *watched, now time.Time, slow bool) (cpu float64, ok bool) {
	b, ok := p.stat.Read(w.buf[:])
	if !ok {
		return 0, false
	}
	s, err := proc.ParseStat(b)
	if err != nil || s.Start != p.start || s.State == 'Z' || s.State == 'X' {
		return 0, false
	}
	cpu, p.lastCPU = s.CPU-p.lastCPU, s.CPU
	if string(s.Name) != p.rawName { // exec, or a name that the program gave itself
		p.rename(s.Name, w.secrets)
	}
	p.Parent, p.RSS, p.latest, p.state, p.threads = s.Parent, max(p.RSS, s.RSS), s.RSS, s.State, s.Threads
	p.CPU, p.Wall = s.CPU-p.firstCPU, now.Sub(p.seen).Seconds()
	if w.own { // its CPU time counts from its start
		p.Wall = max(p.Wall, now.Sub(p.born).Seconds())
	}
	p.Samples++
	if s.State == 'D' {
		p.Blocked++
	}
	stepped := p.paged && w.readPage(p, now)
	if stepped && !p.warmAt.IsZero() { // what follows the last step is no part of the loop
		p.LoopCPU, p.LoopWall = s.CPU-p.warmCPU, now.Sub(p.warmAt).Seconds()
	}
	if stepped || p.warmAt.IsZero() && (slow || w.seconds < watchClosely) { // a whole second seldom falls on a long step's end
		p.Delay = max(0, p.delay(w.buf[:])-p.firstDelay)
	}
	if slow {
		w.closer(p, now)
	}
	return cpu, true
}

// closer looks at what costs more, once a second, and at open files more seldom
// the longer the job runs.
func (w *watcher) closer(p *watched, now time.Time) {
	every := say.Either(w.seconds >= watchClosely, 10, 2)
	wantsGPU := w.devices && !p.GPUFiles
	wantsMount := len(w.mounts) > 0 && p.Blocked > 0 && p.Mount == ""
	if (wantsGPU || wantsMount) && w.seconds%every == 0 {
		gpu, network := openFiles(proc.Self.Of(p.PID), w.mounts)
		p.GPUFiles, p.Mount = p.GPUFiles || gpu, cmp.Or(network, p.Mount)
	}
	if !p.looked && now.Sub(p.seen) > 3*time.Second && p.CPU > 0.5 {
		p.looked = true
		of := proc.Self.Of(p.PID)
		if p.Torch = libTorch(of); p.Torch != "" && !p.paged {
			p.Missed = w.lane.whyNot(of)
		}
	}
	if p.paged || p.Parent != 0 && w.procs[p.Parent] != nil && w.procs[p.Parent].paged { // who trains, and who loads for it
		p.readBytes(w.buf[:])
	}
}

// readBytes takes what a process has read from storage: a line of /proc/PID/io.
func (p *watched) readBytes(buf []byte) {
	f := proc.Open(string(proc.Self.Of(p.PID))+"/io", false)
	b, _ := f.Read(buf)
	_, read, _ := bytes.Cut(b, []byte("\nread_bytes:"))
	word, _ := proc.Field(read)
	if n, ok := proc.Number(word); ok {
		mib := float64(n) / (1 << 20)
		if !p.io {
			p.io, p.firstRead = true, mib
		}
		p.Read = mib - p.firstRead
	}
}

// readPage reads a process's page and reports whether its loop has moved since
// the last time; it marks the moment the loop became warm.
func (w *watcher) readPage(p *watched, now time.Time) (stepped bool) {
	b, ok := p.shared.Read(w.buf[:len(p.page)*8])
	before := p.page[wSteps]
	if !ok || !p.page.decode(b) {
		return false
	}
	if p.warmAt.IsZero() && p.page[wSteps] > p.page[wWarm] {
		p.warmAt, p.warmCPU, p.firstDelay, p.Delay = now, p.lastCPU, p.delay(w.buf[:]), 0
	}
	return p.page[wSteps] > before
}

// finish reads the last pages and events and returns the processes as the
// verdict wants them. It may be called while the job runs.
func (w *watcher) finish() []verdict.Process {
	now := monotonic()
	for pid, path := range w.lane.files("page") {
		raw, ok := readPage(path)
		if !ok {
			continue
		}
		w.ensure(pid)
		w.procs[pid].page, w.procs[pid].paged = raw, true
	}
	events := w.lane.files("jsonl")
	for pid := range events {
		w.ensure(pid)
	}
	out := make([]verdict.Process, 0, len(w.order))
	for _, pid := range w.order {
		p := w.procs[pid]
		if path, ok := events[pid]; ok {
			p.Probe = readEvents(path)
		}
		if p.paged {
			p.Probe = cmp.Or(p.Probe, &verdict.Probe{})
			p.Probe.Page = p.page.page(w.clock, now)
			p.Probe.OOMs, p.Probe.Retries = int(min(p.page[wOOMs], 1<<20)), int(min(p.page[wRetries], 1<<20))
			if n := p.page[wErr]; n > 0 && p.Probe.Error == "" {
				p.Probe.Error = "the probe took itself out"
			}
		}
		out = append(out, p.Process)
	}
	markWorkers(out)
	return out
}

// ensure has a process that was so short that no look fell into its life.
func (w *watcher) ensure(pid int) {
	if w.procs[pid] == nil {
		w.procs[pid] = &watched{Process: verdict.Process{PID: pid, Name: "python"}, gone: true}
		w.order = append(w.order, pid)
	}
}

// markWorkers finds the DataLoaders' workers: torch names them, and where it
// does not, they are Pythons below one that has a loader with workers and train
// nothing themselves.
func markWorkers(all []verdict.Process) {
	feeds := map[int]bool{}
	for _, p := range all {
		feeds[p.PID] = p.Probe != nil && slices.ContainsFunc(p.Probe.Loaders, func(l verdict.Loader) bool { return l.Workers > 0 })
	}
	servers := map[int]bool{} // multiprocessing's forkservers, which start the workers for them
	for _, p := range all {
		servers[p.PID] = feeds[p.Parent] && strings.Contains(p.Command, "multiprocessing.forkserver")
	}
	for i := range all {
		p := &all[i]
		trains := p.Probe != nil && (p.Probe.Page.Steps > 0 || p.Probe.Page.Batches > 0)
		named := strings.HasPrefix(p.Name, "pt_data_worker")
		below := (feeds[p.Parent] || servers[p.Parent]) && (strings.HasPrefix(p.Name, "python") || strings.HasPrefix(p.Name, "pt_"))
		helper := servers[p.PID] || strings.Contains(p.Command, "resource_tracker")
		p.Worker = !trains && !helper && (named || below)
	}
}
