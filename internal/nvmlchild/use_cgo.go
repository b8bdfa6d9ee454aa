//go:build linux && cgo

package nvmlchild

import (
	"math"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// uses adds to the report what each GPU is doing and how it is set up.
func (q *query) uses() {
	for i, h := range q.handles {
		g := &q.report.GPUs[i]
		g.Use = q.use(h.whole)
		for k, slice := range h.slices {
			u := &Use{Failed: map[string]int{}}
			q.load(slice, u)
			g.Slices[k].Use = u
		}
	}
	q.peers()
}

// maxPeers bounds how many GPUs are asked for their access to each other.
const maxPeers = 16

// peers asks of each pair whether one can read the other's memory.
func (q *query) peers() {
	if !q.has("nvmlDeviceGetP2PStatus") || len(q.handles) > maxPeers {
		return
	}
	for i, a := range q.handles {
		for k, b := range q.handles {
			if i == k {
				continue
			}
			status, ret := q.lib.DeviceGetP2PStatus(a.whole, b.whole, nvml.P2P_CAPS_INDEX_READ)
			if ret == nvml.SUCCESS && status != nvml.P2P_STATUS_OK {
				u := q.report.GPUs[i].Use
				u.NoPeers = append(u.NoPeers, NoPeer{k, int(status)})
			}
		}
	}
}

func (q *query) use(d nvml.Device) *Use {
	u := &Use{Failed: map[string]int{}}
	q.load(d, u)
	q.setup(d, u)
	q.health(d, u)
	q.pace(d, u)
	return u
}

// learn makes a call where the library has one of its symbols, and keeps what it said, or
// why it said nothing.
func learn[T any](q *query, u *Use, fact string, keep func(T), call func() (T, nvml.Return), symbols ...string) {
	if !q.has(symbols...) {
		u.Failed[fact] = Absent
	} else if v, ret := call(); ret != nvml.SUCCESS {
		u.Failed[fact] = int(ret)
	} else {
		keep(v)
	}
}

// load reads memory and processes, which slices answer too.
func (q *query) load(d nvml.Device, u *Use) {
	learn(q, u, "memory_used_bytes", func(m nvml.Memory) { u.Used = &m.Used }, of(q.memory, d), "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo")
	learn(q, u, "processes", func(list []nvml.ProcessInfo) {
		u.Listed = true
		u.add("compute", list)
	}, d.GetComputeRunningProcesses, computing...)
	// A GPU without a display has no such list; the other one counts.
	if q.has("nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses") {
		if list, ret := d.GetGraphicsRunningProcesses(); ret == nvml.SUCCESS {
			u.add("graphics", list)
		}
	}
}

// computing are the names of the call that lists the processes that compute.
var computing = []string{"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"}

func (u *Use) add(kind string, list []nvml.ProcessInfo) {
	for _, p := range list {
		if len(u.Processes) == 1000 {
			return
		}
		out := Process{PID: p.Pid, Kind: kind}
		if p.UsedGpuMemory != math.MaxUint64 { // not available
			out.Memory = &p.UsedGpuMemory
		}
		u.Processes = append(u.Processes, out)
	}
}

// setup reads what an administrator set.
func (q *query) setup(d nvml.Device, u *Use) {
	learn(q, u, "compute_mode", func(mode nvml.ComputeMode) { u.Mode = new(int(mode)) }, d.GetComputeMode, "nvmlDeviceGetComputeMode")
	learn(q, u, "persistence_mode", state(&u.Persistence), d.GetPersistenceMode, "nvmlDeviceGetPersistenceMode")
	learn(q, u, "display_active", state(&u.Display), d.GetDisplayActive, "nvmlDeviceGetDisplayActive")
	learn(q, u, "retired_pages_pending", state(&u.Retiring), d.GetRetiredPagesPendingStatus, "nvmlDeviceGetRetiredPagesPendingStatus")
}

func state(to **bool) func(nvml.EnableState) {
	return func(on nvml.EnableState) { *to = new(on == nvml.FEATURE_ENABLED) }
}

func number(to **int) func(uint32) { return func(n uint32) { *to = new(int(n)) } }

// health reads the counters of memory errors. Where ECC is off there are none.
func (q *query) health(d nvml.Device, u *Use) {
	mode := func() (nvml.EnableState, nvml.Return) { on, _, ret := d.GetEccMode(); return on, ret }
	learn(q, u, "ecc", state(&u.ECC), mode, "nvmlDeviceGetEccMode")
	if u.ECC != nil && *u.ECC {
		errors := func(kind nvml.EccCounterType) func() (uint64, nvml.Return) {
			return func() (uint64, nvml.Return) { return d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, kind) }
		}
		learn(q, u, "ecc.volatile_uncorrected", func(n uint64) { u.Volatile = &n }, errors(nvml.VOLATILE_ECC), "nvmlDeviceGetTotalEccErrors")
		learn(q, u, "ecc.aggregate_uncorrected", func(n uint64) { u.Aggregate = &n }, errors(nvml.AGGREGATE_ECC), "nvmlDeviceGetTotalEccErrors")
	}
	rows := func() (r Remapped, ret nvml.Return) {
		r.Correctable, r.Uncorrectable, r.Pending, r.Failed, ret = d.GetRemappedRows()
		return r, ret
	}
	learn(q, u, "remapped_rows", func(r Remapped) { u.Remapped = &r }, rows, "nvmlDeviceGetRemappedRows")
}

// pace reads how fast the GPU runs, and what holds it back.
func (q *query) pace(d nvml.Device, u *Use) {
	learn(q, u, "throttle_reasons", func(bits uint64) { u.Reasons = &bits }, q.reasons(d), "nvmlDeviceGetCurrentClocksEventReasons",
		"nvmlDeviceGetCurrentClocksThrottleReasons")
	learn(q, u, "utilization_percent", func(r nvml.Utilization) { u.Busy = new(int(r.Gpu)) }, d.GetUtilizationRates, "nvmlDeviceGetUtilizationRates")
	learn(q, u, "temperature_celsius", number(&u.Temperature), of(d.GetTemperature, nvml.TEMPERATURE_GPU), "nvmlDeviceGetTemperature")
	learn(q, u, "sm_clock_mhz", number(&u.Clock), of(d.GetClockInfo, nvml.CLOCK_SM), "nvmlDeviceGetClockInfo")
	learn(q, u, "max_sm_clock_mhz", number(&u.MaxClock), of(d.GetMaxClockInfo, nvml.CLOCK_SM), "nvmlDeviceGetMaxClockInfo")
	learn(q, u, "power_limit_watts", number(&u.Limit), d.GetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit")
	learn(q, u, "default_power_limit_watts", number(&u.Normal), d.GetPowerManagementDefaultLimit, "nvmlDeviceGetPowerManagementDefaultLimit")
}

// reasons is the call that tells what holds the clock back; its name until driver 535 was
// another.
func (l library) reasons(d nvml.Device) func() (uint64, nvml.Return) {
	if l.has("nvmlDeviceGetCurrentClocksEventReasons") {
		return d.GetCurrentClocksEventReasons
	}
	return d.GetCurrentClocksThrottleReasons
}
