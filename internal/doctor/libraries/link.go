package libraries

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/say"
)

// unlinked: a library that importing torch needs is not there, or the one that is taken
// has not what is asked of it.
func unlinked(e *evidence.Evidence, found evidence.Found, out *evidence.Findings) {
	seen := map[string]bool{}
	for _, l := range e.Files.Links {
		key := l.Dist + " " + l.Library
		if seen[key] {
			continue
		}
		seen[key] = true
		switch {
		case l.Why != "" && !l.Opened:
			unfit(e, out, l)
		case l.Symbol != "" && l.Dist != "":
			otherExtension(e, out, l)
		case l.Symbol != "":
			foreignSymbol(e, out, l)
		case l.Version != "":
			olderSymbols(e, out, l)
		case strings.HasPrefix(l.Library, "libcuda.so"):
			noLibcuda(e, out, l)
		case !l.Opened:
			missingLibrary(e, found, out, l)
		}
	}
}

// unfit: the library is there, and the loader cannot take it.
func unfit(e *evidence.Evidence, out *evidence.Findings, l machine.LinkFault) {
	check := "PY010"
	switch {
	case strings.Contains(l.Why, "another Python"):
		check = "PY027"
	case strings.Contains(l.Why, "another processor"):
		check = "IDX003"
	}
	f := out.Find(check, evidence.Proven, evidence.Fact("%s needs %s", l.By, l.Library), evidence.Fact("%s: %s", l.Path, l.Why)).
		Says("%s cannot be loaded, %s: `import %s` fails", l.Path, l.Why, cmp.Or(say.If(l.By == l.Path, l.Dist), "torch")).
		Mends(e.Repair().Rebuild(l.Path)).As(evidence.Error)
	if strings.Contains(l.Why, "noexec") || strings.Contains(l.Why, "musl") {
		f.Mend = evidence.Mend{}
	}
	switch {
	case strings.Contains(l.Why, "noexec"):
		f.Do("an environment on a disk that programs may be started from: `envfix apply --env DIR`", "or `sudo mount -o remount,exec \"$(findmnt -no TARGET -T "+e.Files.Dir+")\"`, and the option out of /etc/fstab")
	case strings.Contains(l.Why, "musl"):
		f.Do("a system or container image with glibc (Debian, Ubuntu, Fedora, …): there are no wheels of torch for musl (Alpine)", "on such a system: `envfix apply`")
	case strings.Contains(l.Why, "may not read"):
		f.Do("`sudo chmod a+r "+l.Path+"`, and its directories `a+rx`", "or an environment of your own: `envfix apply --env DIR`")
	case l.Dist != "":
		f.Do("`pip install --force-reinstall --no-deps " + e.Repair().Again(l.Dist) + "`")
	case l.Conda != "":
		f.Do("`" + e.Conda().Here("install --force-reinstall") + " " + l.Conda + "`")
	default:
		f.Do("remove it, or bring the package again that it belongs to")
	}
}

// otherExtension: machine code that asks torch for what this torch does not have.
func otherExtension(e *evidence.Evidence, out *evidence.Findings, l machine.LinkFault) {
	f := out.Find("PY019", evidence.Proven, evidence.Fact("%s: undefined symbol %s%s", l.By, l.Symbol, say.With(" (", plainSymbol(l.Symbol), ")"))).
		Says("%s was compiled for another torch: it asks for %s, which torch %s does not have", l.Dist, cmp.Or(plainSymbol(l.Symbol), l.Symbol), e.Torch.Named()).
		Do(compiled(e, l.Dist)+" for the torch that is here; or its wheel for torch "+e.Torch.Version,
			"`envfix plan "+l.Dist+"` names a pair that fits")
	if !l.Module {
		f.As(evidence.Warning)
	}
}

// compiled is what builds a package in its version from source.
func compiled(e *evidence.Evidence, dist string) string {
	return "`pip install --force-reinstall --no-deps --no-binary " + dist + " --no-build-isolation " + e.Repair().Again(dist) + "` compiles it"
}

// inPlace is the library that a fault names, as one that is loaded.
func inPlace(l machine.LinkFault) machine.LoadedLibrary {
	return machine.LoadedLibrary{Name: l.Library, Path: l.Path, Via: l.Via, Entry: l.Entry, Origins: l.Origins}
}

// foreignSymbol: a library in the place of torch's own lacks what torch asks it for.
func foreignSymbol(e *evidence.Evidence, out *evidence.Findings, l machine.LinkFault) {
	said := append([]evidence.Quote{evidence.Fact("%s: undefined symbol %s", path.Base(l.By), l.Symbol), evidence.Fact("%s is %s", l.Library, l.Path)},
		evidence.FromOrigins(l.Origins, l.Entry)...)
	as := inPlace(l)
	out.Find("LD001", evidence.Proven.Exact(), append(said, e.From.Env[l.Via])...).
		Says("`import torch` fails: %s is taken from %s (%s), and it lacks %s, which %s asks it for", l.Library, l.Path, l.Via, l.Symbol,
			say.Either(strings.Contains(l.By, "/torch/"), "torch", strings.SplitN(path.Base(l.By), ".cpython", 2)[0])).
		Do(unshadow(as)...).Mends(loadedMend(e, as))
}

// olderSymbols: a library of the system, or of conda, is older than what was built with it.
func olderSymbols(e *evidence.Evidence, out *evidence.Findings, l machine.LinkFault) {
	f := out.Find("LD008", evidence.Proven, evidence.Fact("%s asks %s for %s", l.By, l.Library, l.Version), evidence.Fact("%s is %s (%s)", l.Library, l.Path, l.Via)).
		Says("%s is older than %s needs: %s is not in %s", l.Library, cmp.Or(l.Dist, path.Base(l.By)), l.Version, l.Path)
	if libc := e.Machine.Platform.Libc; libc != nil && !libc.Version.IsZero() && strings.HasPrefix(l.Version, "GLIBC_") {
		f.Says("the C library here, glibc %s, is older than %s needs: %s is not in %s", libc.Version, cmp.Or(l.Dist, path.Base(l.By)), l.Version, l.Path)
	}
	switch {
	case strings.HasPrefix(l.Version, "GLIBC_") && l.Dist != "":
		f.Do(compiled(e, l.Dist)+" for the system that is here", "or a newer system or container image: glibc is not updated by itself")
	case strings.HasPrefix(l.Version, "GLIBC_"):
		f.Do("a newer system or container image: glibc is not updated by itself", "or the build of torch that was made for this glibc: `envfix plan`")
	case l.Entry != "":
		f.Do(unshadow(inPlace(l))...)
	default:
		f.Do("conda: `conda install -c conda-forge \"libstdcxx-ng>=13\"`; else the system's package of libstdc++ (`apt install libstdc++6`)")
	}
}

// noLibcuda: the management library of the driver is here and its CUDA library is not.
func noLibcuda(e *evidence.Evidence, out *evidence.Findings, l machine.LinkFault) {
	m := e.Machine
	if m.Driver == nil || m.Driver.NotLoaded || m.Driver.Evidence != machine.FromNVML || !e.GPU().Of(machine.NVIDIA) {
		return // no driver answers: that is told
	}
	v := m.Driver.Version
	f := out.Find("DRV002", evidence.Proven, evidence.Fact("%s opens %s: it is in no directory that the loader looks into", path.Base(l.By), l.Library), e.From.Driver).
		Says("the driver's CUDA library %s is not here, though NVML of driver %s answers: CUDA cannot start", l.Library, v)
	if l.Why != "" {
		f.At[0] = evidence.Fact("%s is taken for %s", l.Path, l.Library)
		f.Says("the driver's CUDA library %s cannot be loaded, %s: CUDA cannot start", l.Path, strings.Replace(l.Why, "no library", "empty, or no library", 1))
	}
	switch {
	case l.Entry != "":
		f.Do(unshadow(inPlace(l))...).Mends(loadedMend(e, inPlace(l)))
	case l.Why != "" && m.Platform.Environment == machine.Container:
		f.Do("`rm "+l.Path+"` where the image is built: it is what was left of a file that a container was given, and it stands before the driver's own",
			"then start the container with `--gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility`")
	case m.Platform.Environment == machine.Container:
		f.Do("start the container with `-e NVIDIA_DRIVER_CAPABILITIES=compute,utility` (utility alone brings NVML and not CUDA)")
	case m.Platform.Environment == machine.WSL2:
		f.Do("`sudo ldconfig`, with /usr/lib/wsl/lib in /etc/ld.so.conf.d/ld.wsl.conf", "then update the NVIDIA driver on Windows, and `wsl --shutdown`")
	default:
		f.Do("Debian: `sudo apt install libcuda1`, in the driver's version", fmt.Sprintf("Ubuntu: `sudo apt install libnvidia-compute-%d`", v.Major()),
			"other systems: the driver's package that brings libcuda.so.1, in version "+v.String()+" (libnvidia-compute, nvidia-driver-cuda-libs, nvidia-utils)",
			"then `sudo ldconfig`")
	}
}

// missingLibrary: a library that is loaded with torch, or with what was compiled for it.
func missingLibrary(e *evidence.Evidence, found evidence.Found, out *evidence.Findings, l machine.LinkFault) {
	said := evidence.Fact("%s needs %s: it is in no directory that the loader looks into", l.By, l.Library)
	stem := strings.TrimRight(strings.SplitN(l.Library, ".so", 2)[0], "-.0123456789")
	switch {
	case strings.HasPrefix(path.Base(l.By), "python"):
		out.Find("PY044", evidence.Proven.Exact(), said).Explaining("PY010", "LD018").
			Says("the Python of %s does not start: it needs %s, which is in no directory that the loader looks into", e.Files.Dir, l.Library).
			Do("bring that Python again, whole, or the folder of its library into its search path",
				"or the environment anew, with another Python: `uv venv --clear --managed-python "+e.Files.Dir+"`, then its packages")
	case strings.Contains(l.By, "/lib-dynload/"):
		out.Find("PY044", evidence.Proven.Exact(), said).Explaining("LD018").
			Says("a module of Python's own library, %s, needs %s, which is not here: the system was upgraded since that Python was built",
				strings.SplitN(path.Base(l.By), ".", 2)[0], l.Library).
			Do("build that Python again (`pyenv install --force "+e.Python().Active()+"`)",
				"or the environment anew, with a Python that brings its libraries: `uv venv --clear --managed-python "+e.Files.Dir+"`, then its packages")
	case l.Backend:
		out.Find("LD018", evidence.Proven, said).
			Says("torch loads %s when it is imported, and that needs %s, which is not here: `import torch` fails", l.Dist, l.Library).
			Do("have the loader find it: the software of that device, and its script that sets the paths (set_env.sh, setvars.sh)",
				"or `pip uninstall -y "+l.Dist+"`, where nothing needs it", "or `export TORCH_DEVICE_BACKEND_AUTOLOAD=0`")
	case l.Dist != "" && (strings.HasPrefix(l.Library, "libc10") || strings.HasPrefix(l.Library, "libtorch")) && len(found.Of("PY010")) > 0:
		// torch itself is not whole
	case l.Dist != "":
		f := out.Find("PY019", evidence.Likely, said, e.Torch.CUDAAt).
			Says("%s needs %s, which the torch that is here does not bring: it was built for another torch, or another CUDA", l.Dist, l.Library).
			Do("the wheel of "+l.Dist+" for torch "+e.Torch.Named(), "`envfix plan "+l.Dist+"` names a pair that fits")
		if !l.Module {
			f.As(evidence.Warning)
		}
	case len(found.Of("PY010", "LD003", "IDX003")) > 0:
		// the packages say it better
	case ours().MatchString(stem) && stem != "libstdc++":
		out.Find("PY010", evidence.Proven, said).
			Says("%s is not here, and torch does not import without it", l.Library).
			Do("`pip install --force-reinstall " + e.Repair().TorchAgain() + "` brings what it needs").
			Mends(e.Repair().Rebuild(l.By))
	case !packaged(e, out, stem, said):
		f := out.Find("LD018", evidence.Proven, said).Says("%s is not here, and torch does not import without it", l.Library)
		if stem == "libstdc++" {
			f.Do("`sudo apt install libstdc++6`", "Fedora, RHEL: `sudo dnf install libstdc++`")
		}
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
