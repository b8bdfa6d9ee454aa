package verdict

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/say"
)

// Thresholds, with where they come from. XProf: op_stats_to_input_pipeline_analysis.cc;
// TraceML: policy.py; SageMaker: debugger-rulesconfig; kineto: tb_plugin.
const (
	idleHigh      = 0.20 // share of the time without a kernel from which the GPU is said to wait
	idleNever     = 0.95
	loadHigh      = 0.20 // XProf: "highly input-bound"; TraceML: critical
	loadHighCPU   = 0.30 // without a GPU the steps are slow and jitter is large: a healthy job was seen at 21 %
	UtilBusy      = 80.0 // percent
	utilLow       = 70.0 // SageMaker LowGPUUtilization: p95 below 70
	syncsMany     = 5.0  // a step
	memHeld       = 0.20
	memFull       = 0.90 // kineto tb_plugin
	memLow        = 0.30 // TraceML
	stepTiny      = 0.005
	edgeHigh      = 0.20
	skewHigh      = 0.20
	skewLeast     = 0.002 // seconds: on a busy machine a rank was seen 1 ms late, for no reason of the job's
	otherBusy     = 0.50  // of a core: a loop that computes wants 0.9 and more, also one that spins for its GPU
	throttledHigh = 0.10  // of the quota's periods (signals.csv, cpu_quota)
	workerBusy    = 0.70  // SageMaker: workers use 70 to 200 % of the cores
	unusedMiB     = 400   // a GPU with less than this and no load was not used; a CUDA context alone takes more
)

// A facts is what the rules read: measurements, each of which may be unknown.
type facts struct {
	t       *Trace
	lead    *Process   // the process that trains, or the likeliest one
	ranks   []*Process // every process that trains
	workers []*Process // of the loaders
	gpus    []GPUFrame // by position in t.GPUs, over the window
	whole   []GPUFrame // the same over the whole run
	used    []int      // positions of the GPUs that the job used
	noGPU   bool
	idle    num // of the used GPUs; of all where none was used
	util    num
}

// A num is a measurement that may be unknown.
type num struct {
	v  float64
	ok bool
}

func known(v float64) num { return num{v, true} }

func ratio(a float64, n int) num {
	if n == 0 {
		return num{}
	}
	return known(a / float64(n))
}

func (s GPUFrame) util() num { return ratio(s.Util, s.N) }

// idle is the share of the time in which no kernel ran. A sample of NVML's is a mean
// over many short steps, so none of them need be low for that.
func (s GPUFrame) idle() num { return ratio(float64(s.N)-s.Util/100, s.N) }

func gather(t *Trace) *facts {
	f := &facts{t: t}
	f.findProcesses()
	from, to := f.window()
	f.gpus, f.whole = f.add(from, to), f.add(0, t.Seconds+1)
	for i := range f.gpus { // too short a run for any sample in the window
		if f.gpus[i].N == 0 && f.gpus[i].PowerN == 0 {
			f.gpus[i] = f.whole[i]
		}
	}
	f.findUsed()
	f.noGPU = len(t.GPUs) == 0 && t.Host.OtherGPU == "" && !f.touchedGPU()
	f.idle, f.util = f.mean(GPUFrame.idle), f.mean(GPUFrame.util)
	return f
}

// findProcesses picks the processes that train and, among them, the leading
// one: rank 0, else the one with most steps, else torch with most CPU time.
func (f *facts) findProcesses() {
	score := func(p *Process) (s float64) {
		if p.Probe != nil {
			s = 1e3 + float64(p.Probe.Page.Steps)*1e3 + float64(p.Probe.Page.Batches)*10
			if p.Probe.Rank != nil && *p.Probe.Rank == 0 && p.Probe.Page.Steps > 0 {
				s *= 1e6
			}
		} else if p.Torch != "" {
			s = 500
		}
		return s + min(p.CPU, 400)
	}
	for i := range f.t.Processes {
		p := &f.t.Processes[i]
		switch {
		case p.Worker:
			f.workers = append(f.workers, p)
			continue
		case p.Probe != nil && p.Probe.Page.Steps > 0:
			f.ranks = append(f.ranks, p)
		}
		if f.lead == nil || score(p) > score(f.lead) {
			f.lead = p
		}
	}
	f.lead = cmp.Or(f.lead, &Process{})
}

func (f *facts) probe() *Probe {
	if f.lead.Probe == nil {
		return &Probe{}
	}
	return f.lead.Probe
}

// window is the time that is judged: the training loop after its warm-up where
// the probe saw it, else what follows the first 5 s of GPU use.
func (f *facts) window() (from, to float64) {
	p := f.probe().Page
	if p.Warm > 0 && p.LastAt-p.WarmAt >= 1 {
		return p.WarmAt, p.LastAt
	}
	first := f.t.Seconds
	for _, fr := range f.t.Frames {
		for _, g := range fr.GPUs {
			if g.N > g.Idle || g.Ours > 0 {
				first = min(first, fr.At)
			}
		}
	}
	if first >= f.t.Seconds {
		first = 0
	}
	return first + min(5, (f.t.Seconds-first)/4), f.t.Seconds + 1
}

func (f *facts) add(from, to float64) []GPUFrame {
	all := Frame{GPUs: make([]GPUFrame, len(f.t.GPUs))}
	for _, fr := range f.t.Frames {
		if mid := fr.At + fr.Span/2; mid >= from && mid <= to {
			all = all.Plus(fr)
		}
	}
	return all.GPUs[:len(f.t.GPUs)]
}

// findUsed lists the GPUs the job worked on. Where the process list cannot be
// compared, load and memory that were not there before count as the job's.
func (f *facts) findUsed() {
	for i, g := range f.t.GPUs {
		s := f.whole[i]
		switch {
		case g.Attributed && s.Ours > 0:
			f.used = append(f.used, i)
		case g.Attributed:
		case f.foreign(i):
		case s.N > 0 && s.Util/float64(s.N) > 10, s.Used >= unusedMiB:
			f.used = append(f.used, i)
		}
	}
}

// foreign reports whether a GPU is held by somebody else: more than a fifth of
// its memory, and the job has less than half of that.
func (f *facts) foreign(i int) bool {
	g, s := f.t.GPUs[i], f.whole[i]
	if g.Memory == 0 {
		return false
	}
	if g.Attributed {
		return share(s.Theirs, g.Memory) > memHeld && s.Ours < s.Theirs/2
	}
	if g.Before == nil {
		return false
	}
	before := share(*g.Before, g.Memory)
	return before > memHeld && s.Used-*g.Before < *g.Before/2
}

func share(a, b int64) float64 { return float64(a) / float64(b) }

func (f *facts) touchedGPU() bool {
	return slices.ContainsFunc(f.t.Processes, func(p Process) bool {
		return p.GPUFiles || p.Probe != nil && (p.Probe.CUDAInit || p.Probe.onDevice())
	})
}

// mean averages a measurement over the used GPUs, or over all where none was
// used; unknown where none of them has it.
func (f *facts) mean(of func(GPUFrame) num) num { return ratio(f.total(f.gpus, of)) }

// total adds a measurement up over the same GPUs, and counts those that have it.
func (f *facts) total(gpus []GPUFrame, of func(GPUFrame) num) (total float64, n int) {
	pick := f.used
	if len(pick) == 0 {
		for i := range f.t.GPUs {
			pick = append(pick, i)
		}
	}
	for _, i := range pick {
		if v := of(gpus[i]); v.ok {
			total, n = total+v.v, n+1
		}
	}
	return total, n
}

// waits reports whether the GPU idles for much of the time. Without a GPU, or
// without a way to measure it, the rule goes by the rest of its evidence.
func (f *facts) waits() bool { return !f.idle.ok || f.idle.v >= idleHigh }

// sure lowers a confidence that rests on an idle GPU nobody could measure.
func (f *facts) sure(level string) string {
	return say.Either(!f.idle.ok && level == high, medium, level)
}

// load is the share of a step that the loop waited for its loader.
func (f *facts) load() num {
	p := f.probe().Page
	if p.Step <= 0 || p.Batches == 0 {
		return num{}
	}
	return known(min(p.Load/p.Step, 1))
}

func (f *facts) loadLimit() float64 {
	return say.Either(f.noGPU, loadHighCPU, loadHigh)
}

// step is the mean time of a step in seconds.
func (f *facts) step() num {
	p := f.probe().Page
	if p.Warm == 0 {
		return num{}
	}
	return known(p.Step / float64(p.Warm))
}

// core is the share of a CPU core that the leading process wanted: what it got
// and what it waited for, so that a busy machine does not hide it.
func (f *facts) core() num {
	p := f.lead
	if p.LoopWall > 0 {
		return known((p.LoopCPU + p.Delay) / p.LoopWall)
	}
	if p.Wall > 0 {
		return known(p.CPU / p.Wall)
	}
	return num{}
}

// loader is the training loader: of those whose data a step used, the first with
// most workers; a library may have made it again of the user's own, which is the
// one to name.
func (f *facts) loader() (best Loader) {
	for i, l := range f.probe().Loaders {
		better := l.Workers > best.Workers || l.Workers == best.Workers && installed(best.Where) && !installed(l.Where)
		if i == 0 || l.Trains && !best.Trains || l.Trains == best.Trains && better {
			best = l
		}
	}
	return best
}

// workerCPU is the workers' CPU use in cores. Workers may be many generations of
// few: what counts is what one uses, times how many there are at a time.
func (f *facts) workerCPU() float64 {
	cpu, wall := 0.0, 0.0
	for _, w := range f.workers {
		if w.Wall > 0 {
			cpu, wall = cpu+w.CPU, wall+w.Wall
		}
	}
	if wall == 0 {
		return 0
	}
	n := len(f.workers)
	if at := f.loader().Workers * f.world(); at > 0 {
		n = min(n, at)
	}
	return cpu / wall * float64(n)
}

func (p *Probe) onDevice() bool {
	all, cpu, _ := p.params()
	return all > cpu
}

// params counts the parameters, and those on the CPU and in 32-bit floats.
func (p *Probe) params() (all, cpu, fp32 int64) {
	for k, n := range p.Params {
		all += n
		if strings.HasPrefix(k, "cpu/") {
			cpu += n
		}
		if strings.HasSuffix(k, "float32") {
			fp32 += n
		}
	}
	return all, cpu, fp32
}

// visible is CUDA_VISIBLE_DEVICES as the job saw it; nil: not set.
func (f *facts) visible() *string {
	return cmp.Or(f.probe().Visible, f.t.Host.Visible)
}

// hidden reports whether CUDA_VISIBLE_DEVICES hides every GPU: empty, or an
// invalid first entry, at which CUDA stops reading.
func hidden(v *string) bool {
	if v == nil {
		return false
	}
	first, _, _ := strings.Cut(*v, ",")
	first = strings.TrimSpace(first)
	return first == "" || strings.HasPrefix(first, "-") || strings.EqualFold(first, "NoDevFiles") || strings.EqualFold(first, "none")
}

// visibleCount is how many GPUs the job could see.
func (f *facts) visibleCount() int {
	n := len(f.t.GPUs)
	if v := f.visible(); v != nil {
		if hidden(v) {
			return 0
		}
		n = min(n, strings.Count(strings.Trim(*v, ", "), ",")+1)
	}
	return n
}

// world is the number of processes that train together.
func (f *facts) world() int {
	return max(f.probe().World, len(f.ranks), 1)
}
