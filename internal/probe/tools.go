package probe

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/xslices"
)

// toolNames are the programs that a plan or a diagnosis may name.
var toolNames = []string{
	"uv", "pip", "pip3", "conda", "mamba", "micromamba", "pixi", "poetry", "pyenv",
	"apt-get", "dnf", "yum", "zypper", "pacman", "apk", "nix", "sudo", "doas",
	"nvidia-smi", "nvidia-modprobe", "nvidia-persistenced", "nv-fabricmanager", "ubuntu-drivers", "mokutil", "dkms", "modprobe", "nvcc", "rocminfo", "amd-smi", "xpu-smi",
	"gcc", "cc", "git", "docker", "podman", "nvidia-ctk", "sbatch", "qsub", "bsub", "flux",
}

var toolSet = func() map[string]bool {
	set := xslices.Set(toolNames, func(name string) string { return name })
	return set
}()

// tools finds programs on PATH, and those of the administrator where a user's
// PATH lacks them. Conda often is a shell function alone; CONDA_EXE names it.
func (h *host) tools() []machine.Tool {
	var out []machine.Tool
	for _, name := range toolNames {
		p := h.firstOnPath(name)
		if p == "" && strings.HasSuffix(name, "conda") || p == "" && name == "mamba" {
			p = h.condaProgram(name)
		}
		if p == "" && name == "uv" {
			p = h.firstProgram(h.home+"/.local/bin/uv", h.home+"/.cargo/bin/uv")
		}
		if p != "" {
			out = append(out, machine.Tool{Name: name, Path: p, Version: h.toolVersion(name, p)})
		}
	}
	return out
}

// systemDirs complete PATH for the programs of the system.
var systemDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// onPath returns every place of PATH, and of the system's directories after it,
// where a tool of that name lies. Each directory is listed once, instead of
// asking it for every tool.
func (h *host) onPath(name string) []string {
	if h.found == nil {
		h.found = map[string][]string{}
		for _, dir := range h.programDirs() {
			for _, file := range h.once(dir) {
				tool := file
				if h.os == "windows" {
					tool = strings.TrimSuffix(strings.ToLower(file), ".exe")
				}
				if !toolSet[tool] || !h.isProgram(path.Join(dir, file)) {
					continue
				}
				if program := h.behindShim(dir, file); program != "" {
					h.found[tool] = append(h.found[tool], program)
				}
			}
		}
	}
	return h.found[name]
}

// behindShim is the program that a file of a directory stands for: itself, but for
// pyenv's shims, which answer only where the version that .python-version or
// PYENV_VERSION names has the program. What they stand for runs everywhere: that
// of the chosen version, else of any; "" none has it.
func (h *host) behindShim(dir, file string) string {
	if path.Base(dir) != "shims" {
		return path.Join(dir, file)
	}
	root := h.pyenvRoot()
	if root == "" || dir != root+"/shims" {
		return path.Join(dir, file)
	}
	found := ""
	h.pyenvVersions(root, func(bin string) {
		if found == "" && h.isProgram(bin+"/"+file) {
			found = bin + "/" + file
		}
	})
	return found
}

func (h *host) programDirs() []string {
	dirs := h.pathDirs()
	if h.os == "windows" {
		return dirs
	}
	for _, d := range systemDirs {
		dirs = xslices.Add(dirs, d)
	}
	return dirs
}

func (h *host) firstOnPath(name string) string {
	if all := h.onPath(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

func (h *host) firstProgram(paths ...string) string {
	for _, p := range paths {
		if h.abs(p) && h.isProgram(p) {
			return p
		}
	}
	return ""
}

func (h *host) condaProgram(name string) string {
	exe := map[string]string{"conda": h.env["CONDA_EXE"], "mamba": h.env["MAMBA_EXE"], "micromamba": h.env["MAMBA_EXE"]}[name]
	if exe != "" && path.Base(exe) == name {
		if p := h.firstProgram(exe); p != "" {
			return p
		}
	}
	for _, root := range h.condaRoots() {
		if p := h.firstProgram(root+"/bin/"+name, root+"/Scripts/"+name+".exe"); p != "" {
			return p
		}
	}
	return ""
}

// toolVersion reads the version of a tool from the files around it; "" where
// only running it would tell.
func (h *host) toolVersion(name, file string) string {
	real := h.resolved(file)
	prefix := path.Dir(path.Dir(real))
	switch name {
	case "conda", "mamba":
		return h.condaPackage(prefix, name)
	case "pip", "pip3", "uv":
		for _, site := range h.sitePackages(prefix) {
			for _, d := range slices.Sorted(slices.Values(h.once(site))) {
				if rest, ok := strings.CutPrefix(d, strings.TrimSuffix(name, "3")+"-"); ok && strings.HasSuffix(rest, ".dist-info") {
					return strings.TrimSuffix(rest, ".dist-info")
				}
			}
		}
	}
	return ""
}

// privilege is root, sudo where this user is in a group that may become root, or
// none. It is unknown below a root directory.
func (h *host) privilege() string {
	switch {
	case h.root != "" || h.os == "windows":
		return ""
	case os.Geteuid() == 0:
		return "root"
	case h.firstOnPath("sudo") == "" && h.firstOnPath("doas") == "":
		return "none"
	}
	groups, _ := os.Getgroups()
	for line := range strings.Lines(h.text("/etc/group")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || !slices.Contains([]string{"sudo", "wheel", "admin"}, f[0]) {
			continue
		}
		id, err := strconv.Atoi(f[2])
		if err == nil && slices.Contains(groups, id) || slices.Contains(strings.Split(f[3], ","), h.env["USER"]) {
			return "sudo"
		}
	}
	if h.os == "macos" && slices.Contains(groups, 80) { // admin
		return "sudo"
	}
	return "none"
}
