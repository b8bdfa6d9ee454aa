package read

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// onlyGPU takes a name that says little, where no other is known.
func (r *Reader) onlyGPU(name string, s Evidence) {
	if !r.c.Listed && len(r.c.Machine.GPUs) == 0 {
		r.c.Machine.GPUs = append(r.c.Machine.GPUs, newGPU(name, 0))
		r.say(&r.c.From.GPU, s)
	}
}

func (r *Reader) driver(v string, s Evidence) {
	d, err := version.ParseDotted(v)
	if err != nil || d.Major() < 300 || d.Major() > 999 {
		return
	}
	if at := r.c.Machine.Driver; at != nil && !at.Version.IsZero() && !strings.Contains(s.Text, "NVRM") {
		return // the first one named
	}
	driverOf(&r.c.Machine).Version = d
	r.say(&r.c.From.Driver, s)
}

// packaged notes the version of a driver package that is installed. It is the
// library's where nothing else says; a removed package says nothing.
func (r *Reader) packaged(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil && d.Major() >= 300 && r.c.DriverPackage.IsZero() &&
		!removed().MatchString(s.Text) {
		r.c.DriverPackage = d
		r.say(&r.c.From.Package, s)
	}
}

// removed finds the lines of packages that are not installed, or not any more.
var removed = lazy.Regexp(`(?i)^\s*(rc|un|pn|pi)\s|\bRemov|\bPurge|Depends|candidate|available|` +
	`apt(-get)? install|\bstatus not-installed`)

func (r *Reader) loaded(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil {
		driverOf(&r.c.Machine).LoadedVersion = d
		r.say(&r.c.From.Module, s)
	}
}

func driverOf(m *machine.Machine) *machine.Driver {
	if m.Driver == nil {
		m.Driver = &machine.Driver{}
	}
	return m.Driver
}

func (r *Reader) smiCUDA(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil && r.c.SMI.CUDA.IsZero() && d.Major() >= 7 && d.Major() < 20 {
		r.c.SMI = SMI{d, s}
	}
}
