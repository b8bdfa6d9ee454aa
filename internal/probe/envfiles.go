package probe

import (
	"path"
	"slices"
	"strings"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/probe/libraries"
	"envfix/internal/probe/packages"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// EnvFiles reads the files of the environment that commands would change, or of
// the first interpreter where there is none. It starts nothing. It returns nil
// where there is no Python.
func EnvFiles(o Options) *machine.EnvFiles {
	h := o.host()
	var e python.Env
	if active := python.Active(h, o.choice()); active != "" {
		e = python.Read(h, active)
	} else if dir := python.Unmade(h, o.choice()); dir != "" {
		return &machine.EnvFiles{Dir: dir, Sites: python.SitePackages(h, dir), Python: machine.PythonUnmade}
	} else if found := python.Find(h, o.choice()).Pythons; len(found) > 0 {
		e = python.ReadInterpreter(h, found[0])
	} else {
		return nil
	}
	cfg := python.ReadConfig(h, e.Dir)
	venv := cfg != nil
	f := &machine.EnvFiles{Dir: e.Dir, Sites: e.Sites, Starts: e.Starts}
	for _, r := range e.Conda {
		if slices.Contains([]string{"pytorch", "pytorch-cpu", "pytorch-gpu", "libtorch", "cpuonly"}, r.Name) {
			f.Conda = append(f.Conda, r.Name+" "+r.Version+" "+r.Build)
		}
	}
	f.Imports = python.Imports(h, o.Dir, e, venv)
	for _, x := range e.Gone {
		f.Gone = append(f.Gone, machine.ImportPlace{Path: text.Printable(x.Dir), Origins: []machine.Origin{x.At}})
	}
	f.Variables, f.Shadows, f.Clashes = append(variables.OfShell(h), python.AtStart(h, e.Sites)...), python.Shadows(h, o.Dir, e), packages.Clashes(h, e.Dists)
	f.Elsewhere = python.StartedHere(h, o.Dir, func(name string) bool { return name == "CUDA_VISIBLE_DEVICES" })
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_LIBCUDA_PATH"} {
		if at := h.Env[name]; at != "" && h.Abs(at) && !h.Exists(at) {
			f.Notes = append(f.Notes, name+" is not there")
		}
	}
	if venv {
		if f.Base, f.Python = cfg.Home, e.Fault(h, cfg.Home); f.Python == machine.PythonOther {
			f.Base = h.Resolved(python.Program(h, e.Dir))
		}
	}
	if line, _, _ := strings.Cut(h.Text(e.Dir+"/bin/pip"), "\n"); strings.HasPrefix(line, "#!/") && !strings.HasPrefix(line, "#!/bin/") && venv {
		if program := strings.TrimSpace(strings.TrimPrefix(line, "#!")); h.ResolvedDir(path.Dir(program)) != h.ResolvedDir(e.Dir+"/bin") {
			f.Pip = text.Printable(program)
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
	for _, i := range f.Imports {
		if i.Place == machine.InEnvironment {
			torch := path.Dir(i.Path)
			libraries.Follow(h, f, torch, e, &wait)
			f.Options = append(libraries.AllocOptions(h, torch), libraries.LogNames(h, torch)...)
			if i := slices.IndexFunc(e.Dists, func(d python.Dist) bool { return d.Name == "torch" && d.Info == "" }); i >= 0 {
				f.Bare = e.Dists[i].Version
			}
			break
		}
	}
	return f
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
