package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

// describeFlags are the flags that describe a machine, whole or in part, instead
// of this one.
func describeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "facts", Usage: "the machine in `FILE`, which `envfix facts --json` wrote there; - reads standard input"},
		&cli.StringSliceFlag{Name: "gpu", Usage: "this `GPU`: a name (\"RTX 5090\"), 9.0, sm_90 or gfx1100; repeat it for several"},
		&cli.StringFlag{Name: "driver", Usage: "this `VERSION` of the NVIDIA driver, or none"},
		&cli.StringFlag{Name: "os", Usage: "this `SYSTEM`: linux, windows, macos or wsl2"},
		&cli.StringFlag{Name: "arch", Usage: "this `ARCH`: x86_64, aarch64 or arm64"},
		&cli.StringFlag{Name: "libc", Usage: "this C `LIBRARY`: glibc-2.28 or musl-1.2"},
	}
}

// gatherMachine returns the machine that a command is about: the facts of a
// file, or else of this machine, with every fact that a flag names in place of
// the one found. The bool says that flags or a file described it, at least in
// part.
func gatherMachine(c *cli.Context) (machine.Machine, bool, error) {
	h, described, err := baseMachine(c)
	if err != nil {
		return h, described, err
	}
	for _, override := range []func(*cli.Context, *machine.Machine) (bool, error){overrideOS, overrideArch, overrideLibc, overrideGPUs, overrideDriver} {
		used, err := override(c, &h)
		if err != nil {
			return h, true, err
		}
		described = described || used
	}
	return h, described, nil
}

// baseMachine is the machine before any flag overrides a fact of it.
func baseMachine(c *cli.Context) (machine.Machine, bool, error) {
	path := c.String("facts")
	if !c.IsSet("facts") {
		return thisMachine(c), false, nil
	}
	in, name := os.Stdin, "standard input"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return machine.Machine{}, true, badFacts(path, err)
		}
		defer f.Close()
		in, name = f, path
	}
	h, err := machine.Read(in)
	if err != nil {
		return h, true, badFacts(name, err)
	}
	return h, true, completeGPUs(&h)
}

func badFacts(name string, err error) error {
	return &failure{code: exitUsage, err: err, text: fmt.Sprintf("facts of %s: %s", ui.Clean(name), reason(err)),
		hints: []string{"`envfix facts --json > facts.json` on the machine writes such a file"}}
}

// overrideOS changes the system. What belongs to the other system (programs,
// paths, the C library, and GPUs that are not named) goes with it.
func overrideOS(c *cli.Context, h *machine.Machine) (bool, error) {
	if !c.IsSet("os") {
		return false, nil
	}
	os, _ := machine.NormalPlatform(strings.TrimSpace(c.String("os")), "")
	environment := machine.Bare
	switch os {
	case "wsl", "wsl2":
		os, environment = "linux", machine.WSL2
	case "linux", "windows", "macos":
	default:
		return false, badValue("os", c.String("os"), "systems are linux, windows, macos and wsl2")
	}
	if os == h.Platform.OS {
		if environment == machine.WSL2 || h.Platform.Environment == machine.WSL2 {
			h.Platform.Environment = environment
		}
		return true, nil
	}
	elsewhere(h, os, environment)
	return true, nil
}

// elsewhere moves the machine to another system, and keeps of it what could be
// there too.
func elsewhere(h *machine.Machine, os, environment string) {
	_, arch := machine.NormalPlatform(os, h.Platform.Arch)
	if os == "macos" {
		arch = "arm64" // the only Macs that PyTorch still builds for; --arch overrides it
	}
	*h = machine.Machine{Format: machine.Format, Platform: machine.Platform{OS: os, Arch: arch, Environment: environment},
		Pythons: versionsOnly(h.Pythons), Privilege: "sudo"}
	if os == "linux" {
		h.Platform.Libc = &machine.Libc{Kind: "glibc"}
	}
	if os == "macos" {
		h.GPUs = []machine.GPU{appleGPU("Apple GPU")}
	}
}

// versionsOnly keeps which Pythons there are, not where: the paths are another
// system's.
func versionsOnly(pythons []machine.Python) []machine.Python {
	out := slices.Clone(pythons)
	for i := range out {
		out[i].Path, out[i].ExternallyManaged = "", false
	}
	return out
}

func overrideArch(c *cli.Context, h *machine.Machine) (bool, error) {
	if !c.IsSet("arch") {
		return false, nil
	}
	_, arch := machine.NormalPlatform(h.Platform.OS, strings.TrimSpace(c.String("arch")))
	if !slices.Contains([]string{"x86_64", "aarch64", "arm64"}, arch) {
		return false, badValue("arch", c.String("arch"), "architectures are x86_64, aarch64 (Linux) and arm64 (macOS, Windows)")
	}
	h.Platform.Arch = arch
	return true, nil
}

func overrideLibc(c *cli.Context, h *machine.Machine) (bool, error) {
	if !c.IsSet("libc") {
		return false, nil
	}
	l, err := machine.ParseLibc(c.String("libc"))
	if err != nil {
		return false, badValue("libc", c.String("libc"), "write `--libc glibc-2.28` or `--libc musl-1.2`")
	}
	if h.Platform.OS != "linux" {
		return false, &failure{code: exitUsage, text: "`--libc` is for Linux, not for " + h.Platform.OS, hints: []string{"add `--os linux`, or drop `--libc`"}}
	}
	h.Platform.Libc = &l
	return true, nil
}

// overrideGPUs replaces the list of GPUs. The machine then is not this host, so
// that this host is a container or an image build says nothing about it.
func overrideGPUs(c *cli.Context, h *machine.Machine) (bool, error) {
	if !c.IsSet("gpu") {
		return false, nil
	}
	h.GPUs = nil
	for _, text := range c.StringSlice("gpu") {
		d, err := describe(strings.TrimSpace(text))
		if err != nil {
			return false, err
		}
		housing(c, h, d)
		g := d.GPU
		g.Index, g.Evidence = len(h.GPUs), machine.FromFlag
		g.Visible = g.Vendor != machine.NVIDIA || h.Driver != nil || h.Platform.Environment == machine.Jetson
		h.GPUs = append(h.GPUs, g)
	}
	leaveContainer(c, h)
	return true, nil
}

// housing gives a GPU that exists in one kind of machine only that machine:
// Apple's in Macs, a Jetson's in Jetsons, Grace's beside an Arm processor.
func housing(c *cli.Context, h *machine.Machine, d described) {
	switch {
	case d.Vendor == machine.Apple && !c.IsSet("os"):
		elsewhere(h, "macos", machine.Bare)
		h.GPUs = nil
	case d.Line == "jetson" && !c.IsSet("os"):
		if h.Platform.OS != "linux" {
			elsewhere(h, "linux", machine.Jetson)
		}
		h.Platform.Environment = machine.Jetson
	}
	arm := d.Line == "jetson" || d.Line == "spark" || d.grace()
	if arm && !c.IsSet("arch") && h.Platform.OS == "linux" {
		h.Platform.Arch = "aarch64"
	}
}

// overrideDriver replaces the NVIDIA driver.
func overrideDriver(c *cli.Context, h *machine.Machine) (bool, error) {
	if !c.IsSet("driver") {
		return false, nil
	}
	text := strings.TrimSpace(c.String("driver"))
	h.Driver = nil
	if text != "none" {
		v, err := machine.ParseDriver(text)
		if err != nil {
			return false, badValue("driver", text, "write a version as nvidia-smi prints it, such as `--driver 580.95.05`, or `--driver none`")
		}
		h.Driver = &machine.Driver{Version: v, Evidence: machine.FromFlag}
	}
	for i := range h.GPUs {
		if h.GPUs[i].Vendor == machine.NVIDIA {
			h.GPUs[i].Visible = h.Driver != nil
			h.GPUs[i].KernelDriver = ""
		}
	}
	leaveContainer(c, h)
	return true, nil
}

// leaveContainer makes a described machine a target of its own: that this host
// is a container says nothing about it, while a file of facts means what it says.
func leaveContainer(c *cli.Context, h *machine.Machine) {
	if c.IsSet("facts") {
		return
	}
	switch h.Platform.Environment {
	case machine.Container, machine.ContainerBuild, machine.HPCLogin:
		h.Platform.Environment = machine.Bare
		h.Privilege = "sudo"
	}
}

func appleGPU(name string) machine.GPU {
	return machine.GPU{Vendor: machine.Apple, Name: name, Visible: true, Integrated: true, Evidence: machine.FromFlag}
}
