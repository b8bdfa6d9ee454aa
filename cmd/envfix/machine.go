package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"envfix/installers"
	"envfix/internal/apply"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/place"
	"envfix/internal/probe"
	"envfix/internal/probe/gpu"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/matrix"
)

// gather returns the machine that a command is about: the facts of a file, or
// else of this machine, with every fact that a flag names in place of the one
// found. The bool says that flags or a file described it, at least in part.
func (f *machineFlags) gather(ctx context.Context) (machine.Machine, bool, error) {
	h, err := f.base(ctx)
	if err != nil {
		return h, f.described(), err
	}
	here := h
	if f.facts != "" && f.mode == carriesOut {
		here = thisMachine(ctx, f.env, false)
	}
	f.remember(here)
	described := f.described()
	if f.facts == "" && f.words.Says() && f.mode == shows && !f.made {
		h.Env = ofTheUser(h.Env)
	}
	if err := f.words.Override(&h); err != nil {
		return h, described, err
	}
	if err := f.assumeDriver(&h); err != nil {
		return h, described, err
	}
	return h, described, wholeDriver(&h)
}

// remember takes the description that the environment was made for, where the command line
// has none: as long as the GPUs that are here are those that were here when it was said.
func (f *machineFlags) remember(h machine.Machine) *machineFlags {
	here := text.Each(h.GPUs, func(g machine.GPU) string { return g.Name })
	dir, _, err := place.Environment(f.env)
	if f.described() || f.fresh || err != nil {
		f.words.Here = here
		return f
	}
	if w := apply.WishOf(dir); w != nil && w.Machine != nil && len(w.Machine.GPUs) > 0 && slices.Equal(w.Machine.Here, here) {
		words := *w.Machine
		words.OS, words.Arch = "", ""                                      // which are those of here, as apply saw to
		if words.Override(&machine.Machine{Platform: h.Platform}) == nil { // else envfix did not write them
			f.words, f.made = words, true
		}
	}
	return f
}

// described reports whether flags or a file describe the machine, at least in part.
func (f machineFlags) described() bool { return f.facts != "" || f.words.Says() }

// assumeDriver gives a machine that is described by its GPUs alone the newest driver that
// they have: without one nothing would run on it, which nobody asks who names a GPU.
func (f machineFlags) assumeDriver(h *machine.Machine) error {
	newest, takes := describe.NewestDriver(matrixFor(), *h)
	if !takes || f.facts != "" || f.mode == examines && !f.made || len(f.words.GPUs) == 0 || f.words.Driver != "" || h.Driver != nil ||
		len(h.NVIDIA()) == 0 || h.Platform.Environment == machine.Jetson {
		return nil
	}
	return describe.Machine{Driver: newest.String()}.Override(h)
}

// ofTheUser are the variables that are the user's wish wherever packages go: their
// index and the way to it. The rest (LD_LIBRARY_PATH, PIP_FIND_LINKS …) says
// something of this machine, not of one that is described.
func ofTheUser(env map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Concat(installers.Network, []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL", "PIP_CERT"}) {
		if v, set := env[name]; set {
			out[name] = v
		}
	}
	return out
}

// wholeDriver makes a driver that was named by its branch alone the release that is
// meant, and says which.
func wholeDriver(h *machine.Machine) error {
	if h.Driver == nil || h.Driver.Version.IsZero() || strings.Contains(h.Driver.Version.String(), ".") {
		return nil
	}
	whole, err := matrixFor().WholeDriver(h.Driver.Version, h.WindowsDriver())
	if err != nil {
		return fail.Wrong(ui.Clean(err.Error()), "write a version as nvidia-smi prints it, such as `--driver 580.95.05`")
	}
	if whole.Compare(h.Driver.Version) != 0 {
		fmt.Fprintf(stderr(), "envfix: driver %s is a branch: its newest release %s is meant\n", h.Driver.Version, whole)
	}
	h.Driver.Version = whole
	return nil
}

// base is the machine before any flag overrides a fact of it.
func (f machineFlags) base(ctx context.Context) (machine.Machine, error) {
	if f.facts == "" {
		o := probeOptions(f.env)
		o.Use, o.Begun = f.use, f.begun
		return probe.Gather(ctx, o), nil
	}
	h, err := readFacts(f.facts)
	describe.Complete(&h)
	return h, err
}

// readFacts reads a file of facts; - is standard input.
func readFacts(name string) (h machine.Machine, err error) {
	in := os.Stdin
	if name == "-" {
		name = "standard input"
	} else if in, err = system.OpenInput(name); err == nil {
		defer in.Close()
	}
	if err == nil {
		h, err = machine.Read(in)
	}
	if err != nil {
		return h, fail.Because(err, fail.Usage, fmt.Sprintf("facts of %s: %s", ui.Clean(name), fail.Reason(err)),
			"`envfix facts --json > facts.json` on the machine writes such a file")
	}
	return h, nil
}

// thisMachine reads the facts of this machine, or of the one below ENVFIX_ROOT,
// for the environment in a directory. Any other than .venv was named by somebody,
// and then an activated environment does not stand in for it. use: who uses its
// GPUs is a fact too, on which no plan stands.
func thisMachine(ctx context.Context, env string, use bool) machine.Machine {
	o := probeOptions(env)
	o.Use = use
	return probe.Gather(ctx, o)
}

// standing is the environment that a name stands for; on a login node apply makes none
// before its target is named.
func standing(ctx context.Context, name string) (dir, bin string, err error) {
	dir, bin, err = place.Environment(name)
	if missing, ok := err.(*fail.Error); ok && thisMachine(ctx, name, false).Platform.Environment == machine.HPCLogin {
		missing.Hints = []string{"this is a login node: `envfix apply --gpu NAME` makes it for the nodes that have that GPU"}
	}
	return dir, bin, err
}

// probeOptions say where to look for this machine and an environment.
func probeOptions(env string) probe.Options {
	env = cmp.Or(env, ".venv")
	o := probe.Options{
		Root: os.Getenv("ENVFIX_ROOT"), Env: os.Environ(),
		Venv: env, Named: filepath.Clean(env) != ".venv",
	}
	if o.Root == "" {
		o.Dir, _ = os.Getwd()
	}
	o.NVML = os.Getenv("ENVFIX_NVML")
	o.Self, _ = os.Executable()
	o.Limit = probeLimit()
	o.Device, o.ByName = deviceLookups()
	return o
}

// probeLimit is how long other programs may take that a machine is asked by; 0: as
// long as each usually may. ENVFIX_PROBE_LIMIT sets it, for tests: for what hangs
// nobody wants to wait, and a busy machine must not look like a driver that hangs.
func probeLimit() time.Duration {
	d, _ := time.ParseDuration(os.Getenv("ENVFIX_PROBE_LIMIT"))
	return max(d, 0)
}

// deviceLookups ask the device table by id and by name. It is read when the
// first question comes, which is never where a driver answers everything.
func deviceLookups() (byID func(gpu.PCI) (gpu.Device, bool), byName func(string) (gpu.Device, bool)) {
	table := sync.OnceValue(matrix.Devices)
	byID = func(p gpu.PCI) (gpu.Device, bool) {
		d, ok := table().LookupPCI(p.Vendor+":"+p.Device, p.SubVendor+":"+p.SubDevice)
		return known(d), ok
	}
	byName = func(name string) (d gpu.Device, ok bool) {
		if found := table().LookupName(name); len(found) == 1 {
			return known(found[0]), true
		}
		return d, false
	}
	return byID, byName
}

func known(d matrix.Device) gpu.Device {
	return gpu.Device{Name: d.Name, SM: d.SM, GFX: d.GFX, Integrated: describe.Integrated(d)}
}

// alone marks the context of a process that runs one command: it may confine itself.
type alone struct{}

func aloneIn(ctx context.Context) context.Context { return context.WithValue(ctx, alone{}, true) }

// looks begins to look at this machine, as far as that needs rights, and confines the
// process before anything of a project is read: NVIDIA's library may start nvidia-modprobe,
// and who uses a GPU is read of processes that a confined one does not see.
func (f *machineFlags) looks(ctx context.Context) {
	if ctx.Value(alone{}) == nil {
		return
	}
	if f.facts == "" {
		o := probeOptions("")
		o.Use = f.mode == examines
		f.begun = probe.Begin(ctx, o)
	}
	_ = confine(ctx) // without it the answers are the same
}

// confine keeps a command that reads as [system.ConfineReading] does, where it is alone.
func confine(ctx context.Context) error {
	if ctx.Value(alone{}) == nil {
		return nil
	}
	return system.ConfineReading()
}
