// Package describe turns words into what the other packages reason about: the
// values of --gpu, --driver, --os, --arch and --libc into a machine, and those of
// --python, --cuda, --build … into a request. The same words stand in a team's
// targets. It reads nothing and runs anywhere; every word that it does not
// understand is a [fail.Error] that says how to write it.
package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
)

// Machine describes a machine, whole or in part. A field that is empty says
// nothing.
type Machine struct {
	GPUs   []string `json:"gpu" flag:"gpu"`       // each a name, a compute capability (9.0, sm_90) or gfx1100, or several: 2x A100, T4; or none, alone
	Driver string   `json:"driver" flag:"driver"` // a version of NVIDIA's driver, or none
	OS     string   `json:"os" flag:"os"`         // linux, windows, macos or wsl2
	Arch   string   `json:"arch" flag:"arch"`     // x86_64, aarch64 or arm64
	Libc   string   `json:"libc" flag:"libc"`     // glibc-2.28 or musl-1.2
	Here   []string `json:"here,omitempty"`       // the GPUs that were found where it was said, and that it replaces
	Whole  bool     `json:"-"`                    // the words correct a file of facts, which means what it says of a container
}

// Says reports whether any word is given.
func (d Machine) Says() bool {
	return len(d.GPUs) > 0 || d.Driver != "" || d.OS != "" || d.Arch != "" || d.Libc != ""
}

// Instead says whom an answer is for that is not for the machine at hand.
func (d Machine) Instead() string {
	return text.Printable("for the described " + say.Either(d.none(), "machine without a GPU", strings.Join(d.GPUs, ", ")) + ", not this machine")
}

func (d Machine) none() bool {
	return len(d.GPUs) == 1 && strings.EqualFold(strings.TrimSpace(d.GPUs[0]), "none")
}

// Override puts every fact that d names in place of the one in h.
func (d Machine) Override(h *machine.Machine) error {
	if d.OS == "" && !d.Whole && windowsText().MatchString(strings.TrimSpace(d.Driver)) {
		d.OS = "windows" // no other system writes a driver so
	}
	return cmp.Or(d.overrideOS(h), d.overrideArch(h), d.overrideLibc(h), d.overrideGPUs(h), d.overrideDriver(h))
}

// systems are the words for a system that people write, and what they mean.
var systems = map[string]string{
	"linux": "linux", "windows": "windows", "macos": "macos", "wsl2": "wsl2", "wsl": "wsl2",
	"win": "windows", "win64": "windows", "mac": "macos", "osx": "macos", "darwin": "macos", "mac os": "macos", "mac os x": "macos",
}

// distributions are the words for Linux, by ID of os-release, that name more than the system.
var distributions = []string{"ubuntu", "debian", "fedora", "rhel", "rocky", "almalinux"}

// overrideOS changes the system. What belongs to the other system (programs,
// paths, the C library, and GPUs that are not named) goes with it.
func (d Machine) overrideOS(h *machine.Machine) error {
	if d.OS == "" {
		return nil
	}
	environment := machine.Bare
	word := strings.ToLower(strings.TrimSpace(d.OS))
	name := strings.TrimRight(word, "0123456789. ")
	os := cmp.Or(systems[word], systems[name]) // its version decides nothing
	switch {
	case os == "wsl2":
		os, environment = "linux", machine.WSL2
	case slices.Contains(distributions, name):
		if of := strings.TrimSpace(word[len(name):]); h.Platform.Distro != name || of != "" && of != h.Platform.DistroVersion {
			elsewhere(h, "linux", environment)
			h.Platform.Distro, h.Platform.DistroVersion = name, of
		}
		return nil
	case os == "":
		return BadValue("os", d.OS, "systems are linux (or a distribution, such as ubuntu24.04), windows, macos and wsl2")
	}
	if os != h.Platform.OS {
		elsewhere(h, os, environment)
	} else if (environment == machine.WSL2) != (h.Platform.Environment == machine.WSL2) {
		h.Platform.Environment = environment
		d.withoutItsFiles(h)
	}
	return nil
}

// withoutItsFiles leaves of the machine at hand what another one like it has too: its
// programs and files are not there. Words that correct a file of facts change nothing else.
func (d Machine) withoutItsFiles(h *machine.Machine) {
	if !d.Whole {
		h.Platform.Product = ""
		*h = machine.Machine{Format: h.Format, Platform: h.Platform, Privilege: "sudo", GPUs: h.GPUs, Driver: h.Driver, Env: h.Env}
	}
}

// elsewhere moves the machine to another system, and keeps of it what could be
// there too.
func elsewhere(h *machine.Machine, os, environment string) {
	_, arch := machine.NormalPlatform(os, h.Platform.Arch)
	if os == "macos" {
		arch = "arm64" // the only Macs that PyTorch still builds for; --arch overrides it
	}
	*h = machine.Machine{Format: machine.Format, Platform: machine.Platform{OS: os, Arch: arch, Environment: environment},
		Privilege: "sudo"}
	if os == "linux" {
		h.Platform.Libc = &machine.Libc{Kind: "glibc"}
	}
	if os == "macos" {
		h.GPUs = []machine.GPU{appleGPU("Apple GPU")}
	}
}

func (d Machine) overrideArch(h *machine.Machine) error {
	if d.Arch == "" {
		return nil
	}
	_, arch := machine.NormalPlatform(h.Platform.OS, strings.TrimSpace(d.Arch))
	if !slices.Contains([]string{"x86_64", "aarch64", "arm64"}, arch) {
		return BadValue("arch", d.Arch, "architectures are x86_64, aarch64 (Linux) and arm64 (macOS, Windows)")
	}
	if arch != h.Platform.Arch {
		d.withoutItsFiles(h)
	}
	h.Platform.Arch = arch
	if h.Platform.OS == "macos" && arch != "arm64" { // an Intel Mac has none of Apple's
		h.GPUs = slices.DeleteFunc(h.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.Apple })
	}
	return nil
}

func (d Machine) overrideLibc(h *machine.Machine) error {
	if d.Libc == "" {
		return nil
	}
	l, err := machine.ParseLibc(d.Libc)
	if err != nil {
		return BadValue("libc", d.Libc, "write `--libc glibc-2.28` or `--libc musl-1.2`")
	}
	if h.Platform.OS != "linux" {
		return fail.Wrong("`--libc` is for Linux, not for "+h.Platform.OS, "add `--os linux`, or drop `--libc`")
	}
	h.Platform.Libc = &l
	return nil
}

// overrideGPUs replaces the list of GPUs. The machine then is not this host, so
// that this host is a container or an image build says nothing about it.
func (d Machine) overrideGPUs(h *machine.Machine) error {
	if len(d.GPUs) == 0 {
		return nil
	}
	h.GPUs = nil
	if d.none() {
		h.Driver = nil
		d.leaveContainer(h)
		return nil
	}
	for _, text := range d.words() {
		n, err := named(text)
		if err != nil {
			return err
		}
		d.house(h, n)
		g := n.GPU
		g.Index, g.Evidence = len(h.GPUs), machine.FromFlag
		g.Visible = g.Vendor != machine.NVIDIA || h.Driver != nil || h.Platform.Environment == machine.Jetson
		h.GPUs = append(h.GPUs, g)
	}
	d.leaveContainer(h)
	return nil
}

// house gives a GPU that exists in one kind of machine only that machine: Apple's
// in Macs, a Jetson's in Jetsons, Grace's beside an Arm processor.
func (d Machine) house(h *machine.Machine, g namedGPU) {
	switch {
	case g.Vendor == machine.Apple && d.OS == "":
		elsewhere(h, "macos", machine.Bare)
		h.GPUs = nil
	case g.line == "jetson" && (d.OS == "" || d.OS == "linux"):
		if h.Platform.OS != "linux" {
			elsewhere(h, "linux", machine.Jetson)
		}
		h.Platform.Environment = machine.Jetson
	}
	arm := g.line == "jetson" || g.line == "spark" || g.grace()
	if arm && d.Arch == "" && h.Platform.OS == "linux" {
		h.Platform.Arch = "aarch64"
	}
}

// overrideDriver replaces the NVIDIA driver.
func (d Machine) overrideDriver(h *machine.Machine) error {
	if d.Driver == "" {
		return nil
	}
	text := strings.TrimSpace(d.Driver)
	h.Driver = nil
	if text != "none" {
		v, err := machine.ParseDriver(deviceManager(text))
		switch {
		case err != nil && cudaText().MatchString(text):
			return BadValue("driver", text, "that is how a CUDA version looks: nvidia-smi prints the driver's left of it, such as `--driver 580.95.05`")
		case err != nil:
			return BadValue("driver", text, "write a version as nvidia-smi prints it, such as `--driver 580.95.05`, or `--driver none`")
		}
		h.Driver = &machine.Driver{Version: v, Evidence: machine.FromFlag}
	}
	for i := range h.GPUs {
		if h.GPUs[i].Vendor == machine.NVIDIA {
			h.GPUs[i].Visible = h.Driver != nil
			h.GPUs[i].KernelDriver = ""
		}
	}
	d.leaveContainer(h)
	return nil
}

// deviceManager turns the number that Windows' Device Manager shows into NVIDIA's
// own, which is its last five digits: 31.0.15.4633 is 546.33. Other text comes back
// as it is.
func deviceManager(text string) string {
	if !windowsText().MatchString(text) {
		return text
	}
	digits := strings.ReplaceAll(text, ".", "")
	digits = digits[len(digits)-5:]
	return digits[:3] + "." + digits[3:]
}

// leaveContainer makes a described machine a target of its own: that this host
// is a container says nothing about it, while a file of facts means what it says.
func (d Machine) leaveContainer(h *machine.Machine) {
	if d.Whole {
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

// BadValue is the error for the value of a flag, with how to write it.
func BadValue(flag, value, hint string) *fail.Error {
	return fail.Wrong(fmt.Sprintf("`--%s %s` is not understood", flag, text.Refused(value)), hint)
}
