package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
)

// crash returns the exception that ended the job: the leading process's, else
// the first one with a text.
func (f *facts) crash() *Crash {
	for _, p := range append([]Process{*f.lead}, f.t.Processes...) {
		if p.Probe != nil && p.Probe.Crash != nil {
			return p.Probe.Crash
		}
	}
	return nil
}

func (f *facts) crashSays(parts ...string) bool {
	c := f.crash()
	return c != nil && slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(c.Text, s) })
}

// hostOOM: the kernel or the C library had no more memory for the job.
func hostOOM(f *facts) *Finding {
	h, killed := f.t.Host, f.t.Signal == "KILL" || f.crashSays("killed by signal: Killed") || f.t.Exit != 0 && f.lead.Probe == nil
	x := f.finding(HostOOM, high, nil, "", "a higher memory limit for the container or job").
		also(h.MemoryLimit > 0, "", numbers{"memory_limit_mib": h.MemoryLimit, "memory_peak_mib": h.MemoryPeak})
	if l := f.loader(); l.Workers > 0 {
		x.Fix = []string{"fewer workers: num_workers × prefetch_factor batches lie in memory", "prefetch_factor=1", x.Fix[0]}
	}
	switch {
	case h.OOMKills > 0:
		used := say.If(h.MemoryLimit > 0, fmt.Sprintf(" (%s of %s used)", mib(h.MemoryPeak), mib(h.MemoryLimit)))
		x.also(true, "the kernel killed "+text.Count(h.OOMKills, "process")+" of this job for want of memory"+used, numbers{"oom_kills": h.OOMKills})
	case killed && h.MemoryLimit > 0 && share(h.MemoryPeak, h.MemoryLimit) > memFull:
		x.Confidence = medium
		x.Text = fmt.Sprintf("a process of this job ended at %s of the %s it may use", mib(h.MemoryPeak), mib(h.MemoryLimit))
	case f.crashSays("DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory"),
		f.crash() != nil && f.crash().Type == "MemoryError":
		x.Text = "the machine's memory (not the GPU's) ran out: " + cmp.Or(firstLine(f.crash().Text), f.crash().Type)
		if h.AddressLimit > 0 {
			x.Text, x.Evidence["address_limit_mib"] = fmt.Sprintf("the job may map %s and no more (ulimit -v), however much memory is free: %s",
				mib(h.AddressLimit), firstLine(f.crash().Text)), h.AddressLimit
			x.Fix = []string{"ulimit -v unlimited, in the shell or the job's script that sets it"}
		}
	default:
		return nil
	}
	return x
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return text.Cut(s, 160)
}

// shmTooSmall: workers hand their batches over in /dev/shm, and it is full. The
// texts are those of torch/utils/data/_utils/signal_handling.py and of c10.
func shmTooSmall(f *facts) *Finding {
	h, l := f.t.Host, f.loader()
	said := f.crashSays("shared memory(shm)", "signal: Bus error", "out of shared memory") ||
		f.t.Signal == "BUS" && l.Workers > 0 || f.crashSays("No space left on device") && f.crashSays("/torch_", "shm")
	need := int64(0)
	if b := f.probe().Batch; b != nil && l.Workers > 0 {
		need = 2 * int64(l.Workers) * int64(max(l.Prefetch, 1)) * b.Bytes() >> 20
	}
	filled := h.ShmTotal > 0 && h.ShmLow < h.ShmTotal/10 && need > h.ShmTotal
	if !said && !filled {
		return nil
	}
	return f.finding(ShmTooSmall, say.Either(said, high, medium), numbers{"shm_total_mib": h.ShmTotal, "shm_free_mib": h.ShmLow, "workers": l.Workers},
		say.Either(h.ShmTotal > 0, fmt.Sprintf("/dev/shm has %s, and the DataLoader's workers ran out of it", mib(h.ShmTotal)),
			"the DataLoader's workers ran out of shared memory"),
		"docker run --shm-size=8g …   (or --ipc=host)", "num_workers=0 needs no shared memory").
		also(need > 0, fmt.Sprintf("; %s may need %s", text.Count(l.Workers, "worker"), mib(need)), numbers{"shm_need_mib": need})
}

// retriesMany is how often the allocator must have emptied its cache, and among how
// many steps once, before that is a cause.
const retriesMany = 10

// oom: the GPU's memory ran out; whose it was decides what helps.
func oom(f *facts) *Finding {
	c := f.crash()
	said := c != nil && (strings.Contains(c.Type, "OutOfMemoryError") || slices.ContainsFunc([]string{"out of memory. Tried to allocate",
		"CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED"}, func(words string) bool { return strings.Contains(c.Text, words) }))
	p := f.probe()
	if full := p.Retries >= retriesMany && uint64(retriesMany*p.Retries) > p.Page.Steps; !said && p.OOMs == 0 && full {
		return f.finding(OOM, medium, numbers{"alloc_retries": p.Retries},
			fmt.Sprintf("the GPU's memory is nearly full: %d times its allocator gave back all that it kept and waited for the GPU, to make room", p.Retries),
			append([]string{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}, roomier...)...)
	}
	if !said && p.OOMs == 0 {
		return nil
	}
	if !said {
		return f.finding(OOM, medium, numbers{"ooms": p.OOMs}, fmt.Sprintf("the GPU's memory ran out %d times, and the job caught it", p.OOMs), roomier...)
	}
	x := f.finding(OOM, high, nil, "the GPU's memory ran out", roomier...)
	o := machine.ParseOutOfMemory(c.Text)
	for k, v := range map[string]int64{"asked_gib": o.Tried, "free_gib": o.Free, "total_gib": o.Total, "allocated_gib": o.Allocated, "reserved_gib": o.Unallocated, "other_gib": o.Others} {
		if v > 0 {
			x.Evidence[k] = round(float64(v) / (1 << 30))
		}
	}
	whose(o, x.also(o.Tried > 0, fmt.Sprintf(": %s asked, %s free of %s", size(o.Tried), size(o.Free), size(o.Total)), nil))
	return x
}

// whose says who holds the memory that ran out, and what helps then.
func whose(o machine.OutOfMemory, x *Finding) {
	switch others := o.Others > 0 && o.Others > o.Tried-o.Free; {
	case o.Tried > 0 && o.Unallocated >= o.Tried && float64(o.Allocated) <= memFull*float64(o.Total):
		x.Text += fmt.Sprintf("; %s are reserved but unallocated: fragmentation", size(o.Unallocated))
		x.Fix = append([]string{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}, x.Fix...)
		x.Text += say.If(others, "; another process holds "+size(o.Others))
	case others:
		x.Text += fmt.Sprintf("; another process holds %s of it", size(o.Others))
		x.Fix = append([]string{"take a GPU that is free: CUDA_VISIBLE_DEVICES=N (`envfix watch --once` lists them)"}, x.Fix...)
	case o.Total > 0 && share(o.Allocated, o.Total) > memFull:
		x.Text += fmt.Sprintf("; the job itself fills it (%s allocated)", size(o.Allocated))
	}
}

func size(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MiB", max(0, bytes)>>20)
	}
	return fmt.Sprintf("%.3g GiB", float64(bytes)/(1<<30))
}

var roomier = []string{
	"half the batch size, with gradient accumulation over two batches",
	"torch.autocast(\"cuda\", torch.bfloat16)",
	"activation checkpointing: torch.utils.checkpoint",
}

// stalledLoader: one wait for data is out of all proportion, or lasts still.
func stalledLoader(f *facts) *Finding {
	for i := range f.t.Processes {
		p := &f.t.Processes[i]
		if p.Probe == nil {
			continue
		}
		pg := p.Probe.Page
		wait, now := pg.LoadMax, false
		limit := max(5, 20*pg.LoadP50, 5*f.cycle(p))
		crowd := f.queued(f.workers)                // of the time others had the processors
		if len(f.workers) == 0 && pg.LoadSeen > 0 { // the loop itself queues for them in its loading only as far as that computes
			crowd = f.queued([]*Process{p}) * min(1, pg.LoadCPU/pg.LoadSeen*(1+f.perCPU()))
		}
		if pg.Waiting > wait {
			wait, now = pg.Waiting, f.t.Running || f.t.Signal != "" || f.t.Exit != 0
			if pg.FirstWait { // workers start, a data set is opened: that may take long
				limit = 60
			}
			if !now {
				wait = pg.LoadMax
			}
		}
		if wait*(1-min(crowd, 1)) <= limit || pg.Batches == 0 && !now {
			continue
		}
		return stall(f, p, wait, now)
	}
	return nil
}

// cycle is what all workers of a loader together are waited for as each hands over
// one batch: workers in step give one long wait and then none.
func (f *facts) cycle(p *Process) float64 {
	pg, n := p.Probe.Page, 1
	for _, l := range p.Probe.Loaders {
		n = max(n, l.Workers)
	}
	return float64(n) * max(0, pg.Load-pg.LoadMax) / float64(max(pg.Warm, 1))
}

func stall(f *facts, p *Process, wait float64, now bool) *Finding {
	pg := p.Probe.Page
	x := f.finding(StalledLoader, high, numbers{"wait_s": round(wait), "median_wait_ms": round(pg.LoadP50 * 1e3), "batch": pg.Batches},
		say.Either(now, fmt.Sprintf("in the DataLoader for %s, after batch %d; the median wait is %s", seconds(wait), pg.Batches, seconds(pg.LoadP50)),
			fmt.Sprintf("one wait for data took %s; the median is %s", seconds(wait), seconds(pg.LoadP50))),
		"look at the storage and at the sample the loader was reading", "DataLoader(…, timeout=60) turns a hang into an error")
	for _, w := range append([]*Process{p}, f.workers...) {
		if w.Samples > 0 && float64(w.Blocked)/float64(w.Samples) > 0.1 {
			return x.also(true, fmt.Sprintf("; PID %d waits for the disk", w.PID), numbers{"blocked_pid": w.PID}).
				also(w.Mount != "", " on "+w.Mount, numbers{"mount": w.Mount})
		}
	}
	return x
}
