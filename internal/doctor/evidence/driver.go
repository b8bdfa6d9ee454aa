package evidence

import (
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// Dotted reads a version of numbers and dots; zero where it is none.
func Dotted(s string) version.Dotted {
	v, _ := version.ParseDotted(s)
	return v
}

// WindowsColumn reports whether driver versions are those of Windows.
func (e Driver) WindowsColumn() bool {
	return e.Machine.Platform.OS == "windows" || e.Machine.Platform.Environment == machine.WSL2
}

// FloorOf is the oldest driver of a floor, for the machine's system.
func (e Driver) FloorOf(f matrix.Floor) version.Dotted { return f.Driver(e.WindowsColumn()) }

// First is the first driver for GPUs of an architecture, on the machine's system.
func (e Driver) First(a matrix.Arch) version.Dotted { return a.First(e.WindowsColumn()) }

// LeftBehind is a GPU that no driver as new as floor drives; nil where there is none.
func (e Driver) LeftBehind(floor version.Dotted) (*machine.GPU, matrix.Arch) {
	for i := range e.Machine.GPUs {
		if e.Matrix == nil {
			break
		}
		if a, ok := e.Matrix.Arch(e.Machine.GPUs[i].SM); ok && a.LastBranch > 0 && a.LastBranch < floor.Major() {
			return &e.Machine.GPUs[i], a
		}
	}
	return nil, matrix.Arch{}
}

// IsLast reports whether the machine's driver is of the last branch that drives each of its GPUs.
func (e Driver) IsLast() bool {
	d := e.Machine.Driver
	return e.Matrix != nil && d != nil && !d.Version.IsZero() && len(e.Machine.GPUs) > 0 && !slices.ContainsFunc(e.Machine.GPUs, func(g machine.GPU) bool {
		a, ok := e.Matrix.Arch(g.SM)
		return !ok || a.LastBranch != d.Version.Major()
	})
}

// Floor is the oldest driver for a CUDA on this platform. Before CUDA 11 there is
// no compatibility between minor versions: the toolkit's own table counts.
func (e Driver) Floor(cuda version.Dotted) (oldest version.Dotted) {
	if e.Matrix == nil || cuda.IsZero() {
		return version.Dotted{}
	}
	if cuda.Major() >= 11 {
		if f, ok := e.Matrix.Floor("cu" + strings.ReplaceAll(cuda.MajorMinor(), ".", "")); ok {
			return e.FloorOf(f)
		}
	}
	for _, t := range e.Matrix.Toolkits {
		if t.Version.MajorMinor() != cuda.MajorMinor() {
			continue
		}
		v := t.Driver(e.WindowsColumn())
		if !v.IsZero() && (oldest.IsZero() || v.Less(oldest)) {
			oldest = v
		}
	}
	return oldest
}

// whole takes the newest release of a branch for the driver where its branch alone
// is told: what that one cannot run, none of the branch can.
func (e Driver) whole() {
	if e.Matrix == nil || e.Says.Branch == 0 || e.Machine.Driver != nil && !e.Machine.Driver.Version.IsZero() {
		return
	}
	v, err := e.Matrix.WholeDriver(Dotted(strconv.Itoa(e.Says.Branch)), e.Machine.Platform.OS == "windows")
	if err != nil || strings.Count(v.String(), ".") == 0 {
		return
	}
	var d machine.Driver
	if e.Machine.Driver != nil {
		d = *e.Machine.Driver
	}
	d.Version = v
	e.Machine.Driver = &d
	e.From.Driver = e.Says.BranchAt
}
