//go:build linux && cgo

package nvmlchild

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// ServeNVML loads NVIDIA's library, asks it for everything and writes one line
// of JSON. It runs in a process of its own: a symbol that is missing ends the
// process, a broken library may crash it, and a wedged driver stalls it.
// Libraries are tried in order until one loads; none means the loader's choice.
// After the word "use" a second line says the same and what uses the GPUs: where
// that stalls or crashes, the first line is there.
func ServeNVML(w io.Writer, libraries []string) error {
	use := len(libraries) > 0 && libraries[0] == UseWord
	if use {
		libraries = libraries[1:]
	}
	lib, path, ret := load(libraries)
	r := Report{Return: int(ret), Library: path}
	if r.Return == NoLibrary {
		return writeLine(w, r) // nothing may be called now: no symbol is there
	}
	q := query{library: lib, report: &r}
	q.all()
	if use && r.Return == Success {
		if err := writeLine(w, r); err != nil {
			return err
		}
		q.uses()
	}
	return writeLine(w, r)
}

// A library is NVIDIA's, once it was loaded, with what is known of its symbols.
type library struct {
	lib     nvml.Interface
	symbols map[string]bool
}

// load loads the first of some libraries that is one; none means the loader's choice.
func load(paths []string) (lib library, path string, ret nvml.Return) {
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path = range paths {
		var options []nvml.LibraryOption
		if path != "" {
			options = append(options, nvml.WithLibraryPath(path))
		}
		lib = library{nvml.New(options...), map[string]bool{}}
		if ret = lib.lib.Init(); ret != nvml.ERROR_LIBRARY_NOT_FOUND {
			break
		}
	}
	return lib, path, ret
}

// has reports whether the library has one of some symbols. Every call is guarded so: a
// library of an older driver lacks symbols, and calling a missing one ends the process.
func (l library) has(symbols ...string) bool {
	for _, s := range symbols {
		there, asked := l.symbols[s]
		if !asked {
			there = l.lib.Extensions().LookupSymbol(s) == nil
			l.symbols[s] = there
		}
		if there {
			return true
		}
	}
	return false
}

// ask makes a call where the library has its symbol; the zero value stands for no answer.
func ask[T any](l library, symbol string, call func() (T, nvml.Return)) (answer T) {
	if l.has(symbol) {
		answer, _ = call()
	}
	return answer
}

// of is a call about one kind of what it tells.
func of[K, T any](call func(K) (T, nvml.Return), kind K) func() (T, nvml.Return) {
	return func() (T, nvml.Return) { return call(kind) }
}

// lists reports whether the library counts GPUs and gives them out.
func (l library) lists() bool {
	return l.has("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") && l.has("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex")
}

func writeLine(w io.Writer, r Report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// A query asks one loaded library.
type query struct {
	library
	report  *Report
	handles []gpuHandles // of the report's GPUs
}

// gpuHandles are a GPU and its slices, in the order of the report.
type gpuHandles struct {
	whole  nvml.Device
	slices []nvml.Device
}

// check keeps a failed call as a problem and reports whether it succeeded.
func (q query) check(call string, ret nvml.Return) bool {
	if ret == nvml.SUCCESS {
		return true
	}
	words := fmt.Sprintf("%s: error %d", call, int(ret))
	if q.has("nvmlErrorString") {
		words += ": " + q.lib.ErrorString(ret)
	}
	q.report.Problems = append(q.report.Problems, words)
	return false
}

func (q *query) all() {
	r := q.report
	if r.Return != Success && q.has("nvmlErrorString") {
		r.Error = q.lib.ErrorString(nvml.Return(r.Return))
	}
	// The one question that is answered without a kernel module.
	r.NVML = ask(q.library, "nvmlSystemGetNVMLVersion", q.lib.SystemGetNVMLVersion)
	if r.Return != Success {
		return
	}
	if q.has("nvmlSystemGetDriverVersion") {
		var ret nvml.Return
		r.Driver, ret = q.lib.SystemGetDriverVersion()
		q.check("driver version", ret)
	}
	if !q.lists() {
		return
	}
	n, ret := q.lib.DeviceGetCount()
	if !q.check("number of GPUs", ret) {
		return
	}
	for i := range min(n, 256) {
		d, ret := q.lib.DeviceGetHandleByIndex(i)
		if !q.check(fmt.Sprintf("GPU %d", i), ret) { // lost, or no permission
			if ret == nvml.ERROR_GPU_IS_LOST || ret == nvml.ERROR_RESET_REQUIRED || ret == nvml.ERROR_UNKNOWN {
				r.Lost = append(r.Lost, int(ret))
			}
			continue
		}
		q.handles = append(q.handles, gpuHandles{whole: d})
		r.GPUs = append(r.GPUs, q.gpu(d))
	}
}

func (q *query) gpu(d nvml.Device) GPU {
	g := q.device(d)
	if q.has("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo") {
		if p, ret := d.GetPciInfo(); ret == nvml.SUCCESS {
			g.PCIDevice, g.PCISub, g.PCIBus = p.PciDeviceId, p.PciSubSystemId, fixedString(p.BusId[:])
			g.PCIBus = cmp.Or(g.PCIBus, fixedString(p.BusIdLegacy[:]))
		}
	}
	if g.MIG = q.divided(d); !g.MIG || !q.has("nvmlDeviceGetMaxMigDeviceCount") || !q.has("nvmlDeviceGetMigDeviceHandleByIndex") {
		return g
	}
	n, _ := d.GetMaxMigDeviceCount()
	for i := range min(n, 64) {
		slice, ret := d.GetMigDeviceHandleByIndex(i)
		if ret != nvml.SUCCESS { // no slice has this number
			continue
		}
		s := q.device(slice)
		if s.Major == 0 {
			s.Major, s.Minor = g.Major, g.Minor
		}
		g.Slices = append(g.Slices, s)
		last := &q.handles[len(q.handles)-1]
		last.slices = append(last.slices, slice)
	}
	return g
}

// device asks what whole GPUs and slices both answer.
func (l library) device(d nvml.Device) GPU {
	g := GPU{Name: ask(l, "nvmlDeviceGetName", d.GetName), UUID: ask(l, "nvmlDeviceGetUUID", d.GetUUID)}
	if l.has("nvmlDeviceGetCudaComputeCapability") {
		major, minor, ret := d.GetCudaComputeCapability()
		if ret == nvml.SUCCESS {
			g.Major, g.Minor = major, minor
		}
	}
	g.Memory = ask(l, "nvmlDeviceGetMemoryInfo", d.GetMemoryInfo).Total // not supported where memory is shared, as on GB10
	return g
}

// divided reports whether a GPU is in MIG mode.
func (l library) divided(d nvml.Device) bool {
	return ask(l, "nvmlDeviceGetMigMode", func() (int, nvml.Return) { mode, _, ret := d.GetMigMode(); return mode, ret }) == nvml.DEVICE_MIG_ENABLE
}

// memory tells of it: the first version of the call counts what the driver reserves as used.
func (l library) memory(d nvml.Device) (m nvml.Memory, ret nvml.Return) {
	if l.has("nvmlDeviceGetMemoryInfo_v2") {
		if v, ret := d.GetMemoryInfo_v2(); ret == nvml.SUCCESS {
			return nvml.Memory{Total: v.Total, Used: v.Used}, ret
		}
	}
	if !l.has("nvmlDeviceGetMemoryInfo") {
		return m, nvml.ERROR_FUNCTION_NOT_FOUND
	}
	return d.GetMemoryInfo()
}

// fixedString reads a C string from a fixed array, whose element type differs between
// architectures.
func fixedString[T int8 | uint8](c []T) string {
	var b strings.Builder
	for _, x := range c {
		if x == 0 {
			break
		}
		b.WriteByte(byte(x))
	}
	return b.String()
}
