package observe

import (
	"encoding/binary"
	"strconv"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
)

// The words of a probe's page; _envfix_probe.py has the same list.
const (
	wMagic = iota
	wPhase
	wSince
	wBatches
	wLoad
	wSteps
	wLast
	wLastLoad
	wEdge
	wErr
	wLoadCPU
	wLoadSeen
	wEpochs
	wLoadMax
	wFirst
	wWarm
	wWarmAt
	wWarmLoad
	wOOMs
	wUnit
	wRetries

	loadHist = 64
	stepHist = 128
	pageSize = 4096
	magic    = 0x32584946564E45

	inLoader = 1 // phases
	inFirst  = 2
)

// A rawPage is the part of a page that is used, as it was read. Its words are
// each whole, but not of one moment: the job writes while it is read.
type rawPage [2*stepHist - loadHist]uint64

// decode takes the words from bytes; false while the probe has not begun them,
// and then p is as before.
func (p *rawPage) decode(b []byte) bool {
	if len(b) < 8*len(p) || binary.NativeEndian.Uint64(b) != magic {
		return false
	}
	for i := range p {
		p[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return true
}

// readPage reads a page file once.
func readPage(path string) (p rawPage, ok bool) {
	var b [8 * len(p)]byte
	f := proc.Open(path, false)
	data, ok := f.Read(b[:])
	return p, ok && p.decode(data)
}

// A clock turns the probe's monotonic nanoseconds into seconds of the job.
type clock struct{ start uint64 }

func (c clock) at(time uint64) float64 { return ns(max(time, c.start) - c.start) }

// page says what the words mean. now is the moment of the reading, in the
// probe's nanoseconds.
func (p *rawPage) page(c clock, now uint64) verdict.Page {
	out := verdict.Page{
		Unit: map[uint64]string{1: verdict.EachBatch, 2: verdict.EachBackward}[p[wUnit]], Steps: p[wSteps], Batches: p[wBatches], Epochs: p[wEpochs],
		Edge: ns(p[wEdge]), LoadCPU: ns(p[wLoadCPU]), LoadSeen: ns(p[wLoadSeen]), LoadMax: ns(p[wLoadMax]),
		LoadP50: quantile(p[loadHist:stepHist], 0.5), LoadP90: quantile(p[loadHist:stepHist], 0.9),
		StepP50: quantile(p[stepHist:2*stepHist-loadHist], 0.5),
	}
	if p[wSteps] > p[wWarm] && p[wLast] > p[wWarmAt] && p[wLastLoad] >= p[wWarmLoad] {
		out.Warm = p[wSteps] - p[wWarm]
		out.WarmAt, out.LastAt = c.at(p[wWarmAt]), c.at(p[wLast])
		out.Step, out.Load = ns(p[wLast]-p[wWarmAt]), ns(p[wLastLoad]-p[wWarmLoad])
	} else if p[wLast] > 0 {
		out.LastAt = c.at(p[wLast])
		out.WarmAt = out.LastAt
	}
	if first := p[wFirst]; first > 0 && p[wWarmAt] > first {
		out.First = ns(p[wWarmAt] - first)
	}
	if ph := p[wPhase]; (ph == inLoader || ph == inFirst) && now > p[wSince] && p[wSince] > 0 {
		out.Waiting, out.FirstWait = ns(now-p[wSince]), ph == inFirst
	}
	return out
}

func ns(v uint64) float64 { return float64(v) / 1e9 }

// quantile reads it from counts by the bit length of nanoseconds: the middle of
// the power-of-two range that holds it.
func quantile(counts []uint64, q float64) float64 {
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	seen := uint64(0)
	for bits, n := range counts {
		if seen += n; float64(seen) >= q*float64(total) {
			return 0.75 * float64(uint64(1)<<min(bits, 62)) / 1e9
		}
	}
	return 0
}

// probeFile splits the name of a file that a probe wrote: p123.page, p123.jsonl.
func probeFile(name string) (pid int, kind string) {
	stem, kind, ok := strings.Cut(name, ".")
	if !ok || !strings.HasPrefix(stem, "p") || kind != "page" && kind != "jsonl" {
		return 0, ""
	}
	pid, err := strconv.Atoi(stem[1:])
	if err != nil || pid <= 0 {
		return 0, ""
	}
	return pid, kind
}
