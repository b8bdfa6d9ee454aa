package describe

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/matrix"
)

// Of describes a machine in words, as far as words can: what [Machine.Override] makes
// of them decides as the machine does. GPUs whose names say nothing are named by
// their capability; one that has neither is left out.
func Of(h machine.Machine) Machine {
	d := Machine{OS: h.Platform.OS, Arch: h.Platform.Arch}
	if h.Platform.Environment == machine.WSL2 {
		d.OS = machine.WSL2
	}
	if l := h.Platform.Libc; l != nil && !l.Version.IsZero() {
		d.Libc = l.Kind + "-" + l.Version.String()
	}
	nvidia := false
	for _, g := range h.GPUs {
		nvidia = nvidia || g.Vendor == machine.NVIDIA
		if word := wordFor(g); word != "" {
			d.GPUs = append(d.GPUs, word)
		}
	}
	switch {
	case h.Driver != nil && !h.Driver.Version.IsZero():
		d.Driver = h.Driver.Version.String()
	case nvidia && h.Driver == nil && h.Platform.Environment != machine.Jetson:
		d.Driver = "none"
	}
	return d
}

// wordFor is the value of --gpu that means g: its name where that is clear, so that
// people see what they have.
func wordFor(g machine.GPU) string {
	name := strings.TrimPrefix(g.Name, "NVIDIA ")
	name += say.If(g.MIG != "" && !strings.Contains(strings.ToLower(name), g.MIG), " "+g.MIG)
	if n, err := GPU(name); err == nil && n.Vendor == g.Vendor && (g.SM.IsZero() || n.SM == g.SM) && (g.GFX == "" || n.GFX == g.GFX) {
		return name
	}
	return say.Either(g.SM.IsZero(), g.GFX, g.SM.String())
}

// NewestDriver is the newest production release of NVIDIA's driver that drives every
// NVIDIA GPU of the machine, on its system. ok is false where the machine takes none:
// without such a GPU, or a Jetson.
func NewestDriver(m *matrix.Matrix, h machine.Machine) (newest version.Dotted, ok bool) {
	sms := h.NVIDIA()
	if len(sms) == 0 || h.Platform.Environment == machine.Jetson || h.Platform.OS == "macos" {
		return version.Dotted{}, false
	}
	newest = m.NewestDriver(sms, h.WindowsDriver())
	return newest, !newest.IsZero()
}
