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

// ask makes a call where the library has one of its symbols, and keeps why it
// said nothing.
func (q *query) ask(u *Use, fact string, call func() nvml.Return, symbols ...string) bool {
	if !q.has(symbols...) {
		u.Failed[fact] = Absent
		return false
	}
	if ret := call(); ret != nvml.SUCCESS {
		u.Failed[fact] = int(ret)
		return false
	}
	return true
}

// load reads memory and processes, which slices answer too.
func (q *query) load(d nvml.Device, u *Use) {
	if q.has("nvmlDeviceGetMemoryInfo_v2") { // the first version counts what the driver reserves as used
		if m, ret := d.GetMemoryInfo_v2(); ret == nvml.SUCCESS {
			u.Used = &m.Used
		}
	}
	if u.Used == nil {
		q.ask(u, "memory_used_bytes", func() nvml.Return {
			m, ret := d.GetMemoryInfo()
			if ret == nvml.SUCCESS {
				u.Used = &m.Used
			}
			return ret
		}, "nvmlDeviceGetMemoryInfo")
	}
	var list []nvml.ProcessInfo
	if q.ask(u, "processes", func() (ret nvml.Return) { list, ret = d.GetComputeRunningProcesses(); return ret },
		"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses") {
		u.Listed = true
		u.add("compute", list)
	}
	// A GPU without a display has no such list; the other one counts.
	if q.has("nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses") {
		if list, ret := d.GetGraphicsRunningProcesses(); ret == nvml.SUCCESS {
			u.add("graphics", list)
		}
	}
}

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
	q.ask(u, "compute_mode", func() nvml.Return {
		mode, ret := d.GetComputeMode()
		if ret == nvml.SUCCESS {
			u.Mode = new(int(mode))
		}
		return ret
	}, "nvmlDeviceGetComputeMode")
	state := func(fact, symbol string, to **bool, call func() (nvml.EnableState, nvml.Return)) {
		q.ask(u, fact, func() nvml.Return {
			on, ret := call()
			if ret == nvml.SUCCESS {
				*to = new(on == nvml.FEATURE_ENABLED)
			}
			return ret
		}, symbol)
	}
	state("persistence_mode", "nvmlDeviceGetPersistenceMode", &u.Persistence, d.GetPersistenceMode)
	state("display_active", "nvmlDeviceGetDisplayActive", &u.Display, d.GetDisplayActive)
	state("retired_pages_pending", "nvmlDeviceGetRetiredPagesPendingStatus", &u.Retiring, d.GetRetiredPagesPendingStatus)
}

// health reads the counters of memory errors. Where ECC is off there are none.
func (q *query) health(d nvml.Device, u *Use) {
	q.ask(u, "ecc", func() nvml.Return {
		on, _, ret := d.GetEccMode()
		if ret == nvml.SUCCESS {
			u.ECC = new(on == nvml.FEATURE_ENABLED)
		}
		return ret
	}, "nvmlDeviceGetEccMode")
	if u.ECC != nil && *u.ECC {
		count := func(kind nvml.EccCounterType, to **uint64, fact string) {
			q.ask(u, fact, func() nvml.Return {
				n, ret := d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, kind)
				if ret == nvml.SUCCESS {
					*to = &n
				}
				return ret
			}, "nvmlDeviceGetTotalEccErrors")
		}
		count(nvml.VOLATILE_ECC, &u.Volatile, "ecc.volatile_uncorrected")
		count(nvml.AGGREGATE_ECC, &u.Aggregate, "ecc.aggregate_uncorrected")
	}
	q.ask(u, "remapped_rows", func() nvml.Return {
		corr, unc, pending, failed, ret := d.GetRemappedRows()
		if ret == nvml.SUCCESS {
			u.Remapped = &Remapped{corr, unc, pending, failed}
		}
		return ret
	}, "nvmlDeviceGetRemappedRows")
}

// pace reads how fast the GPU runs, and what holds it back.
func (q *query) pace(d nvml.Device, u *Use) {
	reasons := d.GetCurrentClocksEventReasons
	if !q.has("nvmlDeviceGetCurrentClocksEventReasons") { // its name until driver 535
		reasons = d.GetCurrentClocksThrottleReasons
	}
	q.ask(u, "throttle_reasons", func() nvml.Return {
		bits, ret := reasons()
		if ret == nvml.SUCCESS {
			u.Reasons = &bits
		}
		return ret
	}, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
	q.ask(u, "utilization_percent", func() nvml.Return {
		r, ret := d.GetUtilizationRates()
		if ret == nvml.SUCCESS {
			u.Busy = new(int(r.Gpu))
		}
		return ret
	}, "nvmlDeviceGetUtilizationRates")
	number := func(fact, symbol string, to **int, call func() (uint32, nvml.Return)) {
		q.ask(u, fact, func() nvml.Return {
			n, ret := call()
			if ret == nvml.SUCCESS {
				*to = new(int(n))
			}
			return ret
		}, symbol)
	}
	number("temperature_celsius", "nvmlDeviceGetTemperature", &u.Temperature, func() (uint32, nvml.Return) { return d.GetTemperature(nvml.TEMPERATURE_GPU) })
	number("sm_clock_mhz", "nvmlDeviceGetClockInfo", &u.Clock, func() (uint32, nvml.Return) { return d.GetClockInfo(nvml.CLOCK_SM) })
	number("max_sm_clock_mhz", "nvmlDeviceGetMaxClockInfo", &u.MaxClock, func() (uint32, nvml.Return) { return d.GetMaxClockInfo(nvml.CLOCK_SM) })
	number("power_limit_watts", "nvmlDeviceGetEnforcedPowerLimit", &u.Limit, d.GetEnforcedPowerLimit)
	number("default_power_limit_watts", "nvmlDeviceGetPowerManagementDefaultLimit", &u.Normal, d.GetPowerManagementDefaultLimit)
}
