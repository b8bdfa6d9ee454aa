package installers

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
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
		b.manualDriver(fmt.Sprintf("update NVIDIA's driver in Windows to %s or newer; WSL has no driver of its own", orNewest(d.Minimum)))
	case env == machine.Container || env == machine.ContainerBuild:
		b.manualDriver("a container takes the driver of its host: update it there, and start the container with GPU access")
		b.steps[len(b.steps)-1].Manual.Reboot = false
	case env == machine.Jetson:
		b.manualDriver("the driver of a Jetson is part of L4T: flash or upgrade JetPack")
	case d.Action == "reboot":
		b.reboot("the installed driver and the loaded kernel module differ until then")
	case d.Action == "load":
		b.add(plan.Step{ID: "driver-load", Title: "load the kernel module", Why: "the driver is installed and not loaded", Root: true,
			Run: &plan.Run{Argv: []string{"modprobe", "nvidia"}, Env: map[string]string{}}})
		b.add(plan.Step{ID: "driver-load-uvm", Title: "load its memory module", Why: "CUDA needs it", Root: true,
			Run: &plan.Run{Argv: []string{"modprobe", "nvidia-uvm"}, Env: map[string]string{}}})
	default:
		b.packages(d)
	}
	return len(b.steps) > before
}

func orNewest(v version.Dotted) string {
	if v.IsZero() {
		return "the current production branch"
	}
	return v.String()
}

func (b *builder) manualDriver(what string) {
	b.add(plan.Step{ID: "driver", Title: "change the NVIDIA driver", Why: "envfix installs no driver in this kind of system", Manual: &plan.Manual{Text: what}})
}

func (b *builder) reboot(why string) {
	b.add(plan.Step{ID: "reboot", Title: "reboot", Why: why, Manual: &plan.Manual{Reboot: true, Text: "reboot, then run `envfix apply --resume`"}})
}

// A recipe is how one distribution installs a driver.
type recipe struct {
	prepare [][]string // repository, headers, branch lock
	driver  []string   // the driver's packages
	undo    []string
}

// packages plans the distribution's or NVIDIA's packages.
func (b *builder) packages(d resolver.DriverChoice) {
	r, why := b.recipe(d)
	if r == nil {
		b.manualDriver(why)
		return
	}
	name := r.driver[0]
	for i, argv := range r.prepare {
		title := "prepare the driver's packages"
		if len(r.prepare) > 1 {
			title += fmt.Sprintf(" (%d of %d)", i+1, len(r.prepare))
		}
		b.add(plan.Step{ID: fmt.Sprintf("driver-prepare-%d", i+1), Title: title, Why: "repository, kernel headers and branch of driver " + d.Branch, Root: needsRoot(argv),
			Run: &plan.Run{Argv: argv, Env: quietApt(argv[0])}})
	}
	if argv := downloadOnly(r.driver); argv != nil {
		b.add(plan.Step{ID: "driver-download", Title: "fetch the driver's packages", Why: "so that the network is out of the way when the system changes", Root: true,
			Run: &plan.Run{Argv: argv, Env: quietApt(name)}})
	}
	step := plan.Step{ID: "driver", Title: fmt.Sprintf("install driver %s, %s kernel module", d.Branch, d.KernelModule), Why: driverWhy(b.res), Root: true,
		Run: &plan.Run{Argv: r.driver, Env: quietApt(name)}}
	if r.undo != nil {
		step.Undo = &plan.Run{Argv: r.undo, Env: quietApt(name)}
	}
	b.add(step)
	if name == "apt-get" {
		pkg := r.driver[len(r.driver)-1]
		b.add(plan.Step{ID: "driver-hold", Title: "hold the driver back from unattended upgrades", Root: true,
			Why:  "an upgrade behind one's back parts library and kernel module until the next reboot, and every job fails meanwhile",
			Run:  &plan.Run{Argv: []string{"apt-mark", "hold", pkg}, Env: map[string]string{}},
			Undo: &plan.Run{Argv: []string{"apt-mark", "unhold", pkg}, Env: map[string]string{}}})
	}
	if on := b.h.Platform.SecureBoot; on != nil && *on {
		b.warn("Secure Boot is on: a kernel module built here (DKMS) loads only after its key is enrolled at the next boot's console (`mokutil --import`)")
	}
	if many(b.h) {
		b.warn("a system with NVSwitch (HGX, DGX) also needs nvidia-fabricmanager in exactly the driver's version; CUDA fails with error 802 without it")
	}
	b.reboot("the kernel must load the new module in place of the old one")
}

// downloadOnly is the command that fetches what argv installs, nil where there is
// none.
func downloadOnly(argv []string) []string {
	i := slices.Index(argv, "install")
	flag, known := map[string]string{"apt-get": "--download-only", "dnf": "--downloadonly", "zypper": "--download-only"}[argv[0]]
	if !known || i < 0 {
		return nil
	}
	return slices.Insert(slices.Clone(argv), i+1, flag)
}

func driverWhy(res *resolver.Resolution) string {
	for _, r := range res.Reasons {
		if strings.HasPrefix(r.Rule, "driver") {
			return r.Text
		}
	}
	return "the chosen PyTorch needs it"
}

func needsRoot(argv []string) bool { return argv[0] != "curl" }

// many reports a machine that is likely to have NVSwitches.
func many(h machine.Machine) bool {
	n := 0
	for _, g := range h.GPUs {
		if g.Vendor == machine.NVIDIA && (strings.Contains(g.Name, "SXM") || strings.Contains(g.Name, "HBM3") || strings.Contains(g.Name, "B200")) {
			n++
		}
	}
	return n >= 4
}

// quietApt is the environment in which apt asks nothing and restarts nothing:
// needrestart hangs where its output is piped, and its automatic mode would
// restart services that the plan does not name.
func quietApt(program string) map[string]string {
	if !strings.HasSuffix(program, "apt-get") {
		return map[string]string{}
	}
	return map[string]string{"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
}

// keepFiles makes dpkg keep changed configuration files instead of asking.
var keepFiles = []string{"-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"}

// recipe follows the tables of NVIDIA's driver installation guide and of Ubuntu's
// archive. It returns nil and a sentence where a person has to act.
func (b *builder) recipe(d resolver.DriverChoice) (*recipe, string) {
	p := b.h.Platform
	open := d.KernelModule != "proprietary"
	if d.Branch == "" {
		return nil, "no driver branch is known that drives every GPU here"
	}
	switch {
	case p.Distro == "ubuntu":
		return ubuntu(d.Branch, open, p.Kernel), ""
	case p.Distro == "debian":
		return debian(d.Branch, open, p)
	case slices.Contains([]string{"rhel", "rocky", "almalinux", "ol", "centos", "amzn"}, p.Distro):
		return redhat(d.Branch, open, p)
	case p.Distro == "fedora":
		return fedora(d.Branch, open, p)
	case p.Distro == "sles" || strings.HasPrefix(p.Distro, "opensuse") || strings.Contains(p.DistroLike, "suse"):
		return suse(d.Branch, open, p)
	case strings.Contains(p.DistroLike, "ubuntu"):
		return ubuntu(d.Branch, open, p.Kernel), ""
	}
	name := p.Distro
	if name == "" {
		name = "this distribution"
	}
	return nil, fmt.Sprintf("install driver %s with the %s kernel module by the means of %s", d.Branch, orOpen(d.KernelModule), name)
}

func orOpen(module string) string {
	if module == "" {
		return "open"
	}
	return module
}

// ubuntu uses the archive's packages, whose prebuilt modules are signed and load
// under Secure Boot. NVIDIA's own repository must not be mixed with them: its
// packages have no branch in their names from 590 on.
func ubuntu(branch string, open bool, kernel string) *recipe {
	name := "nvidia-driver-" + branch
	if open {
		name += "-open"
	}
	r := &recipe{prepare: [][]string{{"apt-get", "update"}}}
	if kernel != "" {
		r.prepare = append(r.prepare, append([]string{"apt-get", "install", "-y"}, "linux-headers-"+kernel))
	}
	r.driver = slices.Concat([]string{"apt-get", "install", "-y"}, keepFiles, []string{name})
	r.undo = []string{"apt-get", "remove", "-y", name}
	return r
}

// cudaRepo is NVIDIA's network repository for one distribution.
func cudaRepo(distro, arch string) string {
	if arch == "aarch64" {
		arch = "sbsa"
	}
	return "https://developer.download.nvidia.com/compute/cuda/repos/" + distro + "/" + arch
}

func majorOf(v string) string {
	major, _, _ := strings.Cut(v, ".")
	return major
}

// debian uses NVIDIA's repository, because Debian's own driver is 535 or 550: too
// old for CUDA 13 and for Blackwell. The branch is locked before the driver is
// installed.
func debian(branch string, open bool, p machine.Platform) (*recipe, string) {
	major := majorOf(p.DistroVersion)
	if major != "11" && major != "12" && major != "13" {
		return nil, fmt.Sprintf("NVIDIA has no driver repository for Debian %s", p.DistroVersion)
	}
	if branch == "470" {
		if major == "13" {
			return nil, "Debian 13 has no driver 470, the last for Kepler: use Debian 12"
		}
		return &recipe{prepare: [][]string{{"apt-get", "update"}}, driver: slices.Concat([]string{"apt-get", "install", "-y"}, keepFiles, []string{"nvidia-tesla-470-driver"}), undo: []string{"apt-get", "remove", "-y", "nvidia-tesla-470-driver"}}, ""
	}
	keyring := "{tools}/cuda-keyring_1.1-1_all.deb"
	name := "cuda-drivers"
	if open {
		name = "nvidia-open"
	}
	r := &recipe{prepare: [][]string{
		{"curl", "--fail", "--silent", "--show-error", "--location", "--create-dirs", "--output", keyring, cudaRepo("debian"+major, p.Arch) + "/cuda-keyring_1.1-1_all.deb"},
		{"dpkg", "--install", keyring},
		{"apt-get", "update"},
	}}
	if p.Kernel != "" {
		r.prepare = append(r.prepare, []string{"apt-get", "install", "-y", "linux-headers-" + p.Kernel})
	}
	r.prepare = append(r.prepare, []string{"apt-get", "install", "-y", "nvidia-driver-pinning-" + branch})
	r.driver = slices.Concat([]string{"apt-get", "install", "-y", "--allow-downgrades"}, keepFiles, []string{name})
	r.undo = []string{"apt-get", "remove", "-y", name}
	return r, ""
}

// redhat uses the module streams of NVIDIA's repository on version 8 and 9 and on
// Amazon Linux 2023; version 10 has no modules.
func redhat(branch string, open bool, p machine.Platform) (*recipe, string) {
	major := majorOf(p.DistroVersion)
	repo, file := "rhel"+major, "cuda-rhel"+major+".repo"
	if p.Distro == "amzn" {
		repo, file = "amzn2023", "cuda-amzn2023.repo"
	} else if major != "8" && major != "9" && major != "10" {
		return nil, fmt.Sprintf("NVIDIA's repository for %s %s is closed: install driver %s from its .run file", p.Distro, p.DistroVersion, branch)
	}
	r := &recipe{prepare: [][]string{{"dnf", "config-manager", "--add-repo", cudaRepo(repo, p.Arch) + "/" + file}}}
	if p.Kernel != "" {
		r.prepare = append(r.prepare, []string{"dnf", "install", "-y", "kernel-devel-" + p.Kernel})
	}
	if major == "10" && p.Distro != "amzn" {
		r.prepare = append(r.prepare,
			[]string{"dnf", "install", "-y", "python3-dnf-plugin-versionlock"},
			[]string{"dnf", "versionlock", "*nvidia*" + branch + "*"})
		return unversioned(r, open), ""
	}
	stream := "nvidia-driver:" + branch + "-dkms"
	if open {
		stream = "nvidia-driver:" + branch + "-open"
	}
	r.driver = []string{"dnf", "module", "install", "-y", stream}
	r.undo = []string{"dnf", "module", "remove", "-y", stream}
	return r, ""
}

// unversioned completes a dnf recipe for repositories without module streams: the
// branch is locked before, so the name without a number is that branch.
func unversioned(r *recipe, open bool) *recipe {
	name := "cuda-drivers"
	if open {
		name = "nvidia-open"
	}
	r.driver = []string{"dnf", "install", "-y", name}
	r.undo = []string{"dnf", "remove", "-y", name}
	return r
}

// fedora has dnf5, whose config-manager has other words.
func fedora(branch string, open bool, p machine.Platform) (*recipe, string) {
	name := "fedora" + majorOf(p.DistroVersion)
	r := &recipe{prepare: [][]string{{"dnf", "config-manager", "addrepo", "--from-repofile=" + cudaRepo(name, p.Arch) + "/cuda-" + name + ".repo"}}}
	if p.Kernel != "" {
		r.prepare = append(r.prepare, []string{"dnf", "install", "-y", "kernel-devel-" + p.Kernel})
	}
	r.prepare = append(r.prepare, []string{"dnf", "versionlock", "add", "*nvidia*" + branch + "*"})
	return unversioned(r, open), ""
}

func suse(branch string, open bool, p machine.Platform) (*recipe, string) {
	repo := "opensuse15"
	switch major := majorOf(p.DistroVersion); {
	case major == "16":
		repo = "suse16"
	case p.Distro == "sles":
		repo = "sles15"
	}
	name := "cuda-drivers-" + branch
	if open {
		name = "nvidia-open-" + branch
	}
	return &recipe{
		prepare: [][]string{
			{"zypper", "addrepo", "--refresh", cudaRepo(repo, p.Arch) + "/cuda-" + repo + ".repo"},
			{"zypper", "--gpg-auto-import-keys", "refresh"},
		},
		driver: []string{"zypper", "--non-interactive", "install", name},
		undo:   []string{"zypper", "--non-interactive", "remove", name},
	}, ""
}
