package installers

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
)

// repositoryKeys names the key that signs each of NVIDIA's rpm repositories, as
// the gpgkey line of its own .repo file does.
var repositoryKeys = map[string]string{
	"rhel8": "D42D0685", "rhel9": "D42D0685", "rhel10": "CDF6BA43", "amzn2023": "D42D0685",
	"fedora41": "D42D0685", "fedora42": "D42D0685", "fedora43": "1940C73E", "fedora44": "73CD9B30",
	"sles15": "D42D0685", "opensuse15": "D42D0685", "suse16": "3A8B5622",
}

// repository plans NVIDIA's rpm repository: its key by fingerprint, then its file.
// The file is written, not fetched: config-manager has other words in dnf5, is a
// plugin in dnf4, and a second `zypper addrepo` fails. Where the key was imported
// the file names none, so that no other key is ever taken.
func (b *builder) repository(name, dir string) ([]plan.Step, string) {
	p := b.h.Platform
	key, known := repositoryKeys[name]
	if !known {
		return nil, fmt.Sprintf("envfix knows no driver repository of NVIDIA's for %s %s, and the key that would sign it", p.Distro, p.DistroVersion)
	}
	base := cudaRepo(name, p.Arch)
	id := "cuda-" + name + "-" + cudaArch(p.Arch)
	text := fmt.Sprintf("[%s]\nname=%s\nbaseurl=%s\nenabled=1\ngpgcheck=1\n", id, id, base)
	var steps []plan.Step
	if fingerprint := plan.SigningKeys[key]; fingerprint != "" {
		file := "{tools}/" + key + ".pub"
		steps = append(steps, fetched(base+"/"+key+".pub", file),
			prepare("NVIDIA's signing key, taken only with the fingerprint "+fingerprint, "rpm", "--import", file))
	} else {
		text += "gpgkey=" + base + "/" + key + ".pub\n"
		b.warn("the fingerprint of NVIDIA's signing key %s is not known here: the package manager takes the key that NVIDIA's server gives it", key)
	}
	repo := prepare("NVIDIA's repository of drivers", "")
	repo.Run, repo.Write = nil, &plan.Write{Path: dir + "/cuda-" + name + ".repo", Mode: 0o644, Content: text}
	return append(steps, repo), ""
}

func metaPackage(open bool) string {
	return say.Either(open, "nvidia-open", "cuda-drivers")
}

// replaces reports whether there is a driver that the new one takes the place of.
func (b *builder) replaces() bool {
	return b.h.Driver != nil || b.h.DriverPackages != nil && len(b.h.DriverPackages.Installed) > 0
}

// dnf is a recipe for NVIDIA's packages in repository repo. The lock is the one of
// NVIDIA's guide ("Version locking"): it stands before the installation, so that
// the name without a number is that branch.
func (b *builder) dnf(repo string, open bool) (*recipe, string) {
	steps, why := b.repository(repo, "/etc/yum.repos.d")
	if why != "" {
		return nil, why
	}
	r := &recipe{manager: "dnf", name: metaPackage(open), prepare: steps, lock: "*nvidia*%s*"}
	if b.replaces() {
		r.flags = []string{"--allowerasing"} // of the other flavour's module; the rehearsal watches what goes
	}
	r.prepare = append(r.prepare, prepare("the lists of packages must be new", "dnf", "makecache"))
	if k := b.h.Platform.Kernel; k != "" {
		r.headers = "kernel-devel-" + k
		r.prepare = append(r.prepare, prepare("the module is built against the headers of the kernel that runs", "dnf", "install", "-y", r.headers))
	}
	return r, ""
}

// redhat uses the module streams of NVIDIA's repository on version 8 and 9 and on
// Amazon Linux 2023; version 10 has no modules. A stream that was enabled before
// is left first: enabling another one fails.
func (b *builder) redhat(branch string, open bool) (*recipe, string) {
	p := b.h.Platform
	major := majorOf(p.DistroVersion)
	repo := "rhel" + major
	if p.Distro == "amzn" {
		repo = "amzn2023"
	} else if major != "8" && major != "9" && major != "10" {
		return nil, fmt.Sprintf("NVIDIA's repository for %s %s is closed: install driver %s from its .run file", p.Distro, p.DistroVersion, branch)
	}
	r, why := b.dnf(repo, open)
	if r == nil {
		return nil, why
	}
	if repo != "rhel10" {
		stream := say.Either(open, "nvidia-driver:"+branch+"-open", "nvidia-driver:"+branch+"-dkms")
		r.prepare = append(r.prepare, prepare("another stream of drivers may be enabled", "dnf", "module", "reset", "-y", "nvidia-driver"),
			prepare("it keeps the system on driver "+branch, "dnf", "module", "enable", "-y", stream))
	}
	// dnf4 knows versionlock as a plugin only.
	r.prepare = append(r.prepare, prepare("it holds packages at their version", "dnf", "install", "-y", "python3-dnf-plugin-versionlock"))
	return r, ""
}

// suse has zypper, and a package for each branch.
func (b *builder) suse(branch string, open bool) (*recipe, string) {
	p := b.h.Platform
	repo := "opensuse15"
	switch major := majorOf(p.DistroVersion); {
	case major == "16":
		repo = "suse16"
	case p.Distro == "sles":
		repo = "sles15"
	}
	steps, why := b.repository(repo, "/etc/zypp/repos.d")
	if why != "" {
		return nil, why
	}
	r := &recipe{manager: "zypper", name: metaPackage(open) + "-" + branch, prepare: steps, flags: []string{"--auto-agree-with-licenses"}}
	if b.replaces() {
		r.flags = append(r.flags, "--oldpackage", "--force-resolution")
	}
	r.prepare = append(r.prepare, prepare("the lists of packages must be new", "zypper", "--non-interactive", "refresh", "cuda-"+repo+"-"+cudaArch(p.Arch)))
	if spec := b.suseHeaders(r); spec != "" {
		r.prepare = append(r.prepare, prepare(
			"the module is built against the headers of the kernel that runs", "zypper", "--non-interactive",
			"install", spec))
	}
	return r, ""
}

// suseHeaders names the headers of the kernel that runs. Its release, such as
// 6.4.0-150600.23.25-default, holds the flavour, and all of the package's version
// but a number for the rebuild.
func (b *builder) suseHeaders(r *recipe) string {
	i := strings.LastIndexByte(b.h.Platform.Kernel, '-')
	if i < 0 {
		return ""
	}
	version, flavour := b.h.Platform.Kernel[:i], b.h.Platform.Kernel[i+1:]
	r.headers = "kernel-" + flavour + "-devel"
	if b.h.DriverPackages != nil {
		offered := b.h.DriverPackages.Offered[r.headers]
		if n := slices.IndexFunc(offered, func(v string) bool { return v == version || strings.HasPrefix(v, version+".") }); n >= 0 &&
			machine.PackageVersion(offered[n]) {
			version = offered[n]
		}
	}
	return r.headers + "=" + version
}
