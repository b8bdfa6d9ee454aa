// Package variables reads the environment variables that matter, without secrets, and the
// places that set them: profiles, modules, units, conda, containers. It runs none of them:
// what only running would tell is unknown.
package variables

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/platform"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A setter is a file that may set variables of this process, and what it is.
type setter struct {
	kind, name, file, language string
}

// MaxDirs is how many entries of a list are looked at: nobody's LD_LIBRARY_PATH is longer
// on purpose.
const MaxDirs = 64

// profiles are the files in which people set variables, as a shell reads them. "~"
// is the home directory.
var profiles = []string{
	"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin",
	"/etc/profile", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh/zshenv", "/etc/zsh/zshrc", "/etc/zshenv",
}

// An Origins finds which files put entries into a list variable. It reads them
// once, when the first question comes.
type Origins struct {
	Host *sysroot.Host
	sets map[string][]setLine // by variable
}

type setLine struct {
	setter
	Assignment
}

func (o *Origins) read(variable string) []setLine {
	if o.sets == nil {
		o.sets = map[string][]setLine{}
		seen := map[string]bool{} // /usr/lib/environment.d has a link to /etc/environment
		for _, s := range setters(o.Host) {
			file := o.Host.Resolved(atHome(o.Host, s.file))
			if seen[file] {
				continue
			}
			seen[file] = true
			text := string(o.Host.Bytes(atHome(o.Host, s.file), 1<<20))
			for _, a := range Assignments(text, s.language, func(name string) string { return o.Host.Env[name] }) {
				o.sets[a.Variable] = append(o.sets[a.Variable], setLine{s, a})
			}
		}
	}
	return o.sets[variable]
}

// atHome replaces the "~" of a path.
func atHome(h *sysroot.Host, file string) string {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		return h.Home + "/" + rest
	}
	return file
}

// Of returns where a variable's entry comes from; what names it as a whole path
// first, then what only holds it literally.
func (o *Origins) Of(variable, entry string) (out []machine.Origin) {
	out = o.inLines(variable, func(l setLine) bool { return slices.Contains(l.dirs, path.Clean(entry)) })
	if len(out) == 0 {
		out = o.inLines(variable, func(l setLine) bool { return names(l.Text, entry) })
	}
	if len(out) > 0 {
		return out
	}
	return ownState(o.Host, variable, func(list string, _ bool) bool {
		return slices.ContainsFunc(strings.Split(list, ":"), func(d string) bool { return d != "" && path.Clean(d) == path.Clean(entry) })
	})
}

// inLines are the first lines that set a variable in some way.
func (o *Origins) inLines(variable string, is func(setLine) bool) (out []machine.Origin) {
	for _, l := range o.read(variable) {
		if is(l) && len(out) < 8 {
			out = xslices.Add(out, machine.Origin{Kind: l.kind, Name: text.Printable(l.name), File: text.Printable(l.file), Line: l.Line})
		}
	}
	return out
}

// names reports whether a line holds entry as a whole path, not as the beginning
// of a longer one.
func names(line, entry string) bool {
	for {
		before, after, ok := strings.Cut(line, entry)
		if !ok {
			return false
		}
		begins := path.IsAbs(entry) || before == "" || strings.ContainsRune(":\"' \t=", rune(before[len(before)-1]))
		if begins && (after == "" || strings.ContainsRune(":\"' \t;}", rune(after[0]))) {
			return true
		}
		line = after
	}
}

// setters lists what may have set a variable of this process, the most particular
// first.
func setters(h *sysroot.Host) []setter {
	list := slices.Concat(moduleFiles(h), condaFiles(h))
	if venv := h.Env["VIRTUAL_ENV"]; h.Abs(venv) {
		list = append(list, setter{machine.OriginVenv, path.Base(venv), venv + "/bin/activate", ShellText})
	}
	// what direnv, uv, docker compose and editors read
	for _, file := range []string{h.Env["DIRENV_FILE"], h.Project + "/.envrc", h.Project + "/.env"} {
		if s := (setter{machine.OriginProfile, "", file, ShellText}); h.Abs(file) && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	list = append(list, unitFiles(h)...)
	named := func(language string, files ...string) {
		for _, f := range files {
			if h.Home != "" || !strings.HasPrefix(f, "~") {
				list = append(list, setter{machine.OriginProfile, "", f, language})
			}
		}
	}
	named(ShellText, profiles...)
	named(fishText, "~/.cshrc", "~/.tcshrc", "~/.login", "~/.config/fish/config.fish")
	if h.Home != "" {
		list = append(list, settersIn(h, machine.OriginProfile, "~/.config/fish/conf.d", ".fish", fishText)...)
		list = append(list, settersIn(h, machine.OriginEnvironmentD, "~/.config/environment.d", ".conf", ShellText)...)
	}
	list = append(list, settersIn(h, machine.OriginProfile, "/etc/profile.d", ".sh", ShellText)...)
	list = append(list, settersIn(h, machine.OriginProfile, "/etc/profile.d", ".csh", fishText)...)
	named(ShellText, "~/.nccl.conf", "/etc/nccl.conf")
	list = append(list, setter{machine.OriginEnvironment, "", "/etc/environment", ShellText})
	for _, d := range []string{"/etc/environment.d", "/run/environment.d", "/usr/lib/environment.d"} {
		list = append(list, settersIn(h, machine.OriginEnvironmentD, d, ".conf", ShellText)...)
	}
	return list
}

func settersIn(h *sysroot.Host, kind, dir, suffix, language string) []setter {
	names := xslices.Filter(h.Names(atHome(h, dir)), func(name string) bool { return strings.HasSuffix(name, suffix) })
	return text.Each(names, func(name string) setter { return setter{kind, "", dir + "/" + name, language} })
}

// moduleFiles are the files of the loaded environment modules: Lmod and Tcl's name
// them in _LMFILES_, in the order of LOADEDMODULES; else they are below MODULEPATH.
func moduleFiles(h *sysroot.Host) (out []setter) {
	loaded := strings.Split(h.Env["LOADEDMODULES"], ":")
	files := strings.Split(h.Env["_LMFILES_"], ":")
	for i, name := range loaded {
		if name == "" || len(out) == MaxDirs {
			continue
		}
		file := ""
		if len(files) == len(loaded) && h.Abs(files[i]) {
			file = files[i]
		}
		for dir := range strings.SplitSeq(h.Env["MODULEPATH"], ":") {
			for _, f := range []string{dir + "/" + name + ".lua", dir + "/" + name} {
				if file == "" && h.Abs(dir) && h.Exists(f) {
					file = f
				}
			}
		}
		if file == "" {
			continue
		}
		language := say.Either(strings.HasSuffix(file, ".lua"), luaText, tclText)
		out = append(out, setter{machine.OriginModule, name, file, language})
	}
	return out
}

// condaFiles are the scripts that the active conda environment runs when it is
// activated.
func condaFiles(h *sysroot.Host) (out []setter) {
	prefix := h.Env["CONDA_PREFIX"]
	if !h.Abs(prefix) {
		return nil
	}
	for suffix, language := range map[string]string{".sh": ShellText, ".fish": fishText, ".csh": fishText} {
		for _, s := range settersIn(h, machine.OriginConda, prefix+"/etc/conda/activate.d", suffix, language) {
			s.name = path.Base(prefix)
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b setter) int { return strings.Compare(a.file, b.file) })
	return out
}

// ownState finds what a variable holds where it is kept as a value: `conda env config vars`, and
// the environment that a container was started with.
func ownState(h *sysroot.Host, variable string, holds func(value string, set bool) bool) []machine.Origin {
	if prefix := h.Env["CONDA_PREFIX"]; h.Abs(prefix) {
		var state struct {
			Vars map[string]string `json:"env_vars"`
		}
		if json.Unmarshal(h.Bytes(prefix+"/conda-meta/state", 1<<20), &state) == nil {
			if v, set := state.Vars[variable]; holds(v, set) {
				return []machine.Origin{{Kind: machine.OriginConda, Name: text.Printable(path.Base(prefix)), File: text.Printable(prefix + "/conda-meta/state")}}
			}
		}
	}
	if platform.InContainer(h) {
		for pair := range strings.SplitSeq(string(h.Bytes("/proc/1/environ", 1<<20)), "\x00") {
			if list, ok := strings.CutPrefix(pair, variable+"="); ok && holds(list, true) {
				return []machine.Origin{{Kind: machine.OriginContainer, File: "/proc/1/environ"}}
			}
		}
	}
	return nil
}
