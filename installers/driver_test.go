package installers

import (
	"testing"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

func TestDriverSteps(t *testing.T) {
	fix := func(action, branch, module string) *resolver.Resolution {
		return &resolver.Resolution{Decision: resolver.FixDriver, Told: resolver.Told{Then: choice()}, Driver: resolver.DriverChoice{Action: action, Branch: branch, KernelModule: module, Minimum: version.MustDotted("525.60.13")}}
	}
	linux := func(distro, version, arch string) machine.Platform {
		return machine.Platform{OS: "linux", Arch: arch, Distro: distro, DistroVersion: version}
	}
	apt := " -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "
	const repo = "https://developer.download.nvidia.com/compute/cuda/repos/"
	fetch := "curl --fail --silent --show-error --location --create-dirs --output {tools}/"
	for _, test := range []struct {
		name     string
		platform machine.Platform
		res      *resolver.Resolution
		want     []string
	}{
		{"ubuntu, open", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "ubuntu", DistroVersion: "24.04", Kernel: "6.8.0-45-generic"}, fix("install", "580", "open"), []string{
			"driver-prepare-1: root apt-get update",
			"driver-prepare-2: root apt-get install -y linux-headers-6.8.0-45-generic",
			"driver-rehearse: root apt-get install --simulate -y" + apt + "nvidia-driver-580-open",
			"driver-download: root apt-get install --download-only -y" + apt + "nvidia-driver-580-open",
			"driver: root apt-get install --no-download -y" + apt + "nvidia-driver-580-open",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root apt-mark hold nvidia-driver-580-open",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"a derivative of ubuntu, proprietary", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "linuxmint", DistroLike: "ubuntu debian", DistroVersion: "22"}, fix("install", "580", "proprietary"), []string{
			"driver-prepare-1: root apt-get update",
			"driver-rehearse: root apt-get install --simulate -y" + apt + "nvidia-driver-580",
			"driver-download: root apt-get install --download-only -y" + apt + "nvidia-driver-580",
			"driver: root apt-get install --no-download -y" + apt + "nvidia-driver-580",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root apt-mark hold nvidia-driver-580",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"debian", linux("debian", "12", "aarch64"), fix("install", "580", "open"), []string{
			"driver-prepare-1: " + fetch + "3BF863CC.pub " + repo + "debian12/sbsa/3bf863cc.pub",
			"driver-prepare-2: root gpg --batch --yes --dearmor --output /usr/share/keyrings/cuda-archive-keyring.gpg {tools}/3BF863CC.pub",
			"driver-prepare-3: root write /etc/apt/sources.list.d/cuda-debian12-sbsa.list",
			"driver-prepare-4: root apt-get update",
			"driver-prepare-5: root apt-get install -y nvidia-driver-pinning-580",
			"driver-rehearse: root apt-get install --simulate -y" + apt + "--allow-downgrades nvidia-open",
			"driver-download: root apt-get install --download-only -y" + apt + "--allow-downgrades nvidia-open",
			"driver: root apt-get install --no-download -y" + apt + "--allow-downgrades nvidia-open",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root apt-mark hold nvidia-open",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"kepler on debian 13", linux("debian", "13", "x86_64"), fix("install", "470", "proprietary"), []string{
			"driver: manual Debian 13 has no driver 470, the last for Kepler: use Debian 12",
		}},
		{"rocky 9: a module stream", linux("rocky", "9.4", "x86_64"), fix("install", "580", "proprietary"), []string{
			"driver-prepare-1: " + fetch + "D42D0685.pub " + repo + "rhel9/x86_64/D42D0685.pub",
			"driver-prepare-2: root rpm --import {tools}/D42D0685.pub",
			"driver-prepare-3: root write /etc/yum.repos.d/cuda-rhel9.repo",
			"driver-prepare-4: root dnf makecache",
			"driver-prepare-5: root dnf module reset -y nvidia-driver",
			"driver-prepare-6: root dnf module enable -y nvidia-driver:580-dkms",
			"driver-prepare-7: root dnf install -y python3-dnf-plugin-versionlock",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root dnf versionlock add *nvidia*580*",
			"driver-rehearse: root dnf install --assumeno --allowerasing cuda-drivers",
			"driver-download: root dnf install --downloadonly -y --allowerasing cuda-drivers",
			"driver: root dnf install --cacheonly -y --allowerasing cuda-drivers",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"rhel 10: no streams", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "rhel", DistroVersion: "10.0", Kernel: "6.12.0-55.el10.x86_64"}, fix("install", "580", "open"), []string{
			"driver-prepare-1: root write /etc/yum.repos.d/cuda-rhel10.repo",
			"driver-prepare-2: root dnf makecache",
			"driver-prepare-3: root dnf install -y kernel-devel-6.12.0-55.el10.x86_64",
			"driver-prepare-4: root dnf install -y python3-dnf-plugin-versionlock",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root dnf versionlock add *nvidia*580*",
			"driver-rehearse: root dnf install --assumeno --allowerasing nvidia-open",
			"driver-download: root dnf install --downloadonly -y --allowerasing nvidia-open",
			"driver: root dnf install --cacheonly -y --allowerasing nvidia-open",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"centos 7", linux("centos", "7", "x86_64"), fix("install", "580", "open"), []string{
			"driver: manual NVIDIA's repository for centos 7 is closed: install driver 580 from its .run file",
		}},
		{"fedora: dnf5", linux("fedora", "44", "x86_64"), fix("install", "610", "open"), []string{
			"driver-prepare-1: " + fetch + "73CD9B30.pub " + repo + "fedora44/x86_64/73CD9B30.pub",
			"driver-prepare-2: root rpm --import {tools}/73CD9B30.pub",
			"driver-prepare-3: root write /etc/yum.repos.d/cuda-fedora44.repo",
			"driver-prepare-4: root dnf makecache",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root dnf versionlock add *nvidia*610*",
			"driver-rehearse: root dnf install --assumeno --allowerasing nvidia-open",
			"driver-download: root dnf install --downloadonly -y --allowerasing nvidia-open",
			"driver: root dnf install --cacheonly -y --allowerasing nvidia-open",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"a fedora that NVIDIA has nothing for", linux("fedora", "99", "x86_64"), fix("install", "610", "open"), []string{
			"driver: manual envfix knows no driver repository of NVIDIA's for fedora 99, and the key that would sign it",
		}},
		{"sles", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "sles", DistroVersion: "15.6", Kernel: "6.4.0-150600.23.25-default"}, fix("switch-module", "580", "open"), []string{
			"driver-prepare-1: " + fetch + "D42D0685.pub " + repo + "sles15/x86_64/D42D0685.pub",
			"driver-prepare-2: root rpm --import {tools}/D42D0685.pub",
			"driver-prepare-3: root write /etc/zypp/repos.d/cuda-sles15.repo",
			"driver-prepare-4: root zypper --non-interactive refresh cuda-sles15-x86_64",
			"driver-prepare-5: root zypper --non-interactive install kernel-default-devel=6.4.0-150600.23.25",
			"driver-rehearse: root zypper --non-interactive --no-refresh install --dry-run --auto-agree-with-licenses --oldpackage --force-resolution nvidia-open-580",
			"driver-download: root zypper --non-interactive --no-refresh install --download-only --auto-agree-with-licenses --oldpackage --force-resolution nvidia-open-580",
			"driver: root zypper --non-interactive --no-refresh install --auto-agree-with-licenses --oldpackage --force-resolution nvidia-open-580",
			"driver-held: root write /var/lib/envfix/held",
			"driver-hold: root zypper --non-interactive addlock nvidia-open-580",
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"another distribution", linux("nixos", "26.05", "x86_64"), fix("install", "580", "open"), []string{
			"driver: manual install driver 580 with the open kernel module by the means of nixos",
		}},
		{"WSL", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "ubuntu", Environment: machine.WSL2}, fix("install", "580", "open"), []string{
			"driver: manual in Windows, since WSL has no driver of its own: install NVIDIA's driver of branch 580",
		}},
		{"Windows, and a GPU that newer branches dropped", machine.Platform{OS: "windows", Arch: "x86_64"}, fix("pin", "580", ""), []string{
			"driver: manual in Windows: install NVIDIA's driver of branch 580, the last that drives this GPU",
		}},
		{"a container", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "ubuntu", Environment: machine.Container}, fix("install", "580", "open"), []string{
			"driver: manual a container takes the driver of its host: there, install NVIDIA's driver of branch 580, and start the container with GPU access",
		}},
		{"jetson", machine.Platform{OS: "linux", Arch: "aarch64", Distro: "ubuntu", Environment: machine.Jetson}, fix("install", "580", "open"), []string{
			"driver: manual the driver of a Jetson is part of L4T: flash or upgrade JetPack",
		}},
		{"reboot", linux("ubuntu", "24.04", "x86_64"), fix("reboot", "", ""), []string{
			"reboot: manual reboot, then run `envfix apply --resume`",
		}},
		{"load", linux("ubuntu", "24.04", "x86_64"), fix("load", "", ""), []string{
			"driver-load: root modprobe nvidia",
			"driver-load-uvm: root modprobe nvidia-uvm",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := v100()
			h.Platform = test.platform
			p := must(t, h, resolver.Request{}, test.res, plan.Target{})
			got := commands(p)
			// What follows installs torch, once the driver is right.
			if diff := cmp.Diff(test.want, got[:min(len(got), len(test.want))]); diff != "" {
				t.Error(diff)
			}
			if rest := got[len(test.want):]; len(rest) != 5 || rest[0] != "venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}" {
				t.Errorf("after the driver: %q", rest)
			}
		})
	}
}

// Nothing changes a driver that works, unless it was allowed.
func TestDriverOnlyWhenAllowed(t *testing.T) {
	h := v100()
	res := &resolver.Resolution{Decision: resolver.UpgradeDriver, Told: resolver.Told{Then: choice()}, Driver: resolver.DriverChoice{Action: "upgrade", Branch: "580", KernelModule: "open"}}
	if got := commands(must(t, h, resolver.Request{}, res, plan.Target{})); got != nil {
		t.Errorf("without --change-driver and without a fallback: %q", got)
	}
	older := choice()
	older.Torch = "2.7.1"
	older.Packages = map[string]string{"torch": "2.7.1+cu126"}
	res.Fallback = older
	if got := commands(must(t, h, resolver.Request{}, res, plan.Target{})); len(got) != 5 || got[3] != "verify: verify 2.7.1+cu126" {
		t.Errorf("without --change-driver: %q", got)
	}
	res.Moved = true // another release than was asked for
	if got := commands(must(t, h, resolver.Request{}, res, plan.Target{})); got != nil {
		t.Errorf("a pin was moved: %q", got)
	}
	got := commands(must(t, h, resolver.Request{ChangeDriver: true}, res, plan.Target{}))
	if len(got) < 4 || got[0] != "driver-prepare-1: root apt-get update" || got[len(got)-2] != "verify: verify 2.14.1+cu126" {
		t.Errorf("with --change-driver: %q", got)
	}
}
