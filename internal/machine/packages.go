package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/text"
	"envfix/internal/version"
)

// DriverPackages is what the system's package manager says of the packages of
// NVIDIA's driver. It is asked only where a plan changes the driver.
type DriverPackages struct {
	Manager   string              `json:"manager"`             // apt-get, dnf, zypper
	Offered   map[string][]string `json:"offered,omitempty"`   // the versions that it can install, newest first, by package
	OnDisk    bool                `json:"on_disk,omitempty"`   // some of these versions lie in a repository on this disk (file:)
	Installed map[string]string   `json:"installed,omitempty"` // version by package
	Held      []string            `json:"held,omitempty"`      // packages that stay at their version
	OwnHolds  []string            `json:"own_holds,omitempty"` // of Held: what envfix itself held back, as it was written down
}

var (
	packageName    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9+._-]*$`)
	packageVersion = lazy.Regexp(`^[0-9][A-Za-z0-9.+:~^_-]*$`)
)

// PackageVersion reports whether s can stand as a version in a command line of
// apt, dnf or zypper.
func PackageVersion(s string) bool { return packageVersion().MatchString(s) && len(s) <= maxName }

func (p *DriverPackages) check() error {
	if p == nil {
		return nil
	}
	if err := oneOf("driver_packages.manager", p.Manager, "apt-get", "dnf", "zypper"); err != nil {
		return err
	}
	names := slices.AppendSeq(slices.Concat(p.Held, p.OwnHolds), maps.Keys(p.Installed))
	names = slices.AppendSeq(names, maps.Keys(p.Offered))
	versions := slices.AppendSeq(slices.Concat(slices.Collect(maps.Values(p.Offered))...), maps.Values(p.Installed))
	if len(names)+len(versions) > maxList {
		return fmt.Errorf("driver_packages: %d entries are more than any driver has", len(names)+len(versions))
	}
	for _, n := range names {
		if !packageName().MatchString(n) || len(n) > maxName {
			return fmt.Errorf("driver_packages: %q is not a package's name", text.Cut(n, 60))
		}
	}
	for _, v := range versions {
		if !PackageVersion(v) {
			return fmt.Errorf("driver_packages: %q is not a package's version", text.Cut(v, 60))
		}
	}
	return nil
}

// Upstream returns the driver's version that a package's version holds:
// 580.95.05 of 3:580.95.05-1.el9 and of 580.95.05-0ubuntu0.24.04.1. It is zero
// where it holds none.
func Upstream(packageVersion string) version.Dotted {
	v := packageVersion
	if epoch, rest, ok := strings.Cut(v, ":"); ok && strings.Trim(epoch, "0123456789") == "" {
		v = rest
	}
	if i := strings.IndexAny(v, "-+~_"); i >= 0 {
		v = v[:i]
	}
	d, err := version.ParseDotted(v)
	if err != nil || !PlausibleDriver(d) {
		return version.Dotted{}
	}
	return d
}

var driverPackage = lazy.Regexp(
	`^(nvidia-|libnvidia-|xserver-xorg-video-nvidia|cuda-drivers|kmod-nvidia|akmod-nvidia|dkms-nvidia|linux-(modules|objects|signatures)-nvidia-|xorg-x11-(drv-)?nvidia|libcuda1$|libxnvctrl)`,
)

// What bears NVIDIA's name and is no part of the driver.
var notDriver = lazy.Regexp(`^(lib)?nvidia-(container|cuda-|cudnn|docker|egl-wayland|vaapi|texture|nsight|gds|detect$|ml-dev$)`)

// DriverPackage reports whether a package of that name belongs to NVIDIA's driver.
func DriverPackage(name string) bool {
	return driverPackage().MatchString(name) && !notDriver().MatchString(name)
}
