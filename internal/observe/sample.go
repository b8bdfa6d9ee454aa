package verdict

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
	Utils    []float64 // percent, since the last reading; empty: not measurable
	Used     int64     // MiB, of all processes
	Ours     int64
	Theirs   int64
	Clock    int // MHz of the SMs; 0 unknown
	Temp     int
	Reasons  uint64 // NVML's clock event reasons
	Power    float64
	Link     float64 // share of the best link; 0 unknown
	Rx       float64 // MB/s
	RxKnown  bool
	SMBusy   float64 // percent
	Tensor   float64
	GPMKnown bool
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
	if s.Power > 0 {
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
	if part < clockLoss {
		f.slowed(s)
	}
	return f
}

// slowed tells what lowered the clocks.
func (f *GPUFrame) slowed(s Sample) {
	switch {
	case s.Reasons&(swThermal|hwThermal) != 0 || s.Reasons&(hwSlowdown|powerBrake) == hwSlowdown && s.Temp >= hotC:
		f.Hot = 1
	case s.Reasons&(powerBrake|hwSlowdown) != 0:
		f.Brake = 1
	case s.Reasons&swPowerCap != 0:
		f.Capped = 1
	}
}
