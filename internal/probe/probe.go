// Package probe gathers the facts about this machine: GPUs, driver, platform,
// toolkits, Pythons, installed packages, tools and environment variables.
//
// It only reads. It starts three programs at most: envfix itself, as the child
// that loads NVIDIA's library (a broken library may end or stall the child but
// never envfix), nvidia-smi where everything else was silent, and journalctl where
// doctor asks for the kernel's log and may read it nowhere else. It never
// starts Python, a package manager or a shell. What cannot be read is unknown,
// and a note says why; nothing here is an error.
//
// Everything is read below a root directory, so that a tree of files can stand
// for a machine: a fixture of a test, or a disk image that is mounted somewhere.
package probe

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"envfix/internal/machine"
)

const (
	goos   = runtime.GOOS
	goarch = runtime.GOARCH
)

// Limit is how long a program that the probe starts may take.
const Limit = 2 * time.Second

// Options say where to look. The zero Options look at this machine with no
// environment variables and start no program but nvidia-smi.
type Options struct {
	Root string   // the directory that stands for /; "" the machine itself
	OS   string   // as machine.Platform.OS; "" the one this binary is built for
	Env  []string // NAME=value
	Dir  string   // the project's absolute directory; "" no project
	Venv string   // its environment, absolute or relative to Dir; "" none

	Named bool // the user named Venv: no other environment counts
	Use   bool // also ask what uses the GPUs, and what the kernel's log says of them

	Python  string // the interpreter that counts where there is no environment; "" the first on PATH
	Cgroups string // the text of the control groups that count; "" this process's own

	Begun *Look // what was begun before; nil: all is looked at now

	Self   string                      // envfix's own program, whose command __nvml loads NVIDIA's library; "" do not ask it
	NVML   string                      // ENVFIX_NVML: the library's path, or off
	SMI    string                      // nvidia-smi; "" the place where drivers put it
	Limit  time.Duration               // for each program that is started; 0: Limit
	Device func(PCI) (Device, bool)    // the device table by id; nil knows nothing
	ByName func(string) (Device, bool) // the device table by name; nil knows nothing
}

func (o Options) limit() time.Duration {
	return cmp.Or(o.Limit, Limit)
}

// A Look is a machine whose GPUs are being looked at.
type Look struct {
	of, on   *host // the second for the GPUs
	platform machine.Platform
	gpus     []machine.GPU
	driver   *machine.Driver
	started  chan struct{} // closed when the program was started that loads NVIDIA's library, or none is
	wait     sync.WaitGroup
}

// Begin begins with what needs other rights than reading files does: it returns when the
// program was started that loads NVIDIA's library, or none is needed; with Use when the
// processes that use a GPU were seen.
func Begin(ctx context.Context, o Options) *Look {
	l := begin(ctx, o)
	if <-l.started; o.Use {
		l.wait.Wait()
	}
	return l
}

func begin(ctx context.Context, o Options) *Look {
	l := &Look{of: newHost(o), started: make(chan struct{})}
	l.platform = l.of.platform()
	l.on = l.of.apart()
	l.on.started = sync.OnceFunc(func() { close(l.started) })
	l.wait.Go(func() {
		l.gpus, l.driver = l.on.gpus(ctx, o, l.platform)
		l.on.started()
	})
	return l
}

// Gather reads everything. It returns within the limit and a little more,
// whatever hangs.
func Gather(ctx context.Context, o Options) machine.Machine {
	l := o.Begun
	if l == nil {
		l = begin(ctx, o) // GPUs wait for another process; everything else is read meanwhile
	}
	own := *l.of
	h := &own
	h.notes = slices.Clone(h.notes)
	m := machine.Machine{Format: machine.Format, Platform: l.platform}
	m.Privilege = h.privilege()
	m.Toolkits = h.toolkits()
	m.Tools = h.tools()
	m.Env = h.environ()
	m.LibraryDirs = h.loaderPath()
	if o.Use && h.os == "linux" && h.hasNVIDIA() {
		m.KernelLog = h.kernelLog(ctx, o.limit(), m.Platform)
	}
	env := h.pythons(o)
	m.Pythons, m.Installed = env.pythons, env.installed
	l.wait.Wait()
	m.GPUs, m.Driver = slices.Clone(l.gpus), l.driver
	if m.KernelLog != nil {
		m.KernelLog.Lines = aboutUnusable(m.KernelLog.Lines, m.GPUs)
	}
	m.Notes = append(h.notes, l.on.notes...)
	if e := m.Platform.Environment; (e == machine.Bare || e == machine.Container) && h.loginNode(m) {
		m.Platform.Environment = machine.HPCLogin
	}
	return machine.Normal(m)
}

// gpus lists the GPUs of every vendor and NVIDIA's driver.
func (h *host) gpus(ctx context.Context, o Options, p machine.Platform) ([]machine.GPU, *machine.Driver) {
	if h.os == "macos" {
		return h.appleGPUs(), nil
	}
	environment := p.Environment
	bus := h.busGPUs()
	n := h.nvidia(ctx, o, environment, bus)
	driver := h.driver(n, environment)
	if driver != nil && driver.NotLoaded && environment == machine.Bare {
		h.whyNotLoaded(p)
	}
	out := h.nvidiaGPUs(n, driver, o)
	if environment == machine.Jetson {
		out = h.jetson(out)
	}
	h.sharedMemory(out)
	out = append(out, h.amdGPUs(bus, o)...)
	out = append(out, h.intelGPUs(bus, o)...)
	if environment == machine.WSL2 && len(out) == 0 {
		out = append(out, h.wslForeign()...)
	}
	if h.os == "windows" {
		out = append(out, h.windowsGPUs(out, o)...)
	}
	h.nameUnknown(out)
	targets(out, o)
	for i := range out {
		out[i].Index = i
	}
	return out, driver
}

// loginNode reports whether this is a cluster's login node, which may be a container: a
// scheduler's commands or where its configuration lies, no GPU, and no job around us.
// Sources: slurm.schedmd.com, SLURM_CONF; IBM's documentation of LSF, LSF_ENVDIR.
func (h *host) loginNode(m machine.Machine) bool {
	for _, g := range m.GPUs {
		if !g.Integrated {
			return false
		}
	}
	for _, job := range []string{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID"} {
		if h.env[job] != "" {
			return false
		}
	}
	if h.env["SLURM_CONF"]+h.env["LSF_ENVDIR"]+h.env["PBS_CONF_FILE"] != "" {
		return true
	}
	for _, t := range m.Tools {
		switch t.Name {
		case "sbatch", "qsub", "bsub", "flux":
			return true
		}
	}
	return false
}
