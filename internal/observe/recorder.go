package observe

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
	"envfix/internal/text"
)

// mostFrames bounds a recording: when it is full, neighbours are merged and
// frames become twice as long.
const mostFrames = 600

// A Recorder puts together what both lanes see of one job.
type Recorder struct {
	w       *watcher
	g       *gpuLane
	frames  []verdict.Frame
	current verdict.Frame
	span    float64 // seconds of a frame
	host    verdict.Host
	groups  string         // of the job, as the kernel names them
	group   cgroup         // as the job entered them
	before  map[string]int // processes that each group's folder had counted as killed before the job; nil: not known
	notes   []string
	load    uint64
}

func newRecorder(root int, own bool, l *lane, g *gpuLane, env []string) *Recorder {
	r := &Recorder{w: newWatcher(root, own, l, env), g: g, span: Interval.Seconds()}
	r.groups = groupsOf(root)
	r.group = readCgroup(r.groups)
	r.host = verdict.Host{CPUs: allowedCPUs(root), Quota: r.group.quota, MemoryLimit: r.group.memory, OtherGPU: otherGPU()}
	r.host.CPUs = cmp.Or(r.host.CPUs, float64(runtime.NumCPU()))
	r.host.ShmTotal, r.host.ShmLow = shm()
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, "CUDA_VISIBLE_DEVICES="); ok {
			v = text.Clip(v, longest)
			r.host.Visible = &v
		}
	}
	Shrink()
	return r
}

// since is the time since the job's start.
func (r *Recorder) since(now time.Time) float64 { return now.Sub(r.w.begun).Seconds() }

// tick takes a look at the processes.
func (r *Recorder) tick(now time.Time) {
	second := r.w.seconds
	cpu, rss := r.w.look(now)
	r.current.CPU += max(cpu, 0)
	r.current.RSS = max(r.current.RSS, rss)
	if r.w.seconds < 2 || r.w.seconds > second && (r.w.seconds < watchClosely || r.w.seconds%5 == 0) {
		r.slow() // launchers move a job into its group in the first moments
	}
	r.follow()
	r.current.Span = r.since(now) - r.current.At
	if r.current.Span >= r.span*0.99 {
		r.cut(now)
	}
}

// follow adds the leading process's progress to the frame.
func (r *Recorder) follow() {
	var best *watched
	for _, pid := range r.w.order {
		if p := r.w.procs[pid]; p.paged && (best == nil || p.page[wSteps] > best.page[wSteps]) {
			best = p
		}
	}
	if best == nil {
		return
	}
	r.current.Steps = best.page[wSteps]
	if l := best.page[wLoad]; l > r.load {
		r.current.Load += ns(l - r.load)
		r.load = l
	}
}

// cut ends a frame and makes room where none is left.
func (r *Recorder) cut(now time.Time) {
	r.frames = append(r.frames, r.current)
	if len(r.frames) >= mostFrames {
		r.frames = verdict.Halve(r.frames)
		r.span *= 2
	}
	r.current = verdict.Frame{At: r.since(now)}
}

// slow looks at the machine: what the job may use, and what that cost it.
func (r *Recorder) slow() {
	if _, free := shm(); r.host.ShmTotal > 0 {
		r.host.ShmLow = min(r.host.ShmLow, free)
	}
	pid := r.w.root
	for _, other := range r.w.order {
		if p := r.w.procs[other]; p.paged && !p.gone { // a launcher may have moved it, or pinned it
			pid = other
			r.host.CPUs = cmp.Or(allowedCPUs(pid), r.host.CPUs)
			break
		}
	}
	if now := groupsOf(pid); now != "" && now != r.groups {
		r.groups, r.group = now, readCgroup(now)
		if r.before != nil {
			r.group.kills = r.before[r.group.killsIn] // of a group made since: none
		}
		r.host.MemoryLimit = r.group.memory
	}
	r.host.AddressLimit = max(r.host.AddressLimit, addressLimit(pid))
	r.limited(readCgroup(r.groups))
}

// limited notes what the groups of the job say now.
func (r *Recorder) limited(c cgroup) {
	if !c.known {
		return
	}
	r.host.Quota = cmp.Or(c.quota, r.host.Quota)
	if n := c.periods - r.group.periods; c.periods > r.group.periods && n >= 5 {
		r.host.Throttled = float64(c.refused-r.group.refused) / float64(n)
	}
	r.host.OOMKills = max(0, c.kills-r.group.kills)
}

func (r *Recorder) ours(pid int) bool {
	_, ok := r.w.procs[pid]
	return ok
}

// Trace is what was seen so far. It may be asked for while the job runs.
func (r *Recorder) Trace() *verdict.Trace {
	r.limited(readCgroup(r.groups)) // what ended the job has not been seen yet
	frames := append([]verdict.Frame{}, r.frames...)
	if r.current.Span > 0 || len(r.current.GPUs) > 0 {
		frames = append(frames, r.current)
	}
	t := &verdict.Trace{Format: verdict.Format, Seconds: r.since(time.Now()), Host: r.host, GPUs: r.g.finish(), Frames: frames, Processes: r.w.finish()}
	t.Host.MemoryPeak = r.w.peak
	t.Notes = append(append(t.Notes, r.notes...), r.limits(t)...)
	return t
}

// limits says what could not be measured, and why.
func (r *Recorder) limits(t *verdict.Trace) (notes []string) {
	if r.g.note != "" && len(t.GPUs) == 0 {
		notes = append(notes, "GPUs: "+r.g.note)
	}
	for i, g := range t.GPUs {
		n := 0
		for _, f := range t.Frames {
			if i < len(f.GPUs) {
				n += f.GPUs[i].N
			}
		}
		if n == 0 && len(t.Frames) > 5 {
			why := "the driver does not support it"
			if g.MIG {
				why = "MIG is on"
			} else if _, err := os.Stat("/dev/dxg"); err == nil {
				why = "WSL"
			}
			notes = append(notes, "GPU "+strconv.Itoa(g.Index)+": utilisation is not measurable here ("+why+")")
		}
		if !g.Attributed {
			notes = append(notes, "GPU "+strconv.Itoa(g.Index)+": its processes cannot be told apart from here")
		}
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		notes = append(notes, "processes: this system has no /proc")
	}
	return append(notes, r.unreached(t)...)
}

// unreached names the Pythons with torch that the probe is not in.
func (r *Recorder) unreached(t *verdict.Trace) (notes []string) {
	if r.w.lane == nil {
		return nil
	}
	for _, p := range t.Processes {
		switch {
		case p.Probe != nil && p.Probe.Error != "":
			notes = append(notes, "PID "+strconv.Itoa(p.PID)+": the probe took itself out: "+p.Probe.Error)
		case p.Probe == nil && p.Torch != "" && !p.Worker:
			why := cmp.Or(p.Missed, "python -I, -E or -S, another user, or a clean environment")
			notes = append(notes, "PID "+strconv.Itoa(p.PID)+" uses PyTorch and the probe did not reach it: "+why)
		}
	}
	return notes
}

// whyNot says why Python did not load the probe, as far as its arguments and its
// environment tell.
func (l *lane) whyNot(p proc.Process) string {
	if l == nil {
		return ""
	}
	args := p.Args()
	for _, a := range args[min(1, len(args)):] {
		if !strings.HasPrefix(a, "-") || a == "-c" || a == "-m" {
			break
		}
		if !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "IES") {
			return "`python " + text.Clip(a, 20) + "` leaves PYTHONPATH or site out"
		}
	}
	env := p.Env()
	switch path := lookup(env, "PYTHONPATH"); {
	case env == nil:
		return ""
	case lookup(env, "ENVFIX_PROBE_DIR") == "":
		return "it was started with a clean environment"
	case !slices.Contains(strings.Split(path, ":"), l.code):
		return "PYTHONPATH was set anew (" + text.Clip(path, 60) + "): PYTHONPATH=" + text.Clip(path, 60) + ":$PYTHONPATH keeps the probe"
	}
	return ""
}
