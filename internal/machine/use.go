package machine

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

// A GPUUse is what a GPU was doing, and how it was set up, when the facts were
// gathered. `envfix facts` and `envfix doctor` ask for it; no plan stands on it. A
// nil field is unknown, and Unread says why.
type GPUUse struct {
	MemoryUsed  *int64    `json:"memory_used_bytes,omitempty"`
	Processes   []Process `json:"processes"`              // the largest first; nil: unknown
	ComputeMode string    `json:"compute_mode,omitempty"` // default, exclusive_thread, exclusive_process, prohibited
	Persistence *bool     `json:"persistence_mode,omitempty"`
	Display     *bool     `json:"display_active,omitempty"` // a screen hangs on it
	ECC         *ECC      `json:"ecc,omitempty"`
	Remapped    *Remapped `json:"remapped_rows,omitempty"`         // Ampere and later
	Retiring    *bool     `json:"retired_pages_pending,omitempty"` // before Ampere
	Throttle    []string  `json:"throttle_reasons"`                // see the Throttle constants; nil: unknown

	Utilization *int `json:"utilization_percent,omitempty"` // of the driver's last period
	Temperature *int `json:"temperature_celsius,omitempty"`
	Clock       *int `json:"sm_clock_mhz,omitempty"`
	MaxClock    *int `json:"max_sm_clock_mhz,omitempty"`
	PowerLimit  *int `json:"power_limit_watts,omitempty"` // in force
	PowerNormal *int `json:"default_power_limit_watts,omitempty"`

	NoPeers []NoPeer `json:"no_peer_access,omitempty"` // GPUs whose memory it cannot reach; nil: all, or nobody could tell

	Unread map[string]string `json:"unread,omitempty"` // by the name of the fact: why it is unknown
}

// A NoPeer is another GPU whose memory one cannot reach, and why.
type NoPeer struct {
	Index int    `json:"index"` // of the driver, among whole GPUs
	Why   string `json:"why"`
}

// A Process holds memory of a GPU, as the driver lists it.
type Process struct {
	PID     int    `json:"pid"`                    // the driver's number: of the machine, not of a container
	Kind    string `json:"kind"`                   // compute, graphics
	Memory  *int64 `json:"memory_bytes,omitempty"` // nil: the driver does not tell
	User    string `json:"user,omitempty"`
	Name    string `json:"name,omitempty"`    // the program
	Command string `json:"command,omitempty"` // the program and its script or module; no other arguments, which may hold secrets
	Unseen  string `json:"unseen,omitempty"`  // why who it is cannot be seen; see the Unseen constants
}

// The values of Process.Unseen.
const (
	UnseenNamespace = "namespace" // PIDs here are not the machine's: a container
	UnseenGone      = "gone"      // no such process in /proc: it has ended, or /proc hides it
)

// ECC holds the counts of uncorrectable memory errors; nil: unknown.
type ECC struct {
	Enabled   bool   `json:"enabled"`
	Volatile  *int64 `json:"volatile_uncorrected,omitempty"`  // since the driver was loaded
	Aggregate *int64 `json:"aggregate_uncorrected,omitempty"` // over the GPU's life
}

// Remapped is the state of the rows of memory that were exchanged for spare ones.
type Remapped struct {
	Correctable   int  `json:"correctable"`
	Uncorrectable int  `json:"uncorrectable"`
	Pending       bool `json:"pending"` // waits for a reset of the GPU
	Failed        bool `json:"failed"`
}

// The values of GPUUse.Throttle that say why a GPU is slowed (nvml.h,
// nvmlClocksEventReason). What means no slowing (idle, a clock that was set) is
// not listed.
const (
	ThrottlePowerCap   = "power_cap"        // the software's limit
	ThrottleHWSlowdown = "hw_slowdown"      // any of the next two, or a fall of voltage
	ThrottleHeat       = "thermal"          // software keeps it below its limit
	ThrottleHWHeat     = "hardware_thermal" // the hardware itself halves the clock
	ThrottlePowerBrake = "power_brake"      // the power supply or the chassis asks for it
)

// A KernelLog is what the kernel's log says of GPUs since the machine started.
type KernelLog struct {
	Source  string        `json:"source,omitempty"`  // /dev/kmsg …; "" none could be read
	Refused string        `json:"refused,omitempty"` // why not, in words
	Errors  []KernelError `json:"errors"`

	Lines []string `json:"lines,omitempty"` // of drivers, where a GPU cannot be used; the last of them
}

// A KernelError is one kind of error that NVIDIA's kernel module reported of one
// device: an Xid, or an SXid where the device is an NVSwitch.
type KernelError struct {
	PCIAddress string `json:"pci_address"` // without the function: 0000:3b:00
	Number     int    `json:"xid"`
	Switch     bool   `json:"nvswitch,omitempty"`
	Count      int    `json:"count"`
	AgeSeconds *int64 `json:"age_seconds,omitempty"` // of the last one; nil: unknown
	Text       string `json:"text"`                  // of the last one
}

const (
	maxProcesses    = 256 // of one GPU
	maxKernelErrors = 128
	maxUseText      = 400 // bytes of one text
)

// Unseen counts the processes whose owner cannot be seen, and their memory where
// the driver tells it.
func (u *GPUUse) Unseen() (n int, bytes int64) {
	for _, p := range u.Processes {
		if p.Unseen != "" {
			n++
			if p.Memory != nil {
				bytes += *p.Memory
			}
		}
	}
	return n, bytes
}

// UnseenWords says in a sentence what uses a GPU and cannot be seen from here; ""
// where everything can.
func (m Machine) UnseenWords(u *GPUUse) string {
	here := say.Either(m.Platform.Environment == Container, "this container", "this machine")
	n, bytes := u.Unseen()
	switch {
	case n > 0:
		what, holds := "1 process holds", " it"
		if n > 1 {
			what = fmt.Sprintf("%d processes hold", n)
		}
		if bytes > 0 {
			holds = " " + GiB(bytes)
		}
		switch what += holds; {
		case slices.ContainsFunc(u.Processes, func(p Process) bool { return p.Unseen == UnseenGone }):
			return what + "; /proc does not show which"
		case here == "this machine":
			return what + "; PIDs here are not the machine's, so who cannot be seen"
		}
		return what + "; " + here + " cannot see which"
	case len(u.Processes) == 0 && m.Platform.Environment == Container && u.MemoryUsed != nil && *u.MemoryUsed >= 1<<30:
		return GiB(*u.MemoryUsed) + " are in use; this container cannot see by whom"
	}
	return ""
}

// GiB writes an amount of memory for people: "21.4 GiB".
func GiB(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

// WithoutUse is m without what its GPUs were doing.
func (m Machine) WithoutUse() Machine {
	m.KernelLog = nil
	m.GPUs = edited(m.GPUs, func(g *GPU) { g.Use = nil })
	return m
}

// normalUse cuts what exceeds the bounds and cleans the texts of others.
func (m *Machine) normalUse() {
	text := func(s string) string { return clipTo(text.Printable(s), maxUseText) }
	cleaned := func(list []string, most int) []string {
		return edited(head(list, most), func(s *string) { *s = text(*s) })
	}
	for i := range m.GPUs {
		u := m.GPUs[i].Use
		if u == nil {
			continue
		}
		c := *u
		c.Processes = edited(head(c.Processes, maxProcesses), func(p *Process) {
			p.Kind, p.User, p.Name, p.Command, p.Unseen = text(p.Kind), text(p.User), text(p.Name), text(p.Command), text(p.Unseen)
		})
		c.Throttle, c.ComputeMode = cleaned(c.Throttle, 16), text(c.ComputeMode)
		unread := map[string]string{}
		for k, v := range c.Unread {
			if len(unread) < 64 {
				unread[text(k)] = text(v)
			}
		}
		if c.Unread = unread; len(unread) == 0 {
			c.Unread = nil
		}
		m.GPUs[i].Use = &c
	}
	if m.KernelLog != nil {
		l := *m.KernelLog
		l.Source, l.Refused = text(l.Source), text(l.Refused)
		l.Errors = filled(edited(head(l.Errors, maxKernelErrors), func(e *KernelError) { e.Text, e.PCIAddress = text(e.Text), text(e.PCIAddress) }))
		l.Lines = cleaned(l.Lines, maxKernelErrors)
		m.KernelLog = &l
	}
}

// checkUse refuses what no GPU can be doing.
func (m *Machine) checkUse() error {
	for i, g := range m.GPUs {
		if g.Use == nil {
			continue
		}
		sizes := []*int64{g.Use.MemoryUsed}
		for _, p := range g.Use.Processes {
			sizes = append(sizes, p.Memory)
			if p.PID < 0 {
				return fmt.Errorf("gpus[%d].use.processes: %d is not the number of a process", i, p.PID)
			}
		}
		for _, n := range sizes {
			if n != nil && (*n < 0 || *n > maxMemory) {
				return fmt.Errorf("gpus[%d].use: %d bytes are not in use on any GPU", i, *n)
			}
		}
	}
	return nil
}

// anonymous removes users and commands.
func (u *GPUUse) anonymous() *GPUUse {
	if u == nil {
		return nil
	}
	c := *u
	c.Processes = edited(u.Processes, func(p *Process) { p.User, p.Command = "", "" })
	return &c
}

// SamePCI reports whether two PCI addresses are of one device, however many digits
// their domains have and whether or not they name a function.
func SamePCI(a, b string) bool {
	short := func(s string) string {
		s, _, _ = strings.Cut(strings.ToLower(s), ".")
		domain, rest, ok := strings.Cut(s, ":")
		return say.Either(ok && strings.Contains(rest, ":"), strings.TrimLeft(domain, "0")+":"+rest, ":"+s)
	}
	return a != "" && b != "" && short(a) == short(b)
}
