package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/say"
)

// A work is a part of the loop that is no training, from which share on it is a
// cause, and what to do. cut is how much of it the first advice takes away.
type work struct {
	part, verdict string
	least, cut    float64
	does          string
	fix           []string
}

var works = []work{
	{"saving", CheckpointBound, 0.15, 0.9, "saves",
		[]string{"save a tenth as often", "save in the background: torch.distributed.checkpoint.async_save, or a copy on the CPU that a thread writes"}},
	{"logging", LoggingBound, 0.15, 0.9, "logs",
		[]string{"log every tenth time only", "log numbers rather than histograms and pictures, and let a thread write them"}},
	{"metrics", MetricBound, 0.15, 0.9, "computes metrics",
		[]string{"compute metrics a tenth as often, or once an epoch over sums that each step adds to", "use tensors on the device: torchmetrics, or torch itself"}},
	{"evaluation", EvalBound, 0.2, 0.5, "evaluates",
		[]string{"evaluate half as often, or on half of the data", "with torch.inference_mode(), and the largest batch that fits"}},
	{"compile", Recompiles, 0.2, 0, "compiles again", keepShapes}, // the backward pass compiles too, and no look tells
	{"copy", CopiesEachStep, 0.2, 0, "copies to the GPU",
		[]string{"DataLoader(…, pin_memory=True), and x.to(device, non_blocking=True)",
			"send less: the types that the data has (uint8, bfloat16), and move what stays once, before the loop"}},
	{"data", LoaderBound, 0.25, 1, "fetches its input", // itself, or waits for a thread, a process or a server of the job's own
		[]string{"read ahead while the model trains, where no step changes what is read: a Dataset and DataLoader(…, num_workers=…), or a longer queue and more that fill it"}},
	{"sync", SyncBound, 0.2, 0.9, "waits for the GPU to read a value back",
		[]string{"read every tenth time only", "keep sums on the device: total += loss.detach()"}},
	{"python", PythonBound, ownMuch, 1, "does work outside of PyTorch",
		[]string{"move it out of the loop, or into tensor operations", "a thread or a process may do what no step waits for"}},
	{"between", PythonBound, 0.3, 0, "works between its steps",
		[]string{"take it out of the loop, or do it every tenth time only", "one operation over the whole tensor rather than many: torch.compile may join them"}},
	{"gc", GCBound, gcMuch, 1, "collects garbage",
		[]string{"gc.freeze() once everything is built, before the loop: what lives on is not looked at again",
			"no gc.collect() in the loop; gc.disable(), and gc.collect() every thousand steps"}},
}

var keepShapes = []string{"keep shapes and Python values the same: pad batches to a few sizes, drop_last=True", "torch.compile(model, dynamic=True)"}

const (
	looksEnough = 8    // looks at the loop before a part of it is named
	deviations  = 1.5  // a share is taken for as small as so few looks may have it
	gcMuch      = 0.15 // of the loop's time
	gcOften     = 3    // a look at all that PyTorch's import left takes 100 ms, and comes once or twice by itself
	launchMuch  = 0.40 // of the loop's time starts work, else that is not what the GPU waits for
	ownMuch     = 0.20 // measured: 0 to 0.1 in loops that only train
	crowded     = 0.3  // of the time the loop waited for a processor: there parts were seen smaller than they are (three jobs, measured)
	closely     = 5    // lines
	unsure      = 1.25 // times: a gain that so few looks leave as wide is not promised
)

// aside are the parts that the job's own lines do beside training.
var aside = []string{"saving", "logging", "metrics", "evaluation", "python"}

// looks are those at the loop of the leading process; nil where there were too few.
func (f *facts) looks() *Where {
	if w := f.probe().Where; w != nil && (w.Count >= looksEnough || w.collecting(f.perCPU()) > 0.5) && len(w.Parts) > 0 && w.Seen > 0 {
		return w.joined()
	}
	return nil
}

// part is a part's share of the loop's time.
func (w *Where) part(names ...string) float64 {
	n := 0
	for _, name := range names {
		n += w.Parts[name]
	}
	return float64(n) / float64(max(w.Seen, 1))
}

// surely is the least that a share may be, by so few looks (Wilson's interval, which
// holds for a handful too).
func (w *Where) surely(share float64) float64 {
	n, z := float64(w.Count), deviations*deviations
	return (share + z/2/n - deviations*math.Sqrt(share*(1-share)/n+z/4/n/n)) / (1 + z/n)
}

// err is the error of so few looks at a share.
func (w *Where) err(share float64) float64 {
	return 1.96 * math.Sqrt(max(0, share*(1-share))/float64(w.Count))
}

// costly are the places that take a fifth of some time and more, at most two; of
// these parts, or of all.
func (w *Where) costly(of int, parts ...string) (out []Spot) {
	for _, s := range w.Top {
		same := slices.IndexFunc(out, func(o Spot) bool { return o.At == s.At && o.what() == s.what() })
		switch {
		case same >= 0:
			out[same].N += s.N
		case len(out) < 2 && 5*s.N >= of && s.At+s.Call != "" && (len(parts) == 0 || slices.Contains(parts, s.Part)):
			out = append(out, s)
		}
	}
	return out
}

// at names the places of a part that take a fifth of it and more, at most two.
func (w *Where) at(part string) (words string, places []string) {
	var list []string
	for _, s := range w.costly(w.Parts[part], part) {
		list, places = append(list, s.what()+at(s.At, "")), append(places, s.At)
	}
	if len(list) == 0 {
		return "", nil
	}
	return ": " + strings.Join(list, ", "), places
}

// what a place does: what it calls of a library, else the job's own function.
func (s Spot) what() string {
	return say.Either(s.Call == "" || s.Call == ".?", s.Func, strings.TrimPrefix(s.Call, "builtins."))
}

// judge finds a work in the loop.
func (k work) judge(f *facts) *Finding {
	w := f.looks()
	if w == nil || !f.waits() || w.surely(f.share(k.part)) < k.least || k.part == "data" && f.world() > 1 && w.part(k.part) < 0.5 {
		return nil
	}
	seen := max(w.part(k.part), f.share(k.part))
	where, places := w.at(k.part)
	if k.part == "gc" { // Python tells where
		where, places, seen = at(w.GCAt, ""), []string{w.GCAt}, f.share(k.part)
	}
	x := f.spends(k.verdict, f.share(k.part), k.cut, places)
	x.Text = fmt.Sprintf("%s%s of the time the loop %s%s (by %d looks, ± %.0f %%)", f.idleWords(), pct(seen), k.does, where, w.Count, math.Ceil(100*w.err(seen)))
	x.Fix = slices.Clone(k.fix)
	switch x.also(k.part == "python", "", numbers{"python_share": round(seen)}); k.part {
	case "data":
		if f.probe().Page.Steps == 0 { // nothing trains: it answers
			x.Fix = []string{"prepare the next input while the model works: in a pool of concurrent.futures, by asyncio's loop.run_in_executor(…)"}
		}
		if way := wayOut(w.Top, "data"); way != "" {
			x.Fix = append(x.Fix, way)
		}
		if x.Gain != nil { // so many looks tell it
			x.Gain = nil
			f.promise(x, f.step().v, f.fed(seen))
		}
	case "compile":
		x.also(true, fmt.Sprintf("; %d times, last %s%s", w.Compiles, w.CompileAt, say.With(": ", w.Reason, "")), numbers{"compiles": w.Compiles})
	}
	return x
}

// spends is a finding about a share of the loop's time; what takes a part of it
// away makes the loop that much faster, and no more.
func (f *facts) spends(id string, share, cut float64, places []string) *Finding {
	x := f.finding(id, f.sure(high), numbers{"loop_share": round(share)}, "")
	x.weight = share
	if len(places) > 0 && places[0] != "" {
		x.Evidence["loop_at"] = places[0]
	}
	err, beside := f.looks().err(share), f.looks().part(aside...)-share // which may be of one work, and go with it
	if s := f.step(); 1-cut*max(share-err, 0) < unsure*(1-cut*min(share+max(err, beside), 1)) && f.queued([]*Process{f.lead}) < crowded {
		f.promise(x, s.v, s.v*(1-cut*share))
	}
	return x
}

// collecting is the collector's share of the loop: measured, so looks that come late
// where C holds the GIL do not matter.
func (w *Where) collecting(perCPU float64) float64 {
	return min(1, float64(w.GC)*(1+perCPU)/float64(max(w.Seen, 1)))
}

// share is a part's share of the loop's time; the collector's counts where it comes often.
func (f *facts) share(part string) float64 {
	w := f.looks()
	if w == nil || part == "gc" && w.GCTimes < gcOften {
		return 0
	}
	switch {
	case part == "gc" && w.GC > 0:
		return w.collecting(f.perCPU())
	case part == "copy" && !f.idle.ok,
		part == "between" && (f.probe().Page.Steps == 0 || w.part("forward") == 0 || w.part(part) < w.part("forward") || len(w.costly(w.Parts[part], part)) == 0):
		return 0 // a model may be no module, and its loss as large; without steps all is one work
	case f.idle.ok && slices.Contains([]string{"copy", "sync"}, part): // while the loop waits for a GPU that works, nothing is lost
		return w.part(part) * f.idle.v
	}
	return w.part(part)
}

// joined counts as part of a work what belongs to it: tensors' work in a function of the job's own
// that does much that is none, and no step of the training (an average of weights over a copy of
// the model); Python, and its garbage, close above the line that makes an input of what it built.
func (w *Where) joined() *Where {
	out := *w
	out.Top, out.Parts = slices.Clone(w.Top), maps.Clone(w.Parts)
	for i, s := range w.Top {
		same := func(least int, parts ...string) bool {
			return slices.ContainsFunc(w.Top, func(o Spot) bool { return o.Func == s.Func && o.N >= least && slices.Contains(parts, o.Part) })
		}
		switch {
		case s.Part == "between" && same(w.Seen/10, "python") && !same(0, launchParts[1:]...):
			out.Top[i].Part = "python"
		case (s.Part == "python" || s.Part == "gc") && slices.ContainsFunc(w.Top, func(o Spot) bool { return o.Part == "data" && 10*o.N >= w.Seen && s.above(o) }):
			out.Top[i].Part = "data"
		}
		out.Parts[s.Part] -= s.N
		out.Parts[out.Top[i].Part] += s.N
	}
	return &out
}

// above reports whether a place is a few lines above another one of the same file, or there.
func (s Spot) above(o Spot) bool {
	i, k := strings.LastIndexByte(s.At, ':')+1, strings.LastIndexByte(o.At, ':')+1
	n, _ := strconv.Atoi(s.At[i:])
	m, _ := strconv.Atoi(o.At[k:])
	return s.At[:i] == o.At[:k] && n <= m && m-n <= closely
}

// fed bounds what reading ahead can bring: whoever fetches needs a processor. This
// loop's own share stays, and what computes now computes on the processors that are left.
func (f *facts) fed(share float64) float64 {
	s, spare := f.step().v, f.t.Host.Allowed()/float64(f.world())-1
	producers := producing(f) * s
	if c := f.core(); c.ok && c.v > otherBusy {
		producers += share * s
	}
	return max(s*(1-share), producers/max(spare, 0.01))
}

// producing is how many cores the job's other processes use.
func producing(f *facts) (cores float64) {
	for i := range f.t.Processes {
		if p := &f.t.Processes[i]; p != f.lead && p.Wall > 0 {
			cores += p.CPU / p.Wall
		}
	}
	return cores
}

// parts are the parts of a step by the looks at the whole loop.
func (b *Probe) parts() (out []Part) {
	if b.Where == nil || b.Page.Warm == 0 || b.Where.Count == 0 || len(b.Where.Parts) == 0 {
		return nil
	}
	w := b.Where.joined()
	for _, name := range LoopParts {
		if share := w.part(name); share > 0 {
			out = append(out, Part{name, round(share * b.Page.Step / float64(b.Page.Warm))})
		}
	}
	return out
}
