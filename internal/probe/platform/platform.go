// Package platform reads what wheels are built for: the system, its C library and
// architecture, and the kind of place that it is (a container, WSL, a Jetson), with the
// limits that it sets.
package platform

import (
	"cmp"
	"debug/elf"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/loader"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// Read reads what wheels are built for. The environment is the host's kind
// as far as files tell; that a login node has no GPU is decided later.
func Read(h *sysroot.Host) machine.Platform {
	if h.OS != "linux" {
		return foreign(h)
	}
	p := machine.Platform{OS: "linux", Arch: Arch(h)}
	release := parseOSRelease(h.FirstText("/etc/os-release", "/usr/lib/os-release"))
	p.Distro, p.DistroLike, p.DistroVersion = release["ID"], release["ID_LIKE"], release["VERSION_ID"]
	if p.Distro == "" {
		oldRelease(h, &p)
	}
	p.Libc = libc(h)
	p.Kernel = text.Printable(h.Text("/proc/sys/kernel/osrelease"))
	p.BootID = h.Text("/proc/sys/kernel/random/boot_id")
	p.L4T = l4t(h)
	p.Environment = environment(h, p)
	p.SecureBoot = secureBoot(h)
	p.Product = product(h)
	return p
}

// product is what a cloud's firmware calls its machine; of other makers nothing is kept.
// Sources: docs.aws.amazon.com/ec2, identify instances; cloud.google.com/compute/docs,
// detect a VM; systemd, src/basic/virt.c and the asset tag that Azure gives its chassis.
func product(h *sysroot.Host) string {
	read := func(name string) string {
		return text.Printable(strings.TrimSpace(h.Text("/sys/class/dmi/id/" + name)))
	}
	switch vendor, name := read("sys_vendor"), read("product_name"); {
	case vendor == "Amazon EC2":
		return vendor + " " + name // the type, such as g5.xlarge
	case name == "Google Compute Engine":
		return name
	case vendor == "Microsoft Corporation" && read("chassis_asset_tag") == "7783-7084-3265-9085-8269-3286-77":
		return "Microsoft Azure"
	}
	return ""
}

// foreign is the platform of a system that is not Linux.
func foreign(h *sysroot.Host) machine.Platform {
	os, arch := machine.NormalPlatform(h.OS, nativeArch(h))
	return machine.Platform{OS: os, Arch: arch, DistroVersion: systemVersion(), Environment: machine.Bare}
}

// parseOSRelease reads os-release(5): NAME=value lines, values perhaps quoted.
func parseOSRelease(s string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(s) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		value = strings.NewReplacer(`\"`, `"`, `\$`, `$`, "\\`", "`", `\\`, `\`).Replace(value)
		if len(value) <= 200 {
			out[name] = text.Printable(value)
		}
	}
	return out
}

var redhatRelease = lazy.Regexp(`^(CentOS|Red Hat|Scientific|Rocky|AlmaLinux|Oracle)[^0-9]*([0-9]+(?:\.[0-9]+)*)`)

// oldRelease reads what distributions had before os-release.
func oldRelease(h *sysroot.Host, p *machine.Platform) {
	if m := redhatRelease().FindStringSubmatch(h.FirstText("/etc/centos-release", "/etc/redhat-release")); m != nil {
		others := map[string]string{"Oracle": "ol", "Red Hat": "rhel"} // than in small letters
		p.Distro, p.DistroLike, p.DistroVersion = cmp.Or(others[m[1]], strings.ToLower(m[1])), "rhel fedora", m[2]
		return
	}
	if v := h.Text("/etc/alpine-release"); v != "" {
		p.Distro, p.DistroVersion = "alpine", text.Printable(v)
		return
	}
	if v := h.Text("/etc/debian_version"); v != "" {
		p.Distro, p.DistroVersion = "debian", text.Printable(v)
	}
}

// Arch is the architecture of the machine's programs: of this process, or of the
// shell below a root.
func Arch(h *sysroot.Host) string {
	if h.Root != "" {
		for _, sh := range []string{"/bin/sh", "/usr/bin/env", "/sbin/init"} {
			if a := ELFArch(h.Bytes(sh, 64)); a != "" {
				return a
			}
		}
	}
	_, arch := machine.NormalPlatform("linux", runtime.GOARCH)
	return say.Either(arch == "386" && strings.Contains(h.Text("/proc/cpuinfo"), " lm "), "x86_64", arch)
}

// ELFArch is the processor of an ELF header, as [machine.Platform] names it.
func ELFArch(header []byte) string {
	m, ok := loader.Arch(header)
	if !ok {
		return ""
	}
	return map[elf.Machine]string{
		elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64", elf.EM_386: "i686", elf.EM_ARM: "armv7l", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_RISCV: "riscv64",
	}[m]
}

// environment tells bare metal (and virtual machines) from places where a
// driver is somebody else's matter. The order matters: WSL with its GPU device
// is WSL even inside a container of Docker Desktop, and a Jetson's wheels are a
// Jetson's in a container too.
func environment(h *sysroot.Host, p machine.Platform) string {
	wsl := strings.Contains(strings.ToLower(h.Text("/proc/version")+p.Kernel), "microsoft")
	switch {
	case p.L4T != "" || Tegra(h) != "":
		return machine.Jetson
	case h.Exists("/dev/dxg"):
		return machine.WSL2
	case imageBuild(h):
		return machine.ContainerBuild
	case InContainer(h):
		return machine.Container
	case wsl:
		if !strings.Contains(p.Kernel, "WSL2") {
			h.Note("WSL 1 has no GPU; `wsl --set-version <distribution> 2` in Windows converts this one")
		} else {
			h.Note("WSL without /dev/dxg: Windows offers it no GPU")
		}
		return machine.WSL2
	}
	return machine.Bare
}

var containerGroup = lazy.Regexp(`docker|kubepods|containerd|libpod|/lxc|machine\.slice/|/garden/|ecs/|actions_job`)

// InContainer looks for the marks that engines leave inside of a container.
func InContainer(h *sysroot.Host) bool {
	files := []string{"/.dockerenv", "/run/.containerenv", "/.singularity.d", "/run/systemd/container",
		"/run/host/container-manager", "/var/run/secrets/kubernetes.io"}
	set := []string{"container", "KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}
	return slices.ContainsFunc(files, h.Exists) || slices.ContainsFunc(set, func(name string) bool { return h.Env[name] != "" }) ||
		containerGroup().MatchString(h.Text("/proc/1/cgroup"))
}

// imageBuild looks for the marks of a container that builds an image: what is
// installed there runs elsewhere, so no GPU and no driver is the normal case.
// The classic builder of Docker before 23 leaves no mark.
func imageBuild(h *sysroot.Host) bool {
	switch {
	case strings.Contains(h.Text("/run/.containerenv"), `engine="buildah`): // podman build, buildah
		return true
	case strings.Contains(h.Text("/proc/self/mountinfo"), "/buildkit/"), // its hosts and resolv.conf
		slices.Contains(strings.Fields(h.Text("/etc/hosts")), "buildkitsandbox"), // the host name that it gives
		h.Text("/etc/hostname") == "buildkitsandbox",
		h.Text("/proc/sys/kernel/hostname") == "buildkitsandbox":
		return true
	case h.Exists("/kaniko/executor"):
		return true
	}
	// %post of a definition file
	return h.Env["APPTAINER_ROOTFS"] != "" || h.Env["SINGULARITY_ROOTFS"] != ""
}

// secureBoot reads the EFI variable: four bytes of attributes, one of value.
// nil: this system does not tell.
func secureBoot(h *sysroot.Host) *bool {
	const v = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	data := h.Bytes(v, 5)
	on := len(data) == 5 && data[4] == 1
	if len(data) < 5 && (h.Exists("/sys/firmware/efi") || !h.Exists("/sys/class")) {
		return nil
	}
	return &on // no EFI: there is none to secure
}

var l4tRelease = lazy.Regexp(`R(\d+) \(release\), REVISION: (\d+(?:\.\d+)*)`)

// l4t returns the release of Linux for Tegra on a Jetson: 36.4.3 from
// "# R36 (release), REVISION: 4.3, …".
func l4t(h *sysroot.Host) string {
	m := l4tRelease().FindStringSubmatch(h.Text("/etc/nv_tegra_release"))
	if m == nil {
		return ""
	}
	return version.ReadDotted(m[1] + "." + m[2]).String()
}

var tegraChip = lazy.Regexp(`nvidia,(tegra\d+)`)

// Tegra returns the chip of a Jetson, such as tegra234, from its device tree.
func Tegra(h *sysroot.Host) string {
	if chip := tegraChip.Group(h.Text("/proc/device-tree/compatible")); chip != "" {
		return chip
	}
	if f := strings.ToLower(h.Text("/sys/devices/soc0/family")); strings.HasPrefix(f, "tegra") {
		return "tegra" + strings.Trim(h.Text("/sys/devices/soc0/soc_id"), "0x")
	}
	return ""
}
