package python

import (
	"encoding/json"
	"path"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

const maxKernels = 50

// Kernels reads which Pythons Jupyter starts for notebooks, and the torch of each. It starts
// nothing. Source: docs.jupyter.org, directories; jupyter-client, kernel specs.
func Kernels(h *sysroot.Host) (out []machine.Kernel) {
	for i, dir := range jupyterDirs(h) {
		for _, name := range h.Names(dir + "/kernels") {
			file := dir + "/kernels/" + name + "/kernel.json"
			argv := readKernelSpec(h.Bytes(file, 1<<16)).Argv
			if len(out) == maxKernels || len(argv) == 0 {
				continue
			}
			python := argv[0]
			if !h.Abs(python) || !strings.HasPrefix(path.Base(strings.ReplaceAll(python, `\`, "/")), "python") {
				continue // Jupyter's own Python, another language, or a program that starts one
			}
			k := machine.Kernel{Name: text.Printable(name), Spec: text.Printable(file), Python: text.Printable(python), Own: i == 0}
			k.Torch, k.CUDA = torchOf(h, python)
			out = append(out, k)
		}
	}
	return out
}

// StartedHere are the variables of some names that a program gets which is started here: by
// the kernel of a notebook, by what reads .env (editors, docker compose, python-dotenv), by
// a script of the project that sets it itself.
func StartedHere(h *sysroot.Host, dir string, named func(string) bool) (out []machine.Variable) {
	add := func(name, value string, at machine.Origin) {
		if _, set := h.Env[name]; named(name) && !set && len(out) < sysroot.MaxNamed {
			at.File = text.Printable(at.File)
			out = append(out, machine.Variable{Name: name, Value: variables.Redact(value), Origins: []machine.Origin{at}})
		}
	}
	for _, d := range jupyterDirs(h) {
		for _, kernel := range h.Names(d + "/kernels") {
			file := d + "/kernels/" + kernel + "/kernel.json"
			for name, value := range readKernelSpec(h.Bytes(file, 1<<16)).Env {
				add(name, value, machine.Origin{Kind: machine.OriginKernel, Name: text.Printable(kernel), File: file})
			}
		}
	}
	for _, name := range h.Names(dir) {
		switch {
		case name == ".env":
			for _, a := range variables.Assignments(string(h.Bytes(dir+"/.env", 64<<10)), variables.ShellText, func(string) string { return "" }) {
				add(a.Variable, a.Value, machine.Origin{Kind: machine.OriginProfile, File: dir + "/.env", Line: a.Line})
			}
		case strings.HasSuffix(name, ".py"):
			for _, a := range variables.InPython(h.Bytes(dir+"/"+name, 64<<10)) {
				add(a.Variable, a.Value, machine.Origin{Kind: machine.OriginPython, File: dir + "/" + name, Line: a.Line})
			}
		}
	}
	return out
}

// A kernelSpec is what Jupyter reads of a kernel's file.
type kernelSpec struct {
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"`
}

// readKernelSpec reads one; what is no such file says nothing.
func readKernelSpec(data []byte) (spec kernelSpec) {
	_ = json.Unmarshal(data, &spec)
	return spec
}

// jupyterDirs are the directories of Jupyter's data, the user's own first, then the active
// environment's.
func jupyterDirs(h *sysroot.Host) []string {
	own := h.Env["JUPYTER_DATA_DIR"]
	switch {
	case own != "":
	case h.OS == "windows":
		own = h.Env["APPDATA"] + "/jupyter"
	case h.OS == "darwin" || h.OS == "macos":
		own = h.Home + "/Library/Jupyter"
	case h.Env["XDG_DATA_HOME"] != "":
		own = h.Env["XDG_DATA_HOME"] + "/jupyter"
	default:
		own = h.Home + "/.local/share/jupyter"
	}
	if h.OS == "windows" {
		return []string{own, h.Env["PROGRAMDATA"] + "/jupyter"}
	}
	out := []string{own}
	for _, prefix := range []string{h.Env["VIRTUAL_ENV"], h.Env["CONDA_PREFIX"]} {
		if h.Abs(prefix) {
			out = append(out, prefix+"/share/jupyter")
		}
	}
	return append(out, "/usr/local/share/jupyter", "/usr/share/jupyter")
}

// torchOf looks where a Python finds torch: in its environment, else, for one of the
// system, where pip and the distribution put packages.
func torchOf(h *sysroot.Host, python string) (release string, gpu bool) {
	prefix := path.Dir(path.Dir(strings.ReplaceAll(python, `\`, "/")))
	places := []string{prefix + "/Lib"}
	if !IsEnv(h, prefix) {
		places = append(places, h.Home+"/.local/lib", "/usr/local/lib", "/usr/lib")
	} else if h.OS == "windows" {
		places = append(places, path.Dir(python)+"/Lib") // conda's python.exe lies beside it
	}
	if h.OS != "windows" {
		places = append(places, prefix+"/lib")
	}
	for _, dir := range places {
		versions := []string{"."}
		versions = append(versions, xslices.Filter(h.Names(dir), func(name string) bool { return strings.HasPrefix(name, "python3") })...)
		for _, v := range versions {
			for _, site := range []string{"site-packages", "dist-packages"} {
				info := path.Join(dir, v, site, "torch")
				if !h.IsDir(info) {
					continue
				}
				d := Dist{Info: info} // its version.py lies beside it, as a dist-info does
				d.Version = "unknown"
				torchVersion(h, &d)
				return text.Printable(d.Version), d.CUDA == nil || *d.CUDA != ""
			}
		}
	}
	return "", false
}
