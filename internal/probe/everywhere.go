package probe

import (
	"os"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/packages"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

const (
	maxWalked = 30000 // directories that a search looks into
	maxFound  = 500   // environments
)

// Places finds the Python environments of this machine that this user can see: those
// that are active, that conda, pyenv, pipx, poetry, uv and others keep, that Jupyter
// names, that run now, and what lies a few directories below the home and the project.
// closed are directories that could not be looked into. It starts nothing.
func Places(o Options) (out []machine.PythonPlace, closed []string) {
	s := &finder{h: o.host(), seen: map[string]bool{}}
	s.kept(o)
	for _, dir := range []string{o.Dir, s.h.Home} {
		s.walk(dir, 4)
	}
	for _, dir := range []string{"/opt", "/srv", "/workspace", "/app", "/venv", "/usr/local/share", "/home", "/mnt", "/data"} {
		s.walk(dir, 2)
	}
	for _, p := range python.Find(s.h, python.Choice{Venv: "/nowhere", Named: true}).Pythons {
		prefix := path.Dir(path.Dir(s.h.Resolved(p.Path)))
		if !s.add(path.Dir(path.Dir(p.Path))) && !s.seen[prefix] {
			s.seen[prefix] = true
			s.out = append(s.out, machine.PythonPlace{Dir: prefix, Kind: p.Source, Python: p.Path})
		}
	}
	slices.SortStableFunc(s.out, func(a, b machine.PythonPlace) int { return strings.Compare(a.Dir, b.Dir) })
	return s.out, s.closed
}

// A finder finds environments, each once.
type finder struct {
	h      *sysroot.Host
	seen   map[string]bool
	out    []machine.PythonPlace
	closed []string
	walked int
}

// add takes a directory in where it is an environment, and reports whether it is one.
func (s *finder) add(dir string) bool {
	if dir == "" || !s.h.Abs(dir) || !python.IsEnv(s.h, dir) {
		return false
	}
	real := s.h.Resolved(path.Clean(dir))
	if s.seen[real] || len(s.out) >= maxFound {
		return true
	}
	s.seen[real] = true
	p := machine.PythonPlace{Dir: path.Clean(dir), Kind: "venv"}
	if s.h.IsDir(dir + "/conda-meta") {
		p.Kind = "conda"
	}
	if file := python.Program(s.h, dir); s.h.IsProgram(file) {
		p.Python = file
	}
	s.out = append(s.out, p)
	return true
}

// kept are the environments that programs keep or name.
func (s *finder) kept(o Options) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"} {
		s.add(s.h.Env[name])
	}
	if o.Venv != "" && o.Dir != "" {
		s.add(path.Join(o.Dir, o.Venv))
	}
	for line := range strings.Lines(s.h.Text(s.h.Home + "/.conda/environments.txt")) {
		s.add(strings.TrimSpace(line))
	}
	for _, root := range python.CondaRoots(s.h) {
		s.add(root)
		s.below(root+"/envs", 1)
	}
	if root := python.PyenvRoot(s.h); root != "" {
		s.below(root+"/versions", 1)
		for _, v := range s.h.Names(root + "/versions") {
			s.below(root+"/versions/"+v+"/envs", 1)
		}
	}
	share := s.h.Home + "/.local/share"
	for _, dir := range []string{
		share + "/uv/tools", share + "/pipx/venvs", s.h.Home + "/.local/pipx/venvs", share + "/virtualenvs", s.h.Home + "/.virtualenvs",
		s.h.Env["WORKON_HOME"], s.h.Home + "/.cache/pypoetry/virtualenvs", s.h.Home + "/.venvs", s.h.Home + "/Library/Caches/pypoetry/virtualenvs",
		s.h.Env["LOCALAPPDATA"] + "/pypoetry/Cache/virtualenvs",
	} {
		s.below(dir, 1)
	}
	s.below(share+"/hatch/env/virtual", 3)
	for _, k := range python.Kernels(s.h) {
		s.running([]string{k.Python})
	}
	if s.h.OS == "linux" {
		for _, pid := range s.h.Procs().PIDs() {
			s.running(s.h.Procs().Of(pid).Args())
		}
	}
}

// below takes in the environments so many levels below a directory.
func (s *finder) below(dir string, levels int) {
	if dir == "" || !s.h.Abs(dir) {
		return
	}
	for _, name := range s.h.Names(dir) {
		if !s.add(dir+"/"+name) && levels > 1 {
			s.below(dir+"/"+name, levels-1)
		}
	}
}

// running takes in the environment of a command line.
func (s *finder) running(args []string) {
	if len(args) > 0 && s.h.Abs(args[0]) && strings.HasPrefix(path.Base(args[0]), "python") {
		s.add(path.Dir(path.Dir(args[0])))
	}
}

// notEnvs are directories that hold no environments of people, or too much.
var notEnvs = []string{"node_modules", "site-packages", "__pycache__", "proc", "sys", "dev", "lost+found", "snap", "wandb", "checkpoints", "datasets"}

// walk searches below a directory. Of the hidden directories only those are looked
// into that people give to environments.
func (s *finder) walk(dir string, levels int) {
	if dir == "" || !s.h.Abs(dir) || s.walked >= maxWalked {
		return
	}
	s.walked++
	names := s.h.Names(dir)
	if len(names) == 0 && len(s.closed) < 50 {
		if _, err := os.ReadDir(s.h.Real(dir)); os.IsPermission(err) {
			s.closed = append(s.closed, text.Printable(dir))
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") && !slices.Contains([]string{".venv", ".env", ".envs"}, name) || slices.Contains(notEnvs, name) {
			continue
		}
		sub := path.Join(dir, name)
		if s.h.Link(sub) == "" && s.h.IsDir(sub) && !s.add(sub) && levels > 1 {
			s.walk(sub, levels-1)
		}
	}
}

// Inspected is what one place holds, and what is known of its torch's installation.
type Inspected struct {
	Place   machine.PythonPlace
	Machine machine.Machine
	Files   *machine.EnvFiles     // nil: there is no torch
	Torch   *machine.Installation // nil: there is none
}

// Inspect reads one place: m is the machine as a whole, o how it was looked at.
func Inspect(o Options, m machine.Machine, p machine.PythonPlace) Inspected {
	o.Use, o.Venv, o.Named, o.Python = false, p.Dir, true, ""
	if p.Kind != "venv" && p.Kind != "conda" {
		o.Venv, o.Python = "/nowhere", p.Python
	}
	h := o.host()
	found := python.Find(h, o.choice())
	out := Inspected{Place: p, Machine: m}
	out.Machine.Pythons, out.Machine.Installed = found.Pythons, found.Installed
	if p.Python != "" && len(found.Pythons) > 0 {
		out.Place.Version = found.Pythons[0].Version
	}
	for _, d := range found.Installed {
		if d.Name == "torch" {
			out.Files = EnvFiles(o)
			out.Torch = packages.Installation(h, d)
		}
	}
	out.Machine = machine.Normal(out.Machine)
	return out
}
