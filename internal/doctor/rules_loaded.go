package doctor

import (
	"path"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// loaded: the dynamic loader takes another library than the one that torch's
// packages brought. What is not taken is no fault: LD_LIBRARY_PATH loses to the
// RPATH of torch's own libraries.
func (e *exam) loaded() {
	if e.Files == nil {
		return
	}
	said := e.From.Env["LD_LIBRARY_PATH"]
	harm := false
	for _, l := range e.Files.Loaded {
		if l.Wheel == "" || l.Path == "" || strings.HasPrefix(l.Name, "libcuda.so") {
			continue
		}
		harm = true
		check := "LD001"
		switch {
		case strings.HasPrefix(l.Name, "libcudnn_"):
			check = "LD010" // parts of two cuDNNs in one process
		case strings.HasPrefix(l.Name, "libcudnn"):
			check = "LD002"
		}
		brought := e.brought(l.Wheel)
		evidence := append([]read.Evidence{fact("%s asks for %s: %s (%s)", l.By, l.Name, l.Path, l.Via)},
			fromOrigins(l.Origins, l.Dir)...)
		evidence = append(evidence, fact("torch's own: %s%s", l.Wheel, word(" (", brought, ")")), said)
		f := e.find(check, proven, evidence...).
			says("%s%s is taken from %s%s in place of torch's own%s",
				l.Name, versionIn(l), dirOf(l), by(l.Via), word(" ", brought, "")).
			fix(unshadow(l)...).
			mend(e.loadedMend(l))
		if check != "LD010" && newer(l.Version, brought) {
			f.Severity, f.weight = know.Warning, hint // NVIDIA keeps newer ones compatible within a major version
		}
	}
	if !harm {
		e.harmless(said)
	}
}

func by(via string) string {
	if strings.HasPrefix(via, "LD_") {
		return " (" + via + ")"
	}
	return ""
}

// dirOf is the directory as it stands in the variable or in the configuration.
func dirOf(l machine.LoadedLibrary) string {
	if l.Via == "LD_PRELOAD" {
		return l.Entry
	}
	if l.Dir != "" {
		return l.Dir
	}
	return path.Dir(l.Path)
}

func word(before, s, after string) string {
	if s == "" {
		return ""
	}
	return before + s + after
}

var toolkitDir = lazy.Regexp(`/cuda-(\d+\.\d+)\b`)

// versionIn is the version of a library as its file's name tells it, else that of
// the toolkit in whose directory it lies.
func versionIn(l machine.LoadedLibrary) string {
	if l.Version != "" {
		return " " + l.Version
	}
	if m := toolkitDir().FindStringSubmatch(l.Path); m != nil {
		return " of CUDA " + m[1]
	}
	return ""
}

// harmless names the libraries on LD_LIBRARY_PATH that torch brings too and does
// not take from there. Other programs may.
func (e *exam) harmless(said read.Evidence) {
	mine := map[string]string{}
	for _, l := range e.Files.Loaded {
		mine[l.Name] = l.Path
	}
	for _, d := range e.Machine.LibraryDirs {
		for _, name := range d.Files {
			own := mine[name]
			if own == "" || strings.HasPrefix(name, "libcuda.so") || path.Dir(own) == strings.TrimRight(d.Path, "/") {
				continue
			}
			from := append([]read.Evidence{fact("torch takes %s", own)}, fromOrigins(d.Origins, d.Path)...)
			e.find("LD006", trifle+3, append(from, said)...).
				says("LD_LIBRARY_PATH holds another %s in %s; torch takes its own all the same", name, d.Path).
				fix("`unset LD_LIBRARY_PATH` where no other program needs it").
				severity(know.Note)
			return
		}
	}
}

// driverStub: libcuda is the driver's, and no other. Stubs are for linking: a
// hundredth of the driver's library in size. The one of WSL is small by design,
// and is not found through LD_LIBRARY_PATH.
func (e *exam) driverStub() {
	if e.Files == nil {
		return
	}
	const smallest = 2 << 20 // bytes; the driver's is 15 MB and more
	for _, l := range e.Files.Loaded {
		if l.Name != "libcuda.so.1" || l.Via != "LD_LIBRARY_PATH" || strings.HasPrefix(l.Path, "/usr/lib/wsl/") {
			continue
		}
		said := fact("libcuda.so.1: %s, %d bytes", l.Path, l.Size)
		fix := unshadow(l)
		driver := e.Machine.Driver
		switch {
		case l.Size < smallest:
			e.find("DRV008", proven, said, e.From.Env["LD_LIBRARY_PATH"]).
				text("LD_LIBRARY_PATH puts a stub of libcuda before the driver's: " + l.Path).
				fix(fix...).
				mend(e.loadedMend(l))
		case driver != nil && !driver.Version.IsZero() && l.Version != "" && !strings.Contains(l.Path, "/compat") &&
			l.Version != driver.Version.String():
			e.find("DRV008", likely, said, e.From.Driver).
				says("LD_LIBRARY_PATH puts the libcuda of driver %s before that of driver %s: %s",
					l.Version, driver.Version, l.Path).
				fix(fix...).
				mend(e.loadedMend(l))
		}
	}
}

// brought is the version of the package that brought a file of the environment:
// …/site-packages/nvidia/cudnn/lib/… is of nvidia-cudnn-cu12.
func (e *exam) brought(file string) string {
	_, rest, ok := strings.Cut(file, "/nvidia/")
	part, _, _ := strings.Cut(rest, "/")
	if !ok {
		return ""
	}
	for _, d := range e.Files.Dists {
		if library, _, ok := nvidiaPackage(d.Name); ok && strings.ReplaceAll(library, "-", "_") == part {
			return d.Version
		}
	}
	return ""
}

// newer reports whether version a is b's or a later one of the same major; what is
// not known is not.
func newer(a, b string) bool {
	x, err := version.ParseDotted(a)
	y, err2 := version.ParseDotted(b)
	return err == nil && err2 == nil && x.Major() == y.Major() && !x.Less(y)
}
