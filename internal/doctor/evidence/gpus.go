package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/xslices"
)

// OnlyForeign reports whether GPUs are known, and none of them is NVIDIA's.
func (e GPU) OnlyForeign() bool { return len(e.Machine.GPUs) > 0 && !e.Of(machine.NVIDIA) }

// vendors reports which vendors' GPUs are known.
func (e GPU) Of(v string) bool {
	return slices.ContainsFunc(e.Machine.GPUs, func(g machine.GPU) bool { return g.Vendor == v })
}

// identify takes from the device table what the names of GPUs say.
func (e *Evidence) identify() {
	e.Driver().whole()
	if e.Devices == nil {
		return
	}
	for i := range e.Machine.GPUs {
		g := &e.Machine.GPUs[i]
		if !g.SM.IsZero() || g.GFX != "" {
			continue
		}
		if d, ok := e.Devices.LookupPCI(g.PCIID, ""); ok && d.Vendor == machine.NVIDIA {
			g.SM = d.SM
			g.Name = cmp.Or(g.Name, d.Name)
			continue
		}
		if g.Name == "" {
			continue
		}
		found := e.Devices.LookupName(g.Name)
		if len(found) == 0 {
			continue
		}
		// A name sold with several chips: none of them is known to be here.
		if len(found) == 1 && (found[0].Vendor == g.Vendor || g.Vendor == "") {
			g.SM, g.GFX, g.Vendor = found[0].SM, found[0].GFX, found[0].Vendor
		}
	}
}

// First is a vendor's first GPU; nil: none.
func (e GPU) First(vendor string) *machine.GPU {
	return xslices.At(e.Machine.GPUs, func(g machine.GPU) bool { return g.Vendor == vendor })
}

// Visible are NVIDIA's GPUs that programs can use.
func (e GPU) Visible() []machine.GPU {
	return slices.DeleteFunc(slices.Clone(e.Machine.GPUs),
		func(g machine.GPU) bool { return g.Vendor != machine.NVIDIA || !g.Visible })
}

// Chosen are those that a program here gets, in its order, by CUDA_VISIBLE_DEVICES. It is not
// sure where they differ and go by number: CUDA puts the fastest first, which is taken to be
// the one of the newest generation (CUDA programming guide, CUDA_DEVICE_ORDER).
func (e GPU) Chosen() (gpus []machine.GPU, sure bool) {
	all := e.Visible()
	if sure = !e.Mixed(); !sure {
		slices.SortStableFunc(all, func(a, b machine.GPU) int { return cmp.Or(b.SM.Major-a.SM.Major, b.SM.Minor-a.SM.Minor) })
	}
	v, set := e.Machine.Env["CUDA_VISIBLE_DEVICES"]
	if !set {
		return all, sure
	}
	for i, entry := range strings.Split(v, ",") {
		entry = strings.TrimSpace(entry)
		n := slices.IndexFunc(all, func(g machine.GPU) bool { return entry != "" && strings.HasPrefix(g.UUID, entry) })
		if sure = sure || n >= 0 && i == 0; n < 0 {
			if n = Atoi(entry); n < 0 || n >= len(all) {
				break
			}
		}
		gpus = append(gpus, all[n])
	}
	return gpus, sure
}

// Mixed reports whether CUDA's order of the GPUs may be another than the driver's.
func (e GPU) Mixed() bool {
	gpus := e.Visible()
	return e.Machine.Env["CUDA_DEVICE_ORDER"] != "PCI_BUS_ID" &&
		slices.ContainsFunc(gpus, func(g machine.GPU) bool { return g.Name != gpus[0].Name })
}

// Spare reports whether a GPU is not missed where it cannot be used: others carry the work,
// and they are of another kind, as where an old card drives the screen.
func (e GPU) Spare(g machine.GPU) bool {
	others := slices.DeleteFunc(e.Visible(), func(o machine.GPU) bool { return o.Index == g.Index })
	return !e.Pasted && len(others) > 0 && !slices.ContainsFunc(others, func(o machine.GPU) bool { return o.Name == g.Name })
}

// AllBefore is the first of NVIDIA's GPUs where each is surely older than a compute
// capability; nil where one is not, or none is there.
func (e GPU) AllBefore(sm machine.SM) (old *machine.GPU) {
	for i := range e.Machine.GPUs {
		g := &e.Machine.GPUs[i]
		if g.Vendor != machine.NVIDIA {
			continue
		}
		if !e.Before(*g, sm) {
			return nil
		}
		old = cmp.Or(old, g)
	}
	return old
}

// Before reports whether a GPU is surely older than a compute capability: a name
// sold with several chips when each of them is.
func (e GPU) Before(g machine.GPU, sm machine.SM) bool {
	if !g.SM.IsZero() {
		return g.SM.Less(sm)
	}
	if g.Name == "" || e.Devices == nil {
		return false
	}
	found := e.Devices.LookupName(g.Name)
	for _, d := range found {
		if d.Vendor != machine.NVIDIA || d.SM.IsZero() || !d.SM.Less(sm) {
			return false
		}
	}
	return len(found) > 0
}

// NameOf is a GPU's name, or that it is one.
func NameOf(g machine.GPU) string {
	return cmp.Or(g.Name, "GPU")
}

// GPUName is a GPU's number and name, as programs count.
func GPUName(g machine.GPU) string { return fmt.Sprintf("GPU %d (%s)", g.Index, NameOf(g)) }
