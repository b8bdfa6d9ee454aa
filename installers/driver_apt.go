package installers

import (
	"fmt"

	"envfix/internal/machine"
	"envfix/internal/plan"
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
	name := "nvidia-driver-" + branch
	if open {
		name += "-open"
	}
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
	name := "cuda-drivers"
	if open {
		name = "nvidia-open"
	}
	r := apt(name, p.Kernel)
	r.flags = append(r.flags, "--allow-downgrades") // a branch may be an older one
	keyring := "{tools}/cuda-keyring_1.1-1_all.deb"
	r.prepare = []plan.Step{
		fetched(cudaRepo("debian"+major, p.Arch)+"/cuda-keyring_1.1-1_all.deb", keyring),
		prepare("it adds NVIDIA's repository and the key that signs it", "dpkg", "--install", keyring),
		update,
	}
	r.addHeaders()
	r.prepare = append(r.prepare, prepare("it keeps the system on driver "+branch, "apt-get", "install", "-y", "nvidia-driver-pinning-"+branch))
	return r, ""
}

// fetched is a step that downloads a file as the user; root takes a copy of it.
func fetched(url, path string) plan.Step {
	s := prepare("fetched over TLS from NVIDIA", "curl", "--fail", "--silent", "--show-error", "--location", "--create-dirs", "--output", path, url)
	s.Root = false
	return s
}
