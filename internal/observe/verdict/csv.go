package verdict

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// ReadCSV reads samples of GPUs alone, one line per GPU and moment:
//
//	t_ms,gpu,util,memutil,used_MiB,total_MiB,sm_MHz,max_sm_MHz,power_mW,temp_C,reasons_hex,gen,max_gen,width,max_width[,pid…]
//
// A utilisation of 999 means that it is not supported (MIG, WSL). Lines that
// begin with # or with a letter are left out. The error names the line.
func ReadCSV(data []byte) (*Trace, error) {
	t := &Trace{Format: Format, Imported: true, Processes: []Process{}}
	scan := bufio.NewScanner(bytes.NewReader(data))
	last := -1.0
	for line := 1; scan.Scan(); line++ {
		text := strings.TrimSpace(scan.Text())
		if text == "" || text[0] == '#' || text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z' {
			continue
		}
		v, err := csvLine(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		at, g := float64(v[0])/1000, int(v[1])
		if at < last {
			return nil, fmt.Errorf("line %d: the time goes backwards", line)
		}
		for len(t.GPUs) <= g {
			t.GPUs = append(t.GPUs, GPU{Index: len(t.GPUs)})
		}
		s := csvSample(v)
		if t.GPUs[g].Memory == 0 {
			t.GPUs[g].Memory, t.GPUs[g].Clock, t.GPUs[g].Before = v[5], int(v[7]), &v[4]
			t.GPUs[g].Link = fmt.Sprintf("Gen%d x%d", v[12], v[14])
		}
		if at > last {
			if n := len(t.Frames); n > 0 {
				t.Frames[n-1].Span = at - last
			}
			t.Frames = append(t.Frames, Frame{At: at, Span: 0.2})
			last = at
		}
		f := &t.Frames[len(t.Frames)-1]
		for len(f.GPUs) <= g {
			f.GPUs = append(f.GPUs, GPUFrame{})
		}
		f.GPUs[g] = f.GPUs[g].Plus(s.Frame(t.GPUs[g]))
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	if len(t.Frames) == 0 {
		return nil, fmt.Errorf("no sample in it")
	}
	end := t.Frames[len(t.Frames)-1]
	t.Seconds = end.At + end.Span
	return t, nil
}

const maxGPUs = 64 // more than any machine has; a bound on what a line can ask for

func csvLine(text string) (v [15]int64, err error) {
	parts := strings.Split(text, ",")
	if len(parts) < len(v) {
		return v, fmt.Errorf("%d fields, at least %d needed", len(parts), len(v))
	}
	for i := range v {
		base := 10
		if i == 10 {
			base = 16
		}
		v[i], err = strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(parts[i]), "0x"), base, 64)
		if err != nil || v[i] < 0 || v[i] > 1<<40 {
			return v, fmt.Errorf("field %d is not a number that can be", i+1)
		}
	}
	if v[1] >= maxGPUs {
		return v, fmt.Errorf("GPU %d of at most %d", v[1], maxGPUs)
	}
	return v, nil
}

func csvSample(v [15]int64) Sample {
	s := Sample{Used: v[4], Clock: int(v[6]), Temp: int(v[9]), Reasons: uint64(v[10]), Power: float64(v[8]) / 1000, PowerKnown: v[8] > 0}
	if v[2] <= 100 {
		s.Utils = []float64{float64(v[2])}
	}
	if best := v[12] * v[14]; best > 0 {
		s.Link = LinkShare(int(v[11]), int(v[13]), int(v[12]), int(v[14]))
	}
	return s
}

// LinkShare compares a PCIe link with the best both ends can: generation × width
// over the same. It is deliberately not the rate, which doubles with each
// generation: a new card in a board one generation older is no fault.
func LinkShare(gen, width, bestGen, bestWidth int) float64 {
	if gen < 1 || width < 1 || bestGen < 1 || bestWidth < 1 {
		return 0
	}
	return min(1, float64(gen*width)/float64(bestGen*bestWidth))
}

// LinkRate is a PCIe link's rate in MB/s towards the device: 250 MB/s a lane in
// the first generation, doubled by each.
func LinkRate(gen, width int) float64 {
	if gen < 1 {
		return 0
	}
	return 250 * float64(int(1)<<min(gen-1, 8)) * float64(width)
}

// A Sample is one reading of one GPU.
type Sample struct {
	Utils      []float64 // percent, since the last reading; empty: not measurable
	Used       int64     // MiB, of all processes
	Ours       int64
	Theirs     int64
	Clock      int // MHz of the SMs; 0 unknown
	Temp       int
	Reasons    uint64 // NVML's clock event reasons
	Power      float64
	PowerKnown bool
	Link       float64 // share of the best link; 0 unknown
	Rx         float64 // MB/s
	RxKnown    bool
	SMBusy     float64 // percent
	Tensor     float64
	GPMKnown   bool
}

// NVML's clock event reasons (nvml.h, nvmlClocksEventReason*).
const (
	swPowerCap = 0x4
	hwSlowdown = 0x8 // any of heat, brake, too fast a fall of voltage
	swThermal  = 0x20
	hwThermal  = 0x40
	powerBrake = 0x80
)

// hotC is where TraceML calls a GPU hot.
const hotC = 85

// Frame turns a reading into sums.
func (s Sample) Frame(g GPU) GPUFrame {
	f := GPUFrame{Used: s.Used, Ours: s.Ours, Theirs: s.Theirs, Temp: s.Temp}
	if s.PowerKnown {
		f.PowerN, f.Power = 1, s.Power
	}
	if s.GPMKnown {
		f.GPMN, f.SMBusy, f.Tensor = 1, s.SMBusy, s.Tensor
	}
	if s.RxKnown {
		f.RxN, f.Rx = 1, s.Rx
	}
	top := 0.0
	for _, u := range s.Utils {
		f.N, f.Util, top = f.N+1, f.Util+u, max(top, u)
		if u < 5 {
			f.Idle++
		}
		if u >= utilBusy {
			f.High++
		}
	}
	if top <= 20 { // an idle GPU lowers its clocks and its link
		return f
	}
	if s.Link > 0 {
		f.LinkN, f.Link = 1, s.Link
	}
	if s.Clock == 0 || g.Clock == 0 {
		return f
	}
	part := min(1, float64(s.Clock)/float64(g.Clock))
	f.Active, f.Clock = 1, part
	if part >= clockLoss {
		return f
	}
	hot := s.Reasons&(swThermal|hwThermal) != 0 || s.Reasons&(hwSlowdown|powerBrake) == hwSlowdown && s.Temp >= hotC
	switch {
	case hot:
		f.Hot = 1
	case s.Reasons&(powerBrake|hwSlowdown) != 0:
		f.Brake = 1
	case s.Reasons&swPowerCap != 0:
		f.Capped = 1
	}
	return f
}
