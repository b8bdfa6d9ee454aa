//go:build linux && cgo

package nvmlchild

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// ServeSamples loads NVIDIA's library and writes a line of readings at every
// interval until stdin ends. Like ServeNVML it runs in a process of its own.
func ServeSamples(stdin io.Reader, w io.Writer, every time.Duration, libraries []string) error {
	out := json.NewEncoder(w)
	lib, _, ret := load(libraries)
	if ret != nvml.SUCCESS {
		r := Report{Return: int(ret)}
		return out.Encode(SampleLine{Error: r.Words()})
	}
	s := newSampler(lib)
	if err := out.Encode(SampleLine{GPUs: s.gpus}); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		io.Copy(io.Discard, stdin)
		close(gone)
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		if err := out.Encode(SampleLine{Readings: s.read(n)}); err != nil {
			return err
		}
		select {
		case <-gone:
			return nil
		case <-tick.C:
		}
	}
}

// A sampler reads the same devices again and again.
type sampler struct {
	library
	devices []nvml.Device
	gpus    []SampledGPU
	state   []sampled
}

// sampled is what one reading needs of the one before.
type sampled struct {
	seen  uint64 // timestamp of the newest utilisation sample
	rx    uint64 // bytes so far
	rxAt  time.Time
	gpm   [2]nvml.GpmSample
	gpmOK bool
	turn  int
	last  Reading
}

func newSampler(lib library) *sampler {
	s := &sampler{library: lib}
	if !s.lists() {
		return s
	}
	n, _ := lib.lib.DeviceGetCount()
	for i := range min(n, 64) {
		d, ret := lib.lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue
		}
		s.devices, s.gpus, s.state = append(s.devices, d), append(s.gpus, s.describe(i, d)), append(s.state, s.start(d))
	}
	return s
}

func (s *sampler) describe(i int, d nvml.Device) SampledGPU {
	is := s.device(d)
	g := SampledGPU{Index: i, Name: is.Name, UUID: is.UUID, Major: is.Major, Minor: is.Minor}
	memory, _ := s.memory(d)
	g.Memory = int64(memory.Total >> 20)
	g.Clock = int(ask(s.library, "nvmlDeviceGetMaxClockInfo", of(d.GetMaxClockInfo, nvml.CLOCK_SM)))
	g.Cores = ask(s.library, "nvmlDeviceGetNumGpuCores", d.GetNumGpuCores)
	g.PowerLimit = float64(ask(s.library, "nvmlDeviceGetEnforcedPowerLimit", d.GetEnforcedPowerLimit)) / 1000
	g.PowerDefault = float64(ask(s.library, "nvmlDeviceGetPowerManagementDefaultLimit", d.GetPowerManagementDefaultLimit)) / 1000
	g.MaxGen = ask(s.library, "nvmlDeviceGetMaxPcieLinkGeneration", d.GetMaxPcieLinkGeneration)
	g.MaxWidth = ask(s.library, "nvmlDeviceGetMaxPcieLinkWidth", d.GetMaxPcieLinkWidth)
	g.MIG = s.divided(d)
	_, g.Processes = s.processes(d)
	return g
}

func (s *sampler) start(d nvml.Device) (st sampled) {
	if !s.has("nvmlGpmQueryDeviceSupport") || !s.has("nvmlGpmSampleAlloc") || !s.has("nvmlGpmSampleGet") || !s.has("nvmlGpmMetricsGet") {
		return st
	}
	if sup, ret := d.GpmQueryDeviceSupport(); ret != nvml.SUCCESS || sup.IsSupportedDevice == 0 {
		return st
	}
	a, ret := s.lib.GpmSampleAlloc()
	b, ret2 := s.lib.GpmSampleAlloc()
	if ret == nvml.SUCCESS && ret2 == nvml.SUCCESS {
		st.gpm, st.gpmOK = [2]nvml.GpmSample{a, b}, d.GpmSampleGet(a) == nvml.SUCCESS
	}
	return st
}

func (s *sampler) processes(d nvml.Device) (list [][2]int64, ok bool) {
	if !s.has(computing...) {
		return nil, false
	}
	procs, ret := d.GetComputeRunningProcesses()
	if ret != nvml.SUCCESS {
		return nil, false
	}
	for _, p := range procs {
		mem := int64(0)
		if p.UsedGpuMemory != math.MaxUint64 { // not available
			mem = int64(p.UsedGpuMemory >> 20)
		}
		list = append(list, [2]int64{int64(p.Pid), mem})
	}
	return list, true
}

// perSecond is how many readings a second envfix takes; what changes slowly or
// costs more is read with every one of them.
const perSecond = 5

// read takes the n-th reading of every device.
func (s *sampler) read(n int) []Reading {
	if s.lists() {
		s.lib.DeviceGetCount()
	}
	out := make([]Reading, len(s.devices))
	for i, d := range s.devices {
		r := Reading{Rx: -1, SMBusy: -1, Tensor: -1, Procs: s.state[i].last.Procs}
		var ret nvml.Return
		r.Utils, ret = s.utils(i, d)
		memory, _ := s.memory(d)
		r.Used = int64(memory.Used >> 20)
		r.Lost = ret == nvml.ERROR_GPU_IS_LOST
		r.Clock = int(ask(s.library, "nvmlDeviceGetClockInfo", of(d.GetClockInfo, nvml.CLOCK_SM)))
		r.Power = float64(ask(s.library, "nvmlDeviceGetPowerUsage", d.GetPowerUsage)) / 1000
		if s.has("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons") {
			r.Reasons, _ = s.reasons(d)()
		}
		r.Temp = int(ask(s.library, "nvmlDeviceGetTemperature", of(d.GetTemperature, nvml.TEMPERATURE_GPU)))
		r.Gen = ask(s.library, "nvmlDeviceGetCurrPcieLinkGeneration", d.GetCurrPcieLinkGeneration)
		r.Width = ask(s.library, "nvmlDeviceGetCurrPcieLinkWidth", d.GetCurrPcieLinkWidth)
		if n%perSecond == 0 {
			r.Procs, _ = s.processes(d)
			s.slow(i, d, &r)
		}
		s.state[i].last = r
		out[i] = r
	}
	return out
}

// utils are the driver's own samples since the last reading; without those the
// latest mean, which repeats within its period of 1/6 to 1 s.
func (s *sampler) utils(i int, d nvml.Device) ([]float64, nvml.Return) {
	if s.has("nvmlDeviceGetSamples") {
		_, list, ret := d.GetSamples(nvml.GPU_UTILIZATION_SAMPLES, s.state[i].seen)
		var out []float64
		first := s.state[i].seen == 0
		for _, x := range list {
			if x.TimeStamp > s.state[i].seen {
				s.state[i].seen = x.TimeStamp
				out = append(out, float64(binary.NativeEndian.Uint32(x.SampleValue[:4])))
			}
		}
		switch {
		case first && len(out) > 1:
			return out[len(out)-1:], ret // the rest is from before the job
		case ret == nvml.SUCCESS || ret == nvml.ERROR_NOT_FOUND:
			return out, nvml.SUCCESS
		}
	}
	if !s.has("nvmlDeviceGetUtilizationRates") {
		return nil, nvml.SUCCESS
	}
	u, ret := d.GetUtilizationRates()
	if ret != nvml.SUCCESS {
		return nil, ret
	}
	return []float64{float64(u.Gpu)}, ret
}

// slow reads, once a second, what costs a fraction of a millisecond. The call
// that measures PCIe traffic for 20 ms is never made.
func (s *sampler) slow(i int, d nvml.Device, r *Reading) {
	st := &s.state[i]
	if s.has("nvmlDeviceGetFieldValues") {
		v := []nvml.FieldValue{{FieldId: nvml.FI_DEV_PCIE_COUNT_RX_BYTES}}
		if d.GetFieldValues(v) == nvml.SUCCESS && nvml.Return(v[0].NvmlReturn) == nvml.SUCCESS {
			total, now := binary.NativeEndian.Uint64(v[0].Value[:]), time.Now()
			if dt := now.Sub(st.rxAt).Seconds(); st.rx > 0 && total >= st.rx && dt > 0 {
				r.Rx = float64(total-st.rx) / 1e6 / dt
			}
			st.rx, st.rxAt = total, now
		}
	}
	if !st.gpmOK {
		return
	}
	old, fresh := st.gpm[st.turn], st.gpm[1-st.turn]
	if d.GpmSampleGet(fresh) != nvml.SUCCESS {
		return
	}
	q := nvml.GpmMetricsGetType{NumMetrics: 2, Sample1: old, Sample2: fresh}
	q.Metrics[0].MetricId, q.Metrics[1].MetricId = uint32(nvml.GPM_METRIC_SM_UTIL), uint32(nvml.GPM_METRIC_ANY_TENSOR_UTIL)
	if s.lib.GpmMetricsGet(&q) == nvml.SUCCESS {
		r.SMBusy, r.Tensor = q.Metrics[0].Value, q.Metrics[1].Value
	}
	st.turn = 1 - st.turn
}
