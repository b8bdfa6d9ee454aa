// Package tools finds the programs that a plan or a diagnosis may name, and CUDA toolkits,
// without running one.
package tools

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/xslices"
)

// toolNames are the programs that a plan or a diagnosis may name.
var toolNames = []string{
	"uv", "pip", "pip3", "conda", "mamba", "micromamba", "pixi", "poetry", "pyenv",
	"apt-get", "dnf", "yum", "zypper", "pacman", "apk", "nix", "sudo", "doas",
	"nvidia-smi", "nvidia-modprobe", "nvidia-persistenced", "nv-fabricmanager", "ubuntu-drivers", "mokutil", "dkms", "modprobe", "nvcc",
	"rocminfo", "amd-smi", "xpu-smi",
	"gcc", "cc", "git", "docker", "podman", "nvidia-ctk", "sbatch", "qsub", "bsub", "flux",
}

var toolSet = xslices.Set(toolNames, func(name string) string { return name })

// Find finds programs on PATH, and those of the administrator where a user's
// PATH lacks them. Conda often is a shell function alone; CONDA_EXE names it.
func Find(h *sysroot.Host, on Programs) (out []machine.Tool) {
	for _, name := range toolNames {
		p := on.first(name)
		if p == "" && (strings.HasSuffix(name, "conda") || strings.HasSuffix(name, "mamba")) {
			p = condaProgram(h, name)
		}
		if p == "" && name == "uv" {
			p = firstProgram(h, h.Home+"/.local/bin/uv", h.Home+"/.cargo/bin/uv")
		}
		if p != "" {
			out = append(out, machine.Tool{Name: name, Path: p, Version: toolVersion(h, name, p)})
		}
	}
	return out
}

// systemDirs complete PATH for the programs of the system.
var systemDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Programs are the tools that lie on PATH by name, each with every place.
type Programs map[string][]string

// OnPath finds the tools in PATH, and in the system's directories after it. Each
// directory is listed once, instead of asking it for every tool.
func OnPath(h *sysroot.Host) Programs {
	on := Programs{}
	for _, dir := range programDirs(h) {
		for _, file := range h.Once(dir) {
			tool := say.Either(h.OS == "windows", strings.TrimSuffix(strings.ToLower(file), ".exe"), file)
			if !toolSet[tool] || !h.IsProgram(path.Join(dir, file)) {
				continue
			}
			if program := behindShim(h, dir, file); program != "" {
				on[tool] = append(on[tool], program)
			}
		}
	}
	return on
}

func (on Programs) first(name string) string {
	if len(on[name]) > 0 {
		return on[name][0]
	}
	return ""
}

// behindShim is the program that a file of a directory stands for: itself, but for
// pyenv's shims, which answer only where the version that .python-version or
// PYENV_VERSION names has the program. What they stand for runs everywhere: that
// of the chosen version, else of any; "" none has it.
func behindShim(h *sysroot.Host, dir, file string) string {
	if path.Base(dir) != "shims" {
		return path.Join(dir, file)
	}
	root := python.PyenvRoot(h)
	if root == "" || dir != root+"/shims" {
		return path.Join(dir, file)
	}
	found := ""
	python.PyenvVersions(h, root, func(bin string) {
		if found == "" && h.IsProgram(bin+"/"+file) {
			found = bin + "/" + file
		}
	})
	return found
}

func programDirs(h *sysroot.Host) []string {
	dirs := h.PathDirs()
	if h.OS == "windows" {
		return dirs
	}
	for _, d := range systemDirs {
		dirs = xslices.Add(dirs, d)
	}
	return dirs
}

func firstProgram(h *sysroot.Host, paths ...string) string {
	p, _ := xslices.Find(paths, func(p string) bool { return h.Abs(p) && h.IsProgram(p) })
	return p
}

func condaProgram(h *sysroot.Host, name string) string {
	exe := map[string]string{"conda": h.Env["CONDA_EXE"], "mamba": h.Env["MAMBA_EXE"], "micromamba": h.Env["MAMBA_EXE"]}[name]
	if exe != "" && path.Base(exe) == name {
		if p := firstProgram(h, exe); p != "" {
			return p
		}
	}
	for _, root := range python.CondaRoots(h) {
		if p := firstProgram(h, root+"/bin/"+name, root+"/Scripts/"+name+".exe"); p != "" {
			return p
		}
	}
	return ""
}

// toolVersion reads the version of a tool from the files around it; "" where
// only running it would tell.
func toolVersion(h *sysroot.Host, name, file string) string {
	real := h.Resolved(file)
	prefix := path.Dir(path.Dir(real))
	switch name {
	case "conda", "mamba":
		return python.CondaPackage(h, prefix, name)
	case "pip", "pip3", "uv":
		for _, site := range python.SitePackages(h, prefix) {
			for _, d := range slices.Sorted(slices.Values(h.Once(site))) {
				if rest, ok := strings.CutPrefix(d, strings.TrimSuffix(name, "3")+"-"); ok && strings.HasSuffix(rest, ".dist-info") {
					return strings.TrimSuffix(rest, ".dist-info")
				}
			}
		}
	}
	return ""
}

// Privilege is root, sudo where this user is in a group that may become root, or
// none. It is unknown below a root directory.
func Privilege(h *sysroot.Host, on Programs) string {
	switch {
	case h.Root != "" || h.OS == "windows":
		return ""
	case os.Geteuid() == 0:
		return "root"
	case len(on["sudo"]) == 0 && len(on["doas"]) == 0:
		return "none"
	}
	groups, _ := os.Getgroups()
	for line := range strings.Lines(h.Text("/etc/group")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || !slices.Contains([]string{"sudo", "wheel", "admin"}, f[0]) {
			continue
		}
		id, err := strconv.Atoi(f[2])
		if err == nil && slices.Contains(groups, id) || slices.Contains(strings.Split(f[3], ","), h.Env["USER"]) {
			return "sudo"
		}
	}
	return say.Either(h.OS == "macos" && slices.Contains(groups, 80), "sudo", "none") // admin
}
