package doctor

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/use"
	"envfix/internal/machine"
)

const giga = 1 << 30

// working is a GPU on which a job runs as it should: 30 of 80 GiB, at its power
// limit and full clock.
func working(index int) machine.GPU {
	return machine.GPU{Index: index, Vendor: machine.NVIDIA, Name: "NVIDIA H100 80GB HBM3", SM: machine.SM{Major: 9}, Visible: true,
		PCIAddress: []string{"0000:3b:00.0", "0000:5e:00.0"}[index], MemoryBytes: 80 * giga,
		Use: &machine.GPUUse{MemoryUsed: new(int64(30 * giga)), ComputeMode: "default", Persistence: new(true), Display: new(false),
			Processes: []machine.Process{{
				PID: 4242, Kind: "compute", Memory: new(int64(29 * giga)), User: "anna", Name: "python3",
				Command: "python3 train.py",
			}},
			ECC: &machine.ECC{
				Enabled: true, Volatile: new(int64(0)), Aggregate: new(int64(0)),
			}, Remapped: &machine.Remapped{}, Throttle: []string{machine.ThrottlePowerCap},
			Utilization: new(97), Temperature: new(64), Clock: new(1900), MaxClock: new(1980), PowerLimit: new(700), PowerNormal: new(700)}}
}

func logged(number int, text string) func(*machine.Machine) {
	return func(m *machine.Machine) {
		m.KernelLog.Errors = []machine.KernelError{{
			PCIAddress: "0000:3b:00", Number: number, Count: 1, AgeSeconds: new(int64(600)), Text: text,
		}}
	}
}

// uses are ways in which a GPU is taken, set up or ill: what is found, how bad it is
// and a part of its text; and the nearest machine that is well.
var uses = []struct {
	name, check string
	severity    know.Severity
	text        string
	sick, well  func(*machine.Machine)
}{
	{"full", "ACC010", know.Warning, "GPU 0 (NVIDIA H100 80GB HBM3) is full: python3 train.py (PID 4242 of anna) holds 78.0 GiB",
		func(m *machine.Machine) {
			*m.GPUs[0].Use.MemoryUsed, *m.GPUs[0].Use.Processes[0].Memory = 79*giga, 78*giga
		},
		func(m *machine.Machine) {
			*m.GPUs[0].Use.MemoryUsed, *m.GPUs[0].Use.Processes[0].Memory = 60*giga, 59*giga
		}},
	{"full in a container", "ACC010", know.Warning, "3 processes hold 21.0 GiB; this container cannot see which",
		func(m *machine.Machine) {
			m.Platform.Environment, m.GPUs[0].MemoryBytes, *m.GPUs[0].Use.MemoryUsed = machine.Container, 22*giga, 21*giga
			hidden := machine.Process{
				PID: 1, Kind: "compute", Memory: new(int64(7 * giga)), Unseen: machine.UnseenNamespace,
			}
			m.GPUs[0].Use.Processes = []machine.Process{hidden, hidden, hidden}
		},
		func(m *machine.Machine) { // what the others hold leaves room
			m.Platform.Environment, m.GPUs[0].Use.Processes = machine.Container, []machine.Process{}
		}},
	{"full, and the list is not supported", "ACC010", know.Warning, "by whom could not be read (this GPU does not tell)",
		func(m *machine.Machine) {
			u := m.GPUs[0].Use
			*u.MemoryUsed, u.Processes, u.Unread = 79*giga, nil, map[string]string{"processes": "this GPU does not tell"}
		},
		func(m *machine.Machine) { m.GPUs[0].Use.MemoryUsed = nil }},
	{"the other GPU is full", "ACC010", know.Note, "GPU 1 (NVIDIA H100 80GB HBM3) is full",
		func(m *machine.Machine) {
			m.GPUs = append(m.GPUs, working(1))
			*m.GPUs[1].Use.MemoryUsed = 79 * giga
		},
		func(m *machine.Machine) { m.GPUs = append(m.GPUs, working(1)) }},
	{"a desktop fills it", "PERF016", know.Note, "Xorg (PID 900) holds 79.0 GiB",
		func(m *machine.Machine) {
			*m.GPUs[0].Use.MemoryUsed = 79 * giga
			m.GPUs[0].Use.Processes = []machine.Process{{
				PID: 900, Kind: "graphics", Command: "Xorg", Memory: new(int64(79 * giga)),
			}}
		},
		func(m *machine.Machine) { m.GPUs[0].Use.Processes[0].Kind = "graphics" }},
	{"nobody's memory", "ACC010", know.Warning, "30.0 GiB of GPU 0 (NVIDIA H100 80GB HBM3) are in use by no process that the driver lists",
		func(m *machine.Machine) { m.GPUs[0].Use.Processes = []machine.Process{} },
		func(m *machine.Machine) { m.GPUs[0].Use.Processes[0].Memory = nil }}, // WSL and MIG do not tell
	{"exclusive and taken", "ACC004", know.Error, "admits one process at a time (exclusive process), and has it: python3 train.py",
		func(m *machine.Machine) { m.GPUs[0].Use.ComputeMode = "exclusive_process" },
		func(m *machine.Machine) { // MPS is one process that serves many
			m.GPUs[0].Use.ComputeMode, m.GPUs[0].Use.Processes[0].Name = "exclusive_process", "nvidia-cuda-mps"
		}},
	{"exclusive in a container that sees no process", "ACC004", know.Error, "and has it: a process that cannot be seen from here",
		func(m *machine.Machine) {
			m.Platform.Environment, m.GPUs[0].Use.ComputeMode, m.GPUs[0].Use.Processes = machine.Container, "exclusive_process", []machine.Process{}
		},
		func(m *machine.Machine) {
			m.Platform.Environment, m.GPUs[0].Use.ComputeMode, m.GPUs[0].Use.Processes = machine.Container, "exclusive_process", []machine.Process{}
			*m.GPUs[0].Use.MemoryUsed = 600 << 20 // what the driver itself holds
		}},
	{"prohibited", "ACC005", know.Error, "compute mode prohibited",
		func(m *machine.Machine) { m.GPUs[0].Use.ComputeMode, m.GPUs[0].Use.Processes = "prohibited", nil },
		func(m *machine.Machine) { // exclusive and free
			m.GPUs[0].Use.ComputeMode, m.GPUs[0].Use.Processes = "exclusive_process", []machine.Process{}
			*m.GPUs[0].Use.MemoryUsed = 0
		}},
	{"MIG without instances", "ACC006", know.Error, "is in MIG mode and has no instance",
		func(m *machine.Machine) { m.GPUs[0].MIGMode, m.GPUs[0].Visible = true, false },
		func(m *machine.Machine) { m.GPUs[0].MIG = "1g.10gb" }},
	{"lost", "HW002", know.Error, "at 0000:3b:00.0 has fallen off the bus",
		func(m *machine.Machine) {
			m.GPUs[0].Fault, m.GPUs[0].Visible, m.GPUs[0].Use = machine.FaultLost, false, nil
		}, nil},
	{"to be reset", "HW009", know.Error, "must be reset",
		func(m *machine.Machine) {
			m.GPUs[0].Fault, m.GPUs[0].Visible, m.GPUs[0].Use = machine.FaultReset, false, nil
		}, nil},
	{"not reached", "DRV014", know.Error, "does not reach",
		func(m *machine.Machine) {
			m.GPUs[0].Fault, m.GPUs[0].Visible, m.GPUs[0].Use = machine.FaultUnknown, false, nil
		}, nil},
	{"memory errors", "HW003", know.Error, "had 2 uncorrectable memory errors since the driver was loaded",
		func(m *machine.Machine) { *m.GPUs[0].Use.ECC.Volatile = 2 },
		func(m *machine.Machine) { m.GPUs[0].Use.ECC = &machine.ECC{} }},
	{"memory errors of long ago", "HW003", know.Note, "2 uncorrectable memory errors in its life",
		func(m *machine.Machine) { *m.GPUs[0].Use.ECC.Aggregate = 2 }, nil},
	{"a row is pending", "HW004", know.Error, "will be exchanged when it is reset",
		func(m *machine.Machine) { m.GPUs[0].Use.Remapped.Pending = true },
		func(m *machine.Machine) { m.GPUs[0].Use.Remapped.Uncorrectable = 1 }}, // exchanged: done
	{"a page is pending", "HW004", know.Error, "will be exchanged when it is reset",
		func(m *machine.Machine) { m.GPUs[0].Use.Remapped, m.GPUs[0].Use.Retiring = nil, new(true) },
		func(m *machine.Machine) { m.GPUs[0].Use.Retiring = new(false) }},
	{"a row failed", "HW004", know.Error, "has to be replaced",
		func(m *machine.Machine) { m.GPUs[0].Use.Remapped.Failed = true }, nil},
	{"too hot", "PERF005", know.Error, "too hot",
		func(m *machine.Machine) { m.GPUs[0].Use.Throttle = []string{machine.ThrottleHWHeat} },
		func(m *machine.Machine) { *m.GPUs[0].Use.Temperature = 84 }},
	{"hot", "PERF005", know.Warning, "lowers its clock",
		func(m *machine.Machine) {
			m.GPUs[0].Use.Throttle, *m.GPUs[0].Use.Clock = []string{machine.ThrottleHeat}, 1200
		},
		func(m *machine.Machine) { m.GPUs[0].Use.Throttle = []string{machine.ThrottleHeat} }}, // at full clock it costs nothing
	{"power brake", "PERF006", know.Warning, "power supply",
		func(m *machine.Machine) { m.GPUs[0].Use.Throttle = []string{machine.ThrottlePowerBrake} },
		func(m *machine.Machine) { // idle
			m.GPUs[0].Use.Throttle, *m.GPUs[0].Use.Utilization = []string{machine.ThrottlePowerBrake}, 0
		}},
	{"a lowered limit", "PERF006", know.Warning, "was lowered to 400 W",
		func(m *machine.Machine) { *m.GPUs[0].Use.PowerLimit = 400 },
		func(m *machine.Machine) { m.GPUs[0].Use.Throttle, *m.GPUs[0].Use.PowerLimit = []string{}, 400 }}, // it never meets it
	{"the limit takes the clock", "PERF006", know.Warning, "a third of the clock",
		func(m *machine.Machine) { *m.GPUs[0].Use.Clock = 1200 }, nil},
	{"persistence", "DRV016", know.Note, "persistence mode is off",
		func(m *machine.Machine) {
			u := m.GPUs[0].Use
			*u.Persistence, u.Processes, *u.MemoryUsed = false, []machine.Process{}, 0
		},
		func(m *machine.Machine) { // a desktop
			u := m.GPUs[0].Use
			*u.Persistence, *u.Display, u.Processes, *u.MemoryUsed = false, true, []machine.Process{}, 0
		}},
	{
		"off the bus, says the kernel", "HW002", know.Error,
		"Xid 79 of GPU 0 (NVIDIA H100 80GB HBM3), 10 minutes ago: the GPU has fallen off the bus",
		logged(79, "GPU has fallen off the bus."), nil,
	},
	{"long ago", "HW002", know.Warning, "3 days ago", func(m *machine.Machine) {
		logged(79, "GPU has fallen off the bus.")(m)
		*m.KernelLog.Errors[0].AgeSeconds = 3 * 24 * 3600
	}, nil},
	{
		"a double-bit error", "HW003", know.Error, "double-bit ECC", logged(48, "DBE"),
		logged(14, "a code that says nothing"),
	},
	{"remapping failed", "HW004", know.Error, "failed", logged(64, "Row Remapper"), logged(63, "a row was remapped")},
	{"no power cable", "HW006", know.Error, "power cable", logged(54, ""), nil},
	{"recovery", "HW009", know.Error, "recovery", logged(
		154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
	),
		logged(154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)")},
	{"no initialisation", "KMD008", know.Error, "initialised", logged(143, ""), nil},
	{
		"GSP", "KMD010", know.Error, "GSP",
		logged(119, "Timeout after 6s of waiting for RPC response from GPU0 GSP!"), nil,
	},
	{
		"a program's own fault", "KMD011", know.Note, "a page fault",
		logged(31, "pid=2512125, name=python3.10, Ch 00000008"), nil,
	},
	{"NVLink", "KMD012", know.Error, "NVLink", logged(74, ""), logged(93, "")},
	{"an NVSwitch", "KMD013", know.Error, "SXid 20034", func(m *machine.Machine) {
		logged(20034, "Fatal, Link 30 LTSSM Fault Up")(m)
		m.KernelLog.Errors[0].Switch = true
	}, func(m *machine.Machine) {
		logged(20034, "Non-fatal, Link 30 LTSSM Fault Up")(m)
		m.KernelLog.Errors[0].Switch = true
	}},
}

// TestUse: every rule of useRules finds its sick machine, and the machine that is
// nearly the same and well has no finding of severity warning or error.
func TestUse(t *testing.T) {
	examineUse := func(change func(*machine.Machine)) []Finding {
		c := patientWith(t, nil)
		c.Machine.GPUs, c.Machine.KernelLog = []machine.GPU{working(0)}, &machine.KernelLog{Source: "/dev/kmsg"}
		if change != nil {
			change(&c.Machine)
		}
		return Examine(know.Embedded(), c).Findings
	}
	for _, f := range examineUse(nil) {
		t.Errorf("a working GPU: %s %s", f.Check, f.Text)
	}
	named := map[string]bool{}
	for _, u := range uses {
		i := slices.IndexFunc(examineUse(u.sick), func(f Finding) bool {
			return f.Check == u.check &&
				strings.Contains(f.Text, u.text)
		})
		if i < 0 {
			t.Errorf("%s: %+v", u.name, examineUse(u.sick))
			continue
		}
		if f := examineUse(u.sick)[i]; f.Severity != u.severity || len(f.Fix) == 0 || len(f.Evidence) == 0 {
			t.Errorf("%s: %s %q %q", u.name, f.Severity, f.Fix, f.Evidence)
		}
		named[u.check] = true
		for _, f := range examineUse(u.well) {
			if f.Severity > know.Note {
				t.Errorf("%s, well: %s %s %s", u.name, f.Severity, f.Check, f.Text)
			}
		}
	}
	elsewhere := []string{"MG001", "MG002", "MG003", "MG004", "MG005", "PY034", "DRV022", "ACC020"} // TestAround, TestRunning
	for _, r := range use.Rules {
		for _, id := range r.Checks {
			if !named[id] && !slices.Contains(elsewhere, id) {
				t.Errorf("no sick machine for %s", id)
			}
		}
	}
}

// The numbers of Xids have a check, and those that are worth knowing are there.
func TestXids(t *testing.T) {
	for _, n := range []int{13, 31, 43, 45, 48, 63, 64, 74, 79, 94, 95, 119, 120, 140, 154} {
		if know.Embedded().Xids[n] == nil {
			t.Errorf("no Xid %d", n)
		}
	}
}

// In a paste too, the number is put into words.
func TestPastedXid(t *testing.T) {
	r, _ := examine(t, "NVRM: Xid (PCI:0000:41:00): 95, pid=2512, Uncontained: SRAM")
	if len(r.Findings) == 0 || r.Findings[0].Check != "KMD012" ||
		!strings.Contains(r.Findings[0].Text, "Xid 95: an uncorrectable memory error that may have hit every program") {
		t.Errorf("%+v", r.Findings)
	}
}

// nvidia-smi's table has a column for uncorrectable errors.
func TestPastedECC(t *testing.T) {
	const row = "|   0  NVIDIA A100-SXM4-40GB          On  |   00000000:07:00.0 Off |                    "
	r, _ := examine(t, row+"3 |")
	if len(r.Findings) == 0 || r.Findings[0].Check != "HW003" ||
		!strings.Contains(r.Findings[0].Text, "had 3 uncorrectable memory errors") {
		t.Errorf("%+v", r.Findings)
	}
	for _, well := range []string{"0 |", "N/A |", "Off |"} {
		if r, _ := examine(t, row+well); len(r.Findings) > 0 {
			t.Errorf("%s: %+v", well, r.Findings)
		}
	}
}
