package observe

import (
	"envfix/internal/nvmlchild"
	"envfix/internal/observe/verdict"
)

// linkRate is a PCIe link's rate in MB/s towards the device: 250 MB/s a lane in
// the first generation, doubled by each.
func linkRate(gen, width int) float64 {
	if gen < 1 {
		return 0
	}
	return 250 * float64(int(1)<<min(gen-1, 8)) * float64(width)
}

// NVML's clock event reasons (nvml.h, nvmlClocksEventReason*).
const (
	swPowerCap = 0x4
	hwSlowdown = 0x8 // any of heat, brake, too fast a fall of voltage
	swThermal  = 0x20
	hwThermal  = 0x40
	powerBrake = 0x80
)

// clockLoss is the share of its highest clock below which an active GPU is slowed.
const clockLoss = 0.90

// hotC is where TraceML calls a GPU hot.
const hotC = 85

// frameOf turns a reading of a GPU into sums. Its link is compared with the best both
// ends can by generation × width: deliberately not by the rate, which doubles with
// each generation, for a new card in a board one generation older is no fault.
func frameOf(r nvmlchild.Reading, g nvmlchild.SampledGPU) verdict.GPUFrame {
	f := verdict.GPUFrame{Used: r.Used, Temp: r.Temp}
	if r.Power > 0 {
		f.PowerN, f.Power = 1, r.Power
	}
	if r.SMBusy >= 0 && r.Tensor >= 0 {
		f.GPMN, f.SMBusy, f.Tensor = 1, r.SMBusy, r.Tensor
	}
	if r.Rx >= 0 {
		f.RxN, f.Rx = 1, r.Rx
	}
	top := 0.0
	for _, u := range r.Utils {
		f.N, f.Util, top = f.N+1, f.Util+u, max(top, u)
		if u < 5 {
			f.Idle++
		}
		if u >= verdict.UtilBusy {
			f.High++
		}
	}
	if top <= 20 { // an idle GPU lowers its clocks and its link
		return f
	}
	if now, best := r.Gen*r.Width, g.MaxGen*g.MaxWidth; now > 0 && best > 0 {
		f.LinkN, f.Link = 1, min(1, float64(now)/float64(best))
	}
	if r.Clock == 0 || g.Clock == 0 {
		return f
	}
	part := min(1, float64(r.Clock)/float64(g.Clock))
	f.Active, f.Clock = 1, part
	if part < clockLoss {
		slowed(&f, r)
	}
	return f
}

// slowed tells what lowered the clocks.
func slowed(f *verdict.GPUFrame, r nvmlchild.Reading) {
	switch {
	case r.Reasons&(swThermal|hwThermal) != 0 || r.Reasons&(hwSlowdown|powerBrake) == hwSlowdown && r.Temp >= hotC:
		f.Hot = 1
	case r.Reasons&(powerBrake|hwSlowdown) != 0:
		f.Brake = 1
	case r.Reasons&swPowerCap != 0:
		f.Capped = 1
	}
}
