package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/say"
)

// What a loader does while the loop waits for it.
const (
	computing = "computing" // its processes use their CPUs
	disk      = "disk"      // they wait for storage
	waiting   = "waiting"   // they wait for neither: a server, a lock, a sleep
	handover  = "hand-over" // they have nothing to do: the batch's way to the loop takes the time
	sampling  = "sampling"  // the loop itself draws what comes next: no worker takes that over
	locked    = "lock"      // they wait for each other
)

// A loading says what a loader does, in words and numbers.
type loading struct {
	kind    string
	words   string
	numbers map[string]float64
}

const (
	blockedMuch = 0.05 // of a process's samples in uninterruptible sleep
	readMuch    = 20.0 // MiB a second from storage
	idleWorker  = 0.30 // of the time a worker is in fetch
	handing     = 1e-3 // seconds of the loop's that a batch from a worker costs it (0.6 measured, a job's batch is larger)
)

// loading tells what the loader's processes do: the workers, or the loop itself.
func (f *facts) loading() loading {
	ld, p := f.loader(), f.probe().Page
	l := loading{kind: waiting, numbers: map[string]float64{}}
	fed := feeders(f)
	rate, stuck := fromStorage(fed)
	cores, w := f.workerCPU(), f.where()
	switch {
	case f.sampler() > 0.5:
		l.kind, l.words = sampling, ", "+pct(f.sampler())+" of it its sampler, on the loop's own thread"
		return l
	case w.locks(ld.Workers):
		l.kind, l.words = locked, ": for a lock that one holds at a time"
		return l
	case ld.Workers == 0 && p.LoadSeen > 0:
		c := min(p.LoadCPU/p.LoadSeen, 1)
		l.numbers["loader_cpu_share"] = c
		l.words = fmt.Sprintf(", %s of it CPU", pct(c))
		if c*(1+f.perCPU()) > 0.5 {
			l.kind, l.words = computing, l.words+f.computingWords()
			return l
		}
	case ld.Workers > 0 && cores > 0: // on a busy machine they get less than they want
		l.numbers["worker_cores"] = cores
		l.words = fmt.Sprintf(", workers use %.1f cores", cores)
		all := float64(ld.Workers * f.world())
		if cores+f.queued(fed)*all > workerBusy*min(all, max(f.t.Host.Allowed(), 1)) || f.t.Host.Throttled > throttledHigh {
			l.kind, l.words = computing, l.words+f.computingWords()
			return l
		}
	}
	switch {
	case stuck.v > blockedMuch || rate > readMuch:
		l.kind, l.words = disk, l.words+fmt.Sprintf(": storage, %.0f MiB/s read", rate)
		l.numbers["read_mib_s"], l.numbers["disk_wait_share"] = rate, stuck.v
	case ld.Workers > 0 && w.idle(p.perStep(p.Load) < costsNothing):
		l.kind, l.words = handover, l.words+": they wait too, so it is the batch's way from them to the loop"
	default:
		l.words += ", no storage: it waits for something else, such as a server"
	}
	return l
}

// computingWords say what computing in a loader is most often, where nothing in it
// was seen at work.
func (f *facts) computingWords() string {
	if spots, _ := f.spots(); len(spots) > 0 {
		return ""
	}
	return ": decoding or other work on each sample"
}

// queued is the share of the time that processes were ready and waited for a CPU.
func (f *facts) queued(list []*Process) float64 {
	delay, wall := 0.0, 0.0
	for _, p := range list {
		delay, wall = delay+p.Delay, wall+cmp.Or(p.LoopWall, p.Wall)
	}
	return delay / max(wall, 0.001)
}

// handed is what a batch from a worker costs the loop, more where others have the processors.
func handed(f *facts) float64 { return handing / max(1-f.queued([]*Process{f.lead}), 0.1) }

// perCPU is how long the loop was ready and waited for a CPU, for each second that
// it had one: on a busy machine its computing takes that much longer.
func (f *facts) perCPU() float64 {
	if f.lead.LoopCPU <= 0 {
		return 0
	}
	return f.lead.Delay / f.lead.LoopCPU
}

// idle reports whether the workers were seen to do nothing; otherwise is the answer where
// nobody looked.
func (w Where) idle(otherwise bool) bool {
	if w.Looks == 0 {
		return otherwise
	}
	return float64(w.Seen) < idleWorker*float64(w.Looks)
}

// feeders are the processes that load: the workers, or the loop itself.
func feeders(f *facts) []*Process {
	if f.loader().Workers == 0 || len(f.workers) == 0 {
		return []*Process{f.lead}
	}
	return f.workers
}

// fromStorage is how much some processes read, in MiB/s, and the share of the looks in
// which they waited for a disk.
func fromStorage(feeders []*Process) (rate float64, stuck num) {
	blocked, samples, read, wall := 0, 0, 0.0, 0.0
	for _, w := range feeders {
		blocked, samples, read, wall = blocked+w.Blocked, samples+w.Samples, read+w.Read, max(wall, w.Wall)
	}
	return read / max(wall, 0.001), ratio(float64(blocked), samples)
}

// partsOfLoading are the parts of a step in which a sample is made.
var partsOfLoading = []string{"item", "collate", "sampler"}

// where adds up what was seen in the loader: in the workers, or in the loop.
func (f *facts) where() (out Where) {
	from := say.Either(f.sampler() > 0.5, []*Process{f.lead}, feeders(f))
	for _, p := range from {
		if p.Probe == nil || p.Probe.Where == nil {
			continue
		}
		w, seen := p.Probe.Where, p.Probe.Where.Seen
		if len(w.Parts) > 0 {
			seen = w.Parts["item"] + w.Parts["collate"] + w.Parts["sampler"]
		}
		out.Looks, out.Seen, out.Count = out.Looks+w.Looks, out.Seen+seen, out.Count+cmp.Or(w.Count, w.Seen)*seen/max(w.Seen, 1)
		for _, s := range w.Top {
			if len(w.Parts) > 0 && !slices.Contains(partsOfLoading, s.Part) {
				continue
			}
			i := slices.IndexFunc(out.Top, func(o Spot) bool { return o.At == s.At && o.Call == s.Call && o.Part == s.Part })
			if i < 0 {
				out.Top = append(out.Top, s)
				continue
			}
			out.Top[i].N += s.N
		}
	}
	slices.SortStableFunc(out.Top, func(a, b Spot) int { return b.N - a.N })
	return out
}

// sampler is the share of the loop's wait for its loader in which its own thread
// draws what comes next.
func (f *facts) sampler() float64 {
	w := f.looks()
	if w == nil {
		return 0
	}
	return w.part("sampler") / max(w.part("load", "item", "collate", "sampler"), 0.001)
}

// lockCalls begin the names of what waits for a lock.
var lockCalls = []string{"multiprocessing.synchronize.", "filelock", "fcntl.", "portalocker", ".acquire", ".lock", ".flock", "threading."}

// locks reports whether most of what was seen waits for a lock: of several workers, one
// holds it and works.
func (w Where) locks(workers int) bool {
	n := 0
	for _, s := range w.Top {
		if slices.ContainsFunc(lockCalls, func(call string) bool { return strings.HasPrefix(s.Call, call) }) {
			n += s.N
		}
	}
	return w.Count >= spotsEnough && float64(n) > say.Either(workers < 2, 0.5, 0.7*(1-1/float64(workers)))*float64(w.Seen)
}

// spotsEnough is how often the loader must have been seen before a place in it is
// named.
const spotsEnough = 8

// spots are the places that take a fifth of the loader and more, at most two.
func (f *facts) spots() (out []Spot, seen int) {
	w := f.where()
	seen = w.Seen
	for _, s := range w.Top { // a look that comes as a sample is done knows no place in it
		seen -= say.Either(s.At+s.Call == "", s.N, 0)
	}
	if w.Count*seen < spotsEnough*w.Seen {
		return nil, 0
	}
	return w.costly(seen), seen
}

// spotWords names what in the loader costs: the function, the line, the share.
func (f *facts) spotWords(e map[string]any) string {
	spots, seen := f.spots()
	var parts, list []string
	for _, s := range spots {
		what := s.what()
		if s.Part == "collate" {
			what = "collating the batch: " + what
		}
		where := cmp.Or(at(s.At, ""), say.With(", in the loader of ", f.loader().Own, "")) // a library's data set may run no line of the job's
		parts = append(parts, fmt.Sprintf("%s is %s%s", pct(float64(s.N)/float64(seen)), what, where))
		list = append(list, s.At)
	}
	if len(parts) == 0 {
		return ""
	}
	e["loader_spots"], e["loader_at"] = parts, list[0]
	return "; of the loading " + strings.Join(parts, ", ")
}

// wayOuts are the usual ways out of what costs in a loader, by what is called.
var wayOuts = []struct {
	calls []string
	say   string
}{
	{[]string{"PIL.", "cv2", "imageio", "imread"},
		"decode smaller images: store them at the size that is trained on, or Image.draft; torchvision.io.decode_jpeg(device=\"cuda\") decodes on the GPU"},
	{[]string{"numpy.lib", "zipfile", "gzip", "zlib", "lzma", "bz2", "zstandard"},
		"store arrays unpacked: numpy.save, and numpy.load(…, mmap_mode=\"r\") reads what is needed"},
	{[]string{"h5py", "netCDF4", "zarr", "tables."},
		"a sample that is read at random unpacks its whole chunk: store it in chunks of one sample, or read the samples of a chunk together"},
	{[]string{"torchvision.transforms", "albumentations", "kornia"},
		"augment whole batches on the GPU: torchvision.transforms.v2 takes batches of CUDA tensors"},
}

// wayOut is the usual way out of the costliest place of these.
func wayOut(spots []Spot, parts ...string) string {
	for _, s := range spots {
		for _, w := range wayOuts {
			if (len(parts) == 0 || slices.Contains(parts, s.Part)) && slices.ContainsFunc(w.calls, func(call string) bool {
				return strings.HasPrefix(s.Call, call) || strings.Contains(s.Call, "."+call) || s.Part == "collate" && strings.Contains(s.Call, call)
			}) {
				return w.say
			}
		}
	}
	return ""
}

// stepAtBest is the shortest step that another loader could bring: without the
// wait, and not shorter than the CPUs, or the workers that wait, allow.
func (f *facts) stepAtBest(kind string) float64 {
	p, ld := f.probe().Page, f.loader()
	step, wait := p.Step/float64(p.Warm), p.Load/float64(p.Warm)
	best := step - wait
	switch kind {
	case sampling:
		best += (1 - f.sampler()) * wait
	case locked:
		return step
	case computing, waiting, disk:
		busy := wait // of one batch
		if ld.Workers > 0 {
			busy = float64(ld.Workers) * step
		} else {
			b, _ := f.burst()
			best += handed(f) * b.perStep()
		}
		best = max(best, busy/float64(max(f.wanted(kind == computing), ld.Workers)))
		if cpus := f.t.Host.Allowed(); kind == computing && cpus > 0 {
			best = max(best, (f.core().v+f.workerCPU())*step/cpus)
		}
		if ld.Workers == 0 { // who serves the data does so one at a time
			best = max(best, producing(f)*step)
		}
	}
	if kind == computing && best*worthIt > step {
		return step
	}
	return max(best, 0.01*step)
}

// feedFix is what to do about a loader that comes late. helps: more workers, or
// others, can make the step shorter.
func (f *facts) feedFix(ld Loader, kind string, helps bool) (fix []string) {
	want, own := f.wanted(kind == computing), slices.Contains([]string{sampling, locked, handover}, kind) // what no worker changes
	switch {
	case ld.Files > 0 && ld.Stream:
		want = min(want, ld.Files)
	case kind == computing && ld.Workers == 0 && !helps && !ld.Stream && f.probe().Page.perStep(f.probe().Page.Load) < 3*handed(f):
		return []string{"fetch a batch at once, not sample by sample: index by all its numbers, with sampler=BatchSampler(…), batch_size=None"}
	}
	if ld.Workers < want && helps && !own {
		args := [][2]string{{"num_workers", fmt.Sprint(want)}, {"persistent_workers", "True"}}
		if !f.noGPU && !ld.Pin {
			args = append(args, [2]string{"pin_memory", "True"})
		}
		fix = f.setLoader(ld, args...)
	}
	spots, _ := f.spots()
	if way := wayOut(spots); way != "" && !own {
		return append(fix, way)
	}
	return append(fix, instead(kind, ld.Workers > 0 || !helps)...)
}

// instead is what to do where no other loader helps; busy: the CPUs are.
func instead(kind string, busy bool) []string {
	switch kind {
	case computing:
		return []string{say.Either(busy, "do the work once and store the result, or do it on the GPU: the allowed CPUs are busy",
			"do the work once, before training, and store the result")}
	case disk:
		return []string{"put the data on a local disk, or read it in larger pieces"}
	case sampling:
		return []string{"draw the order once an epoch rather than for each sample: torch.randperm, or an array of weights and torch.multinomial"}
	case locked:
		return []string{"hold the lock for less, or give each worker a file and a connection of its own: more workers only wait for each other"}
	case handover:
		return []string{"num_workers=0 where the data lies in memory: there is nothing to load ahead", "larger batches: fewer of them are handed over"}
	}
	return []string{"fetch ahead, or keep a local copy: nothing computes while the loader waits"}
}
