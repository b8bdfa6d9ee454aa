package installers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// driverSteps adds the steps of the driver and reports whether there are any.
// fix_driver always carries them, another decision only with --change-driver.
func (b *builder) driverSteps() bool {
	d := b.res.Driver
	switch b.res.Decision {
	case resolver.FixDriver:
	case resolver.UpgradeDriver, resolver.PinDriverBranch:
		if !b.r.ChangeDriver {
			return false
		}
	default:
		return false
	}
	before := len(b.steps)
	switch env := b.h.Platform.Environment; {
	case env == machine.WSL2 || b.h.Platform.OS == "windows":
		where := say.Either(env == machine.WSL2, "in Windows, since WSL has no driver of its own", "in Windows")
		b.manualDriver(where + ": " + driverAdvice(d))
	case env == machine.Container || env == machine.ContainerBuild:
		b.manualDriver("a container takes the driver of its host: there, " + driverAdvice(d) + ", and start the container with GPU access")
		b.steps[len(b.steps)-1].Manual.Reboot = false
	case env == machine.Jetson:
		b.manualDriver("the driver of a Jetson is part of L4T: flash or upgrade JetPack")
	case d.Action == "reboot":
		b.reboot("the installed driver and the loaded kernel module differ until then")
	case d.Action == "load":
		b.add(command("driver-load", "load the kernel module", "the driver is installed and not loaded", []string{"modprobe", "nvidia"}))
		b.add(command("driver-load-uvm", "load its memory module", "CUDA needs it", []string{"modprobe", "nvidia-uvm"}))
	default:
		b.packages(d)
	}
	return len(b.steps) > before
}

// driverAdvice says which driver to install, where it has to be done by hand.
func driverAdvice(d resolver.DriverChoice) string {
	switch {
	case d.Action == "pin":
		return "install NVIDIA's driver of branch " + d.Branch + ", the last that drives this GPU"
	case d.Action == "reboot" || d.Action == "load":
		return "restart, so that the installed driver is the one that runs"
	case d.Branch != "": // a newer one may have dropped the GPU
		return "install NVIDIA's driver of branch " + d.Branch
	case !d.Minimum.IsZero():
		return "install NVIDIA's driver " + d.Minimum.String() + " or newer"
	}
	return "install NVIDIA's driver of the current production branch"
}

func (b *builder) manualDriver(what string) {
	b.add(byHand("driver", "change the NVIDIA driver", "envfix installs no driver in this kind of system", what))
}

func (b *builder) reboot(why string) {
	b.add(plan.Step{ID: "reboot", Title: "reboot", Why: why, Manual: &plan.Manual{Reboot: true, Text: "reboot, then run `envfix apply --resume`"}})
}

// A recipe is how one distribution installs a driver.
type recipe struct {
	manager string      // apt-get, dnf, zypper
	name    string      // the package that brings the whole driver in one version
	headers string      // the package of the running kernel's headers; "" unknown
	prepare []plan.Step // repository, key, headers, branch
	flags   []string    // of the installing command
	lock    string      // what dnf locks before the installation; %s stands for the version or the branch
}

// packages plans the distribution's or NVIDIA's packages. The order is that of
// least harm: all that can fail fails before the driver that is there is touched.
func (b *builder) packages(d resolver.DriverChoice) {
	r, why := b.recipe(d)
	if r == nil {
		b.manualDriver(why)
		return
	}
	exact := b.exact(r, d)
	spec, version := r.name, ""
	if exact != "" {
		spec, version = r.name+r.words().between+exact, machine.Upstream(exact).String()
	}
	b.liftOwnHolds(r)
	for i, s := range r.prepare {
		if len(r.prepare) > 1 {
			s.Title += fmt.Sprintf(" (%d of %d)", i+1, len(r.prepare))
		}
		s.ID = fmt.Sprintf("driver-prepare-%d", i+1)
		b.add(s)
	}
	if r.manager == "dnf" {
		b.hold(r, fmt.Sprintf(r.lock, cmp.Or(version, d.Branch)))
	}
	b.add(rehearsal(r, spec, b.mayRemove()))
	b.add(command("driver-download", "fetch the driver's packages",
		"so that the network is out of the way when the system changes", r.command(r.words().download, spec)))
	install := command("driver",
		fmt.Sprintf("install driver %s, %s kernel module", cmp.Or(version, d.Branch), d.KernelModule),
		driverWhy(b.res), r.command(b.fetched(r), spec))
	if exact != "" {
		install.Effect = &plan.Effect{Package: r.name, Version: exact}
	} else {
		install.Why += "; exactly which " + d.Branch + " is what the repository holds then"
	}
	install.Undo = &plan.Run{Argv: append(strings.Fields(r.words().remove), r.name), Env: quiet(r.manager)}
	b.add(install)
	b.driverVersion = version
	b.blockNouveau(r)
	if r.manager != "dnf" {
		b.hold(r, r.name)
	}
	b.driverWarnings()
	b.reboot("the kernel must load the new module in place of the old one")
}

func (b *builder) driverWarnings() {
	if on := b.h.Platform.SecureBoot; on != nil && *on {
		b.warn("Secure Boot is on: a kernel module built here (DKMS) loads only after its key is enrolled at the next boot's console (`mokutil --import`)")
	}
	if many(b.h) {
		b.warn("a system with NVSwitch (HGX, DGX) also needs nvidia-fabricmanager in exactly the driver's version; CUDA fails with error 802 without it")
	}
}

// command is a step that runs a command as root.
func command(id, title, why string, argv []string) plan.Step {
	return plan.Step{ID: id, Title: title, Why: why, Root: true, Run: &plan.Run{Argv: argv, Env: quiet(argv[0])}}
}

// prepare is a command that comes before the driver's own packages; its title and
// id are completed where the steps are counted.
func prepare(why string, argv ...string) plan.Step {
	return command("", "prepare the driver's packages", why, argv)
}

// blockNouveau keeps the kernel's own driver from taking the GPU again: most
// packages of the driver do so too, and none says so in the plan.
func (b *builder) blockNouveau(r *recipe) {
	if !slices.ContainsFunc(b.h.GPUs, func(g machine.GPU) bool { return g.KernelDriver == "nouveau" }) {
		return
	}
	b.add(plan.Step{ID: "driver-nouveau", Title: "keep nouveau from loading", Why: "nouveau drives the GPU now, and two drivers cannot", Root: true,
		Write: &plan.Write{Path: "/etc/modprobe.d/envfix-nouveau.conf", Mode: 0o644, Content: "blacklist nouveau\noptions nouveau modeset=0\n"}})
	argv := say.Either(r.manager == "apt-get", []string{"update-initramfs", "-u"}, []string{"dracut", "--force"})
	b.add(command("driver-initramfs", "rebuild the initial file system", "nouveau would load from the old one before the blacklist is read", argv))
}

func driverWhy(res *resolver.Resolution) string {
	r, told := xslices.Find(res.Reasons, func(r resolver.Reason) bool { return strings.HasPrefix(r.Rule, "driver") })
	return say.Either(told, r.Text, "the chosen PyTorch needs it")
}

// many reports a machine that is likely to have NVSwitches.
func many(h machine.Machine) bool {
	return len(xslices.Filter(h.GPUs, func(g machine.GPU) bool {
		return g.Vendor == machine.NVIDIA && (strings.Contains(g.Name, "SXM") || strings.Contains(g.Name, "HBM3") || strings.Contains(g.Name, "B200"))
	})) >= 4
}

// quiet is the environment in which apt asks nothing and restarts nothing:
// needrestart hangs where its output is piped, and its automatic mode would
// restart services that the plan does not name.
func quiet(program string) map[string]string {
	if !strings.HasSuffix(program, "apt-get") {
		return map[string]string{}
	}
	return map[string]string{"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
}

// recipe follows the tables of NVIDIA's driver installation guide and of Ubuntu's
// archive. It returns nil and a sentence where a person has to act.
func (b *builder) recipe(d resolver.DriverChoice) (*recipe, string) {
	p := b.h.Platform
	open := d.KernelModule != "proprietary"
	switch {
	case b.h.Driver != nil && b.h.Driver.RunFile:
		return nil, fmt.Sprintf(
			"driver %s was installed by NVIDIA's .run file, and packages over it leave two drivers in one system: `sudo nvidia-uninstall` removes it, then run `envfix apply --change-driver` again",
			b.h.Driver.Version,
		)
	case d.Branch == "":
		return nil, "no driver branch is known that drives every GPU here"
	case p.Distro == "ubuntu":
		return ubuntu(d.Branch, open, p.Kernel), ""
	case p.Distro == "debian":
		return debian(d.Branch, open, p)
	case slices.Contains([]string{"rhel", "rocky", "almalinux", "ol", "centos", "amzn"}, p.Distro):
		return b.redhat(d.Branch, open)
	case p.Distro == "fedora":
		return b.dnf("fedora"+majorOf(p.DistroVersion), open) // dnf5, whose versionlock is built in
	case p.Distro == "sles" || strings.HasPrefix(p.Distro, "opensuse") || strings.Contains(p.DistroLike, "suse"):
		return b.suse(d.Branch, open)
	case strings.Contains(p.DistroLike, "ubuntu"):
		return ubuntu(d.Branch, open, p.Kernel), ""
	}
	return nil, fmt.Sprintf("install driver %s with the %s kernel module by the means of %s", d.Branch, cmp.Or(d.KernelModule, "open"),
		cmp.Or(p.Distro, "this distribution"))
}

// cudaRepo is NVIDIA's network repository for one distribution.
func cudaRepo(distro, arch string) string {
	return "https://developer.download.nvidia.com/compute/cuda/repos/" + distro + "/" + cudaArch(arch)
}

func cudaArch(arch string) string {
	return say.Either(arch == "aarch64", "sbsa", arch)
}

func majorOf(v string) string {
	major, _, _ := strings.Cut(v, ".")
	return major
}
