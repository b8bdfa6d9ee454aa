package probe

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/probe/libraries"
	"envfix/internal/probe/packages"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// EnvFiles reads the files of the environment that commands would change, or of
// the first interpreter where there is none. It starts nothing. It returns nil
// where there is no Python.
func EnvFiles(o Options) *machine.EnvFiles {
	h := o.host()
	e, unmade := environment(h, o.choice())
	if e == nil {
		return unmade
	}
	return o.files(h, *e)
}

// environment is the environment to read; else a directory that nobody made one in, or nil.
func environment(h *sysroot.Host, c python.Choice) (*python.Env, *machine.EnvFiles) {
	var e python.Env
	if active := python.Active(h, c); active != "" {
		e = python.Read(h, active)
	} else if dir := python.Unmade(h, c); dir != "" {
		return nil, &machine.EnvFiles{Dir: dir, Sites: python.SitePackages(h, dir), Python: machine.PythonUnmade}
	} else if found := python.Find(h, c).Pythons; len(found) > 0 {
		e = python.ReadInterpreter(h, found[0])
	} else {
		return nil, nil
	}
	return &e, nil
}

func (o Options) files(h *sysroot.Host, e python.Env) *machine.EnvFiles {
	cfg := python.ReadConfig(h, e.Dir)
	f := &machine.EnvFiles{Dir: e.Dir, Sites: e.Sites, Starts: e.Starts}
	for _, r := range e.Conda {
		if slices.Contains([]string{"pytorch", "pytorch-cpu", "pytorch-gpu", "libtorch", "cpuonly"}, r.Name) {
			f.Conda = append(f.Conda, r.Name+" "+r.Version+" "+r.Build)
		}
	}
	f.Imports = python.Imports(h, o.Dir, e)
	for _, x := range e.Gone {
		f.Gone = append(f.Gone, machine.ImportPlace{Path: text.Printable(x.Dir), Origins: []machine.Origin{x.At}})
	}
	f.Variables, f.Shadows, f.Clashes = append(variables.OfShell(h), python.AtStart(h, e.Sites)...), python.Shadows(h, o.Dir, e), packages.Clashes(h, e.Dists)
	f.Elsewhere = python.StartedHere(h, o.Dir, func(name string) bool { return name == "CUDA_VISIBLE_DEVICES" })
	lost, altered := python.Library(h, e)
	f.Lost = text.Each(lost, text.Printable)
	f.Unseen = text.Each(altered, func(file string) string {
		return text.Printable(file) + ", which was changed after its Python was installed"
	})
	f.Notes = notes(h, e.Dir)
	if f.Python = e.Fault(h, cmp.Or(cfg, &python.Config{}).Home); cfg != nil {
		if f.Base = cfg.Home; f.Python == machine.PythonOther {
			f.Base = h.Resolved(python.Program(h, e.Dir))
		}
		f.Pip = pipOfOther(h, e.Dir)
		if lock := path.Dir(e.Dir) + "/uv.lock"; h.Exists(lock) {
			f.Notes = append(f.Notes, machine.SyncedTo+text.Printable(lock))
		}
	}
	sites := slices.Clone(e.Sites)
	for _, i := range f.Imports {
		if i.Place != machine.InWorkingDir {
			sites = xslices.Add(sites, i.Site())
		}
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() { f.Dists = packages.Files(h, sites, e) })
	_, left := python.Infos(h, e.Sites)
	left = slices.DeleteFunc(left, func(dir string) bool { return !h.IsDir(dir) })
	f.Leftovers = text.Each(left[:min(len(left), sysroot.MaxNamed)], text.Printable)
	if h.OS != "linux" || f.Python == machine.PythonCopied {
		return f // the rest is about ELF files, and what that one would load
	}
	if i, ok := xslices.Find(f.Imports, func(i machine.ImportPlace) bool { return i.Place == machine.InEnvironment }); ok {
		torch := path.Dir(i.Path)
		libraries.Follow(h, f, torch, e, &wait)
		f.Options = append(libraries.AllocOptions(h, torch), libraries.LogNames(h, torch)...)
		bare, _ := xslices.Find(e.Dists, func(d python.Dist) bool { return d.Name == "torch" && !d.Whole })
		f.Bare = bare.Version
	}
	return f
}

// pipOfOther is the interpreter of another environment that the pip of one is started with; ""
// it is its own.
func pipOfOther(h *sysroot.Host, dir string) string {
	program, _ := machine.StartedBy(h.Text(dir + "/bin/pip"))
	if program == "" || h.ResolvedDir(path.Dir(program)) == h.ResolvedDir(dir+"/bin") {
		return ""
	}
	return text.Printable(program)
}

// notes say what leads nowhere, of variables and in an environment, and what was compiled where.
func notes(h *sysroot.Host, dir string) []string {
	out := append(leadNowhere(h), libraries.CompiledAt(h)...)
	if at := h.Env["VIRTUAL_ENV"]; at != "" && !h.Exists(at) && strings.Contains(h.Text(dir+"/bin/activate"), at) {
		out = append(out, "activate leads to VIRTUAL_ENV")
	}
	out = append(out, shellPython(h, dir)...)
	for _, site := range python.SitePackages(h, dir) {
		if to := h.Target(site); to != "" && !h.Exists(site) {
			out = append(out, machine.PackagesAt+text.Printable(to))
		}
	}
	return out
}

// shellPython notes the python of this shell, where it is not that of the environment which a variable calls active.
func shellPython(h *sysroot.Host, dir string) []string {
	first, _ := xslices.Find(h.PathDirs(), func(bin string) bool { return h.IsProgram(bin + "/python") })
	own := h.ResolvedDir(dir + "/bin")
	active := slices.ContainsFunc([]string{h.Env["VIRTUAL_ENV"], h.Env["CONDA_PREFIX"]}, func(at string) bool { return at != "" && h.ResolvedDir(at+"/bin") == own })
	return say.All(say.If(active && first != "" && h.ResolvedDir(first) != own && h.OS != "windows", machine.ShellPython+text.Printable(first+"/python")))
}

// foreign reports whether a file is machine code that does not start here.
func foreign(h *sysroot.Host, file string) bool {
	arch := platform.ELFArch(h.Bytes(file, 64))
	return arch != "" && (arch != platform.Arch(h) || !h.IsProgram(file))
}

// leadNowhere says of which variables what they name is not there.
func leadNowhere(h *sysroot.Host) (out []string) {
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "TRITON_PTXAS_PATH",
		"TRITON_PTXAS_BLACKWELL_PATH", "TRITON_LIBCUDA_PATH"} {
		if at := h.Env[name]; at != "" && h.Abs(at) && !h.Exists(at) {
			out = append(out, name+" is not there")
			if to := h.Target(at); to != "" {
				out = append(out, name+" leads to "+text.Printable(to))
			}
		} else if foreign(h, at) {
			out = append(out, name+" is no program here")
		}
	}
	for _, name := range []string{"CC", "CXX", "CUDAHOSTCXX"} {
		program, _, _ := strings.Cut(strings.TrimSpace(h.Env[name]), " ") // "ccache gcc-13 -m64"
		places := say.Either(h.Abs(program), []string{"/"}, h.PathDirs())
		if program == "" || h.OS == "windows" || strings.Contains(program, "/") && !h.Abs(program) {
			continue // nothing, or what depends on where it is started
		}
		if !slices.ContainsFunc(places, func(dir string) bool { return h.IsProgram(path.Join(dir, program)) }) {
			out = append(out, name+" is not there")
		}
	}
	return out
}

// Held reads what the virtual environment o.Venv holds. It starts nothing. It
// returns nil where there is none: a conda environment is changed in place.
func Held(o Options) *machine.Held {
	o.Named = true // an activated environment elsewhere is not replaced
	h := o.host()
	dir := python.Active(h, o.choice())
	cfg := python.ReadConfig(h, dir)
	if dir == "" || cfg == nil || h.OS != "linux" {
		return nil
	}
	held := &machine.Held{System: cfg.System, Files: true}
	infos, left := python.Infos(h, python.SitePackages(h, dir), ".dist-info", ".egg-info", ".egg-link")
	held.Dists = packages.Held(h, infos)
	held.Leftovers = text.Each(left[:min(len(left), sysroot.MaxNamed)], func(dir string) string { return text.Printable(path.Base(dir)) })
	return held
}
