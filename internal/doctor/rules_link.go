package doctor

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// linkRules say what the dynamic loader would refuse.
var linkRules = []rule{
	{[]string{"DRV002", "LD001", "LD008", "LD018", "PY010", "PY019"}, "the libraries and symbols that the dynamic loader would not find", (*exam).unlinked},
}

// unlinked: a library that importing torch needs is not there, or the one that is taken
// has not what is asked of it.
func (e *exam) unlinked() {
	if e.Files == nil {
		return
	}
	seen := map[string]bool{}
	for _, l := range e.Files.Links {
		key := l.Dist + " " + l.Library
		if seen[key] {
			continue
		}
		seen[key] = true
		switch {
		case l.Symbol != "" && l.Dist != "":
			e.otherExtension(l)
		case l.Symbol != "":
			e.foreignSymbol(l)
		case l.Version != "":
			e.olderSymbols(l)
		case strings.HasPrefix(l.Library, "libcuda.so"):
			e.noLibcuda(l)
		case !l.Opened:
			e.missingLibrary(l)
		}
	}
}

// otherExtension: machine code that asks torch for what this torch does not have.
func (e *exam) otherExtension(l machine.LinkFault) {
	f := e.find("PY019", proven, fact("%s: undefined symbol %s%s", l.By, l.Symbol, word(" (", plainSymbol(l.Symbol), ")"))).
		says("%s was compiled for another torch: it asks for %s, which torch %s does not have", l.Dist, cmp.Or(plainSymbol(l.Symbol), l.Symbol), withLabel(e.Torch)).
		fix(fmt.Sprintf("`pip install --force-reinstall --no-deps --no-binary %s --no-build-isolation %s` compiles it for the torch that is here; or its wheel for torch %s", l.Dist, l.Dist, e.Torch.Version),
			"`envfix plan "+l.Dist+"` names a pair that fits").
		explains("PY018")
	if !l.Module {
		f.severity(know.Warning)
	}
}

// foreignSymbol: a library in the place of torch's own lacks what torch asks it for.
func (e *exam) foreignSymbol(l machine.LinkFault) {
	said := append([]read.Evidence{fact("%s: undefined symbol %s", path.Base(l.By), l.Symbol), fact("%s is %s", l.Library, l.Path)},
		fromOrigins(l.Origins, l.Entry)...)
	as := machine.LoadedLibrary{Name: l.Library, Path: l.Path, Via: l.Via, Entry: l.Entry, Dir: path.Dir(l.Path), Origins: l.Origins}
	e.find("LD001", proven+5, append(said, e.From.Env[l.Via])...).
		says("`import torch` fails: %s is taken from %s (%s), and it lacks %s, which torch asks it for", l.Library, l.Path, l.Via, l.Symbol).
		fix(unshadow(as)...).mend(e.loadedMend(as)).
		explains("LD002", "LD006", "LD010", "LD014")
}

// olderSymbols: a library of the system, or of conda, is older than what was built with it.
func (e *exam) olderSymbols(l machine.LinkFault) {
	f := e.find("LD008", proven, fact("%s asks %s for %s", l.By, l.Library, l.Version), fact("%s is %s (%s)", l.Library, l.Path, l.Via)).
		says("%s is older than %s needs: %s is not in %s", l.Library, path.Base(l.By), l.Version, l.Path)
	switch {
	case strings.HasPrefix(l.Version, "GLIBC_"):
		f.fix("a newer system or container image: glibc is not updated by itself", "or the build of torch that was made for this glibc: `envfix plan`")
	case l.Entry != "":
		f.fix(outOf(l.Via, path.Dir(l.Path), l.Origins)...)
	default:
		f.fix("conda: `conda install -c conda-forge \"libstdcxx-ng>=13\"`; else the system's package of libstdc++ (`apt install libstdc++6`)")
	}
}

// noLibcuda: the management library of the driver is here and its CUDA library is not.
func (e *exam) noLibcuda(l machine.LinkFault) {
	m := e.Machine
	if m.Driver == nil || m.Driver.NotLoaded || m.Driver.Evidence != machine.FromNVML || !e.vendor(machine.NVIDIA) {
		return // no driver answers: that is told
	}
	v := m.Driver.Version
	f := e.find("DRV002", proven, fact("%s opens %s: it is in no directory that the loader looks into", path.Base(l.By), l.Library), e.From.Driver).
		says("the driver's CUDA library %s is not here, though NVML of driver %s answers: CUDA cannot start", l.Library, v)
	switch {
	case m.Platform.Environment == machine.Container:
		f.fix("start the container with `-e NVIDIA_DRIVER_CAPABILITIES=compute,utility` (utility alone brings NVML and not CUDA)")
	case m.Platform.Environment == machine.WSL2:
		f.fix("`sudo ldconfig`, with /usr/lib/wsl/lib in /etc/ld.so.conf.d/ld.wsl.conf", "then update the NVIDIA driver on Windows, and `wsl --shutdown`")
	case slices.Contains([]string{"debian"}, m.Platform.Distro):
		f.fix("`sudo apt install libcuda1`, in the driver's version", "then `sudo ldconfig`")
	case m.Platform.Distro == "ubuntu" || strings.Contains(m.Platform.DistroLike, "ubuntu"):
		f.fix(fmt.Sprintf("`sudo apt install libnvidia-compute-%d`", v.Major()), "then `sudo ldconfig`")
	default:
		f.fix("install the driver's package that brings libcuda.so.1, in version "+v.String()+" (libnvidia-compute, nvidia-driver-cuda-libs, nvidia-utils)", "then `sudo ldconfig`")
	}
}

// missingLibrary: a library that is loaded with torch, or with what was compiled for it.
func (e *exam) missingLibrary(l machine.LinkFault) {
	said := fact("%s needs %s: it is in no directory that the loader looks into", l.By, l.Library)
	stem := strings.TrimRight(strings.SplitN(l.Library, ".so", 2)[0], "-.0123456789")
	switch {
	case l.Dist != "":
		f := e.find("PY019", likely, said, e.Torch.CUDAAt).
			says("%s needs %s, which the torch that is here does not bring: it was built for another CUDA", l.Dist, l.Library).
			fix("the wheel of "+l.Dist+" for torch "+withLabel(e.Torch), "`envfix plan "+l.Dist+"` names a pair that fits")
		if !l.Module {
			f.severity(know.Warning)
		}
	case slices.ContainsFunc(e.out, func(f *finding) bool { return f.Check == "PY010" || f.Check == "LD003" || f.Check == "IDX003" }):
		// the packages say it better
	case ours().MatchString(stem) && stem != "libstdc++":
		e.find("PY010", proven, said).
			says("%s is not here, and torch does not import without it", l.Library).
			fix("`pip install --force-reinstall " + e.torchAgain() + "` brings what it needs").
			mend(e.rebuild(l.By))
	case !e.packaged(stem, said):
		e.find("LD018", proven, said).says("%s is not here, and torch does not import without it", l.Library)
	}
}

// plainSymbol is the C++ name of a symbol, as far as it is one of names alone:
// _ZN3c104cuda9SetDeviceEi is c10::cuda::SetDevice. "": it is none, or more.
// Source: the Itanium C++ ABI, 5.1.
func plainSymbol(s string) string {
	rest, ok := strings.CutPrefix(s, "_ZN")
	rest = strings.TrimPrefix(rest, "K")
	var names []string
	for ok && rest != "" && rest[0] >= '1' && rest[0] <= '9' {
		n := 0
		for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			n, rest = 10*n+int(rest[0]-'0'), rest[1:]
		}
		if n > len(rest) {
			return ""
		}
		names, rest = append(names, rest[:n]), rest[n:]
	}
	return strings.Join(names, "::")
}
