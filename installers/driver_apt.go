package installers

import (
	"fmt"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
)

// keepFiles makes dpkg keep changed configuration files instead of asking.
var keepFiles = []string{"-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"}

func apt(name, kernel string) *recipe {
	r := &recipe{manager: "apt-get", name: name, flags: append([]string{"-y"}, keepFiles...)}
	if kernel != "" {
		r.headers = "linux-headers-" + kernel
	}
	return r
}

// addHeaders installs the headers of the kernel that runs: DKMS builds the module
// for it, and a newer kernel's headers do not do.
func (r *recipe) addHeaders() {
	if r.headers != "" {
		r.prepare = append(r.prepare, prepare("the module is built against the headers of the kernel that runs", "apt-get", "install", "-y", r.headers))
	}
}

// ubuntu uses the archive's packages, whose prebuilt modules are signed and load
// under Secure Boot. NVIDIA's own repository must not be mixed with them: its
// packages have no branch in their names from 590 on.
func ubuntu(branch string, open bool, kernel string) *recipe {
	name := "nvidia-driver-" + branch + say.If(open, "-open")
	r := apt(name, kernel)
	r.prepare = []plan.Step{prepare("the lists of packages must be new", "apt-get", "update")}
	r.addHeaders()
	return r
}

// debian uses NVIDIA's repository, because Debian's own driver is 535 or 550: too
// old for CUDA 13 and for Blackwell. The branch is locked before the driver is
// installed.
func debian(branch string, open bool, p machine.Platform) (*recipe, string) {
	major := majorOf(p.DistroVersion)
	if major != "11" && major != "12" && major != "13" {
		return nil, fmt.Sprintf("NVIDIA has no driver repository for Debian %s", p.DistroVersion)
	}
	update := prepare("the lists of packages must be new", "apt-get", "update")
	if branch == "470" {
		if major == "13" {
			return nil, "Debian 13 has no driver 470, the last for Kepler: use Debian 12"
		}
		r := apt("nvidia-tesla-470-driver", p.Kernel)
		r.prepare = []plan.Step{update}
		r.addHeaders()
		return r, ""
	}
	r := apt(metaPackage(open), p.Kernel)
	r.flags = append(r.flags, "--allow-downgrades") // a branch may be an older one
	r.prepare = append(debianRepository("debian"+major, p.Arch), update)
	r.addHeaders()
	r.prepare = append(r.prepare, prepare("it keeps the system on driver "+branch, "apt-get", "install", "-y", "nvidia-driver-pinning-"+branch))
	return r, ""
}

// debianKeys names the file of the key that signs each of NVIDIA's repositories, as
// it lies in the repository.
var debianKeys = map[string]string{"debian11": "3bf863cc.pub", "debian12": "3bf863cc.pub", "debian13": "8793F200.pub"}

// debianRepository adds NVIDIA's repository: the key by its fingerprint, and one
// line of a source. NVIDIA's package cuda-keyring would bring both, with scripts
// that dpkg runs as root, and apt asks nobody who signed a package that it is
// handed as a file. What is written is what that package writes, under its names.
func debianRepository(name, arch string) []plan.Step {
	repo := cudaRepo(name, arch)
	key := strings.ToUpper(strings.TrimSuffix(debianKeys[name], ".pub"))
	file := "{tools}/" + key + ".pub"
	source := prepare("NVIDIA's repository of drivers, signed by that key alone", "")
	source.Run, source.Write = nil, &plan.Write{Path: "/etc/apt/sources.list.d/cuda-" + name + "-" + cudaArch(arch) + ".list", Mode: 0o644,
		Content: "deb [signed-by=" + plan.Keyring + "] " + repo + "/ /\n"}
	return []plan.Step{
		fetched(repo+"/"+debianKeys[name], file),
		prepare("NVIDIA's signing key, taken only with the fingerprint "+plan.SigningKeys[key],
			"gpg", "--batch", "--yes", "--dearmor", "--output", plan.Keyring, file),
		source,
	}
}

// fetched is a step that downloads a file as the user; root takes a copy of it.
func fetched(url, path string) plan.Step {
	s := prepare("fetched over TLS from NVIDIA", "curl", "--fail", "--silent", "--show-error", "--location", "--create-dirs", "--output", path, url)
	s.Root = false
	return s
}
