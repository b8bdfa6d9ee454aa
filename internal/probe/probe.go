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
	"context"
	"slices"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/probe/gpu"
	"envfix/internal/probe/libraries"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/tools"
	"envfix/internal/probe/variables"
)

// Options say where to look. The zero Options look at this machine with no
// environment variables and start no program but nvidia-smi.
type Options struct {
	Root string   // the directory that stands for /; "" the machine itself
	OS   string   // as machine.Platform.OS; "" the one this binary is built for
	Env  []string // NAME=value
	Dir  string   // the project's absolute directory; "" no project
	Venv string   // its environment, absolute or relative to Dir; "" none

	Named bool // the user named Venv: no other environment counts
	Whole bool // its files are read whole, for their hashes: seconds

	Python  string // the interpreter that counts where there is no environment; "" the first on PATH
	Cgroups string // the text of the control groups that count; "" this process's own

	Begun *Look // what was begun before; nil: all is looked at now

	gpu.Options
}

// host is the machine that they name.
func (o Options) host() *sysroot.Host {
	return sysroot.New(sysroot.Options{Root: o.Root, OS: o.OS, Env: o.Env, Dir: o.Dir, Cgroups: o.Cgroups, Whole: o.Whole})
}

func (o Options) choice() python.Choice {
	return python.Choice{Dir: o.Dir, Venv: o.Venv, Named: o.Named, Python: o.Python}
}

// A Look is a machine whose GPUs are being looked at.
type Look struct {
	of, on   *sysroot.Host // the second for the GPUs
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
	l := &Look{of: o.host(), started: make(chan struct{})}
	l.platform = platform.Read(l.of)
	l.on = l.of.Apart()
	l.on.Started = sync.OnceFunc(func() { close(l.started) })
	l.wait.Go(func() {
		l.gpus, l.driver = gpu.List(ctx, l.on, o.Options, l.platform)
		l.on.Started()
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
	h.Notes = slices.Clone(h.Notes)
	m := machine.Machine{Format: machine.Format, Platform: l.platform}
	on := tools.OnPath(h)
	m.Privilege = tools.Privilege(h, on)
	m.Toolkits = tools.Toolkits(h, on)
	m.Tools = tools.Find(h, on)
	m.Env = variables.Environ(h)
	m.LibraryDirs = libraries.Path(h)
	if o.Use && h.OS == "linux" && gpu.HasNVIDIA(h) {
		m.KernelLog = gpu.KernelLog(ctx, h, o.Options, m.Platform)
	}
	env := python.Find(h, o.choice())
	m.Pythons, m.Installed = env.Pythons, env.Installed
	l.wait.Wait()
	m.GPUs, m.Driver = slices.Clone(l.gpus), l.driver
	if m.KernelLog != nil {
		m.KernelLog.Lines = gpu.AboutUnusable(m.KernelLog.Lines, m.GPUs)
	}
	m.Notes = append(h.Notes, l.on.Notes...)
	if e := m.Platform.Environment; (e == machine.Bare || e == machine.Container) && loginNode(h, m) {
		m.Platform.Environment = machine.HPCLogin
	}
	return machine.Normal(m)
}

// loginNode reports whether this is a cluster's login node, which may be a container: a
// scheduler's commands or where its configuration lies, no GPU, and no job around us.
// Sources: slurm.schedmd.com, SLURM_CONF; IBM's documentation of LSF, LSF_ENVDIR.
func loginNode(h *sysroot.Host, m machine.Machine) bool {
	jobs, commands := []string{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID"}, []string{"sbatch", "qsub", "bsub", "flux"}
	if slices.ContainsFunc(m.GPUs, func(g machine.GPU) bool { return !g.Integrated }) ||
		slices.ContainsFunc(jobs, func(job string) bool { return h.Env[job] != "" }) {
		return false
	}
	return h.Env["SLURM_CONF"]+h.Env["LSF_ENVDIR"]+h.Env["PBS_CONF_FILE"] != "" ||
		slices.ContainsFunc(m.Tools, func(t machine.Tool) bool { return slices.Contains(commands, t.Name) })
}

// Around reads what stands around the GPUs. It starts nothing.
func Around(o Options) *machine.Around {
	h := o.host()
	kernels := python.Kernels(h)
	if h.OS != "linux" {
		return &machine.Around{Kernels: kernels}
	}
	a := &machine.Around{Kernels: kernels, Switches: gpu.Switches(h), SharedMem: platform.SharedMem(h)}
	platform.Limits(h, a)
	a.Nodes, a.Networks = gpu.Nodes(h), h.Names("/sys/class/net")
	if !platform.InContainer(h) {
		if a.Switches > 0 {
			a.Fabric = gpu.Fabric(h)
		}
		a.CDI = gpu.CDI(h)
	}
	return a
}
