package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// A State is what is known of one fact.
type State string

// The states. A fact that was not looked at may be anything: no rule takes it for absent.
const (
	Seen    State = "seen"
	Absent  State = "absent"  // looked for, and not there
	Unasked State = "unknown" // not looked at, not said, or not to be read
)

// A Known is one fact, its state, and where it comes from.
type Known struct {
	Fact   string `json:"fact"`
	State  State  `json:"state"`
	Value  string `json:"value,omitempty"`
	Source string `json:"source,omitempty"` // a line of the paste, a file, a call; or why it is unknown
}

// knownFacts are the facts that judging stands on, in the order in which people ask.
func knownFacts(e *evidence.Evidence) []Known {
	out := slices.Concat(knownMachine(e), knownTorch(e))
	if !e.Pasted {
		out = append(out, knownAround(e)...)
	}
	return out
}

// of makes a fact of a value, which is "" where there is none; looked says whether its
// absence was seen.
func of(fact, value string, at read.Evidence, looked bool) Known {
	k := Known{Fact: fact, State: Unasked, Value: value}
	switch {
	case value != "":
		k.State = Seen
	case looked:
		k.State = Absent
	}
	if !at.IsZero() {
		k.Source = at.String()
	}
	return k
}

func knownMachine(e *evidence.Evidence) []Known {
	m := e.Machine
	here := !e.Pasted
	gpus := text.Each(m.GPUs, func(g machine.GPU) string { return g.Name })
	gpu := of("GPU", strings.Join(gpus, ", "), e.From.GPU, here || !e.From.NoGPU.IsZero() || !e.Says.NoGPU.IsZero())
	if len(gpus) > 0 && gpu.Value == "" {
		gpu.State, gpu.Value = Seen, fmt.Sprint(len(gpus))
	}
	driver, module := "", ""
	if d := m.Driver; d != nil {
		driver, module = d.Version.String(), d.LoadedVersion.String()
	}
	visible, set := m.Env["CUDA_VISIBLE_DEVICES"]
	if set && visible == "" {
		visible = `""`
	}
	return []Known{
		of("operating system", m.Platform.OS, e.From.OS, false),
		of("container or host", m.Platform.Environment, e.Place.Container, here),
		gpu,
		of("driver", driver, e.From.Driver, here || !e.From.NoDriver.IsZero()),
		of("kernel module", module, e.From.Module, here && m.Platform.OS == "linux" && m.Platform.Environment != machine.WSL2),
		of("CUDA_VISIBLE_DEVICES", visible, e.From.Env["CUDA_VISIBLE_DEVICES"], here),
		of("LD_LIBRARY_PATH", m.Env["LD_LIBRARY_PATH"], e.From.Env["LD_LIBRARY_PATH"], here),
		of("Python", e.Python().Active(), e.From.Python, here),
	}
}

func knownTorch(e *evidence.Evidence) []Known {
	t := e.Torch
	v, cuda := t.Version, ""
	if v != "" {
		v = t.Named()
	}
	switch {
	case !t.CUDA.IsZero():
		cuda = t.CUDA.MajorMinor()
	case t.HIP != "":
		cuda = "ROCm " + t.HIP
	}
	available := ""
	if t.Available != nil {
		available = map[bool]string{true: "True", false: "False"}[*t.Available]
	}
	a := of("torch.cuda.is_available()", available, t.AvailableAt, false)
	if a.State == Unasked && !e.Pasted {
		a.Source = "asked of Python by `envfix doctor --import`"
	}
	return []Known{of("torch", v, t.VersionAt, !e.Pasted), of("CUDA of torch", cuda, t.CUDAAt, t.NoCUDA), a}
}

// knownAround are the facts that only the machine itself tells.
func knownAround(e *evidence.Evidence) []Known {
	log := Known{Fact: "kernel log", State: Unasked, Source: "no NVIDIA driver is here whose messages it could hold"}
	if l := e.Machine.KernelLog; l != nil {
		log = Known{Fact: "kernel log", State: Unasked, Source: l.Refused}
		switch {
		case l.Source != "" && len(l.Errors) > 0:
			log.State, log.Value, log.Source = Seen, fmt.Sprintf("%d kinds of GPU errors", len(l.Errors)), l.Source
		case l.Source != "":
			log.State, log.Source = Absent, l.Source
		}
	}
	out := []Known{log}
	a := e.Around
	if a == nil || e.Machine.Platform.OS != "linux" {
		return out
	}
	fabric := Known{Fact: "fabric manager", State: Unasked, Source: "another container's processes cannot be seen"}
	switch {
	case a.Switches == 0:
		fabric = Known{Fact: "fabric manager", State: Absent, Source: "no NVSwitch is on the PCI bus: none is needed"}
	case a.Fabric != nil && a.Fabric.Running:
		fabric = Known{Fact: "fabric manager", State: Seen, Value: "runs " + a.Fabric.Package, Source: "/proc"}
	case a.Fabric != nil:
		fabric = Known{Fact: "fabric manager", State: Absent, Source: "/proc"}
	}
	cdi := Known{Fact: "CDI descriptions", State: Absent, Source: "/etc/cdi, /var/run/cdi"}
	files := text.Each(a.CDI, func(s machine.CDISpec) string { return s.File })
	if len(files) > 0 {
		cdi.State, cdi.Value = Seen, strings.Join(files, " ")
	}
	if e.Machine.Platform.Environment == machine.Container {
		cdi.State, cdi.Source = Unasked, "they are on the host"
	}
	shm := Known{Fact: "/dev/shm", State: Unasked}
	if s := a.SharedMem; s != nil {
		shm = Known{Fact: "/dev/shm", State: Seen, Value: fmt.Sprintf("%s, %s free", machine.GiB(s.Size), machine.GiB(s.Free)), Source: "statfs"}
		if s.Fault != "" {
			shm.Value = s.Fault
		}
	}
	return append(out, fabric, cdi, shm, knownPeers(e))
}

// knownPeers: whether GPUs reach each other's memory is asked of NVML, pair by pair.
func knownPeers(e *evidence.Evidence) Known {
	k := Known{Fact: "peer access", State: Unasked, Source: "fewer than two GPUs answer"}
	asked, without := 0, 0
	for _, g := range e.Machine.GPUs {
		if g.Use == nil {
			continue
		}
		asked++
		if len(g.Use.NoPeers) > 0 {
			without++
		}
	}
	switch {
	case asked < 2:
	case without > 0:
		k = Known{Fact: "peer access", State: Absent, Value: fmt.Sprintf("%d of %d GPUs lack it", without, asked), Source: "NVML"}
	default:
		k = Known{Fact: "peer access", State: Seen, Value: "no GPU says that it lacks it", Source: "NVML"}
	}
	return k
}
