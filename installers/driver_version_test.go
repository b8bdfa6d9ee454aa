package installers

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// Where the package manager was asked, the plan names one version, in each step
// and in what is checked afterwards.
func TestExactVersions(t *testing.T) {
	for _, test := range []struct {
		name     string
		platform machine.Platform
		packages machine.DriverPackages
		want     []string // of the driver's steps, after the preparations
		effect   plan.Effect
		version  string
	}{
		{"ubuntu", machine.Platform{OS: "linux", Distro: "ubuntu", DistroVersion: "24.04"},
			machine.DriverPackages{Manager: "apt-get", Offered: map[string][]string{"nvidia-driver-580-open": {"580.95.05-0ubuntu0.24.04.2", "580.65.06-0ubuntu0.24.04.1"}}},
			[]string{"apt-get --simulate", "apt-get --download-only", "apt-get --no-download"},
			plan.Effect{Package: "nvidia-driver-580-open", Version: "580.95.05-0ubuntu0.24.04.2"}, "580.95.05"},
		{"debian: the newest of the branch, not the newest", machine.Platform{OS: "linux", Distro: "debian", DistroVersion: "12"},
			machine.DriverPackages{Manager: "apt-get", Offered: map[string][]string{"nvidia-open": {"610.57.04-1", "580.95.05-1", "580.105.08-1", "580.65.06-1"}}},
			[]string{"apt-get --simulate", "apt-get --download-only", "apt-get --no-download"},
			plan.Effect{Package: "nvidia-open", Version: "580.105.08-1"}, "580.105.08"},
		{"debian: from a folder, which apt's --no-download does not find", machine.Platform{OS: "linux", Distro: "debian", DistroVersion: "12"},
			machine.DriverPackages{Manager: "apt-get", OnDisk: true, Offered: map[string][]string{"nvidia-open": {"580.95.05-1"}}},
			[]string{"apt-get --simulate", "apt-get --download-only", "apt-get --allow-downgrades"},
			plan.Effect{Package: "nvidia-open", Version: "580.95.05-1"}, "580.95.05"},
		{"rocky", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "rocky", DistroVersion: "9.6"},
			machine.DriverPackages{Manager: "dnf", Offered: map[string][]string{"nvidia-open": {"3:580.95.05-1.el9"}}},
			[]string{"dnf --assumeno", "dnf --downloadonly", "dnf --cacheonly"},
			plan.Effect{Package: "nvidia-open", Version: "3:580.95.05-1.el9"}, "580.95.05"},
		{"leap", machine.Platform{OS: "linux", Arch: "x86_64", Distro: "opensuse-leap", DistroVersion: "15.6"},
			machine.DriverPackages{Manager: "zypper", Offered: map[string][]string{"nvidia-open-580": {"580.95.05-1"}}},
			[]string{"zypper --dry-run", "zypper --download-only", "zypper install"},
			plan.Effect{Package: "nvidia-open-580", Version: "580.95.05-1"}, "580.95.05"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := v100()
			h.Platform, h.DriverPackages = test.platform, &test.packages
			p := must(t, h, resolver.Request{}, fixDriver(), plan.Target{})
			if p.Driver.Version == nil || *p.Driver.Version != test.version {
				t.Errorf("the plan's driver: %+v", p.Driver)
			}
			spec := test.effect.Package + packageManagers[test.packages.Manager].between + test.effect.Version
			var got []string
			for _, id := range []string{"driver-rehearse", "driver-download", "driver"} {
				argv := step(t, p, id).Run.Argv
				if argv[len(argv)-1] != spec {
					t.Errorf("%s: %q, want %s", id, argv, spec)
				}
				word := slices.IndexFunc(argv, func(a string) bool {
					return a != "--no-refresh" && a != "--non-interactive" && (strings.HasPrefix(a, "--"))
				})
				if word < 0 || id == "driver" && argv[0] == "zypper" {
					word = slices.Index(argv, "install")
				}
				got = append(got, argv[0]+" "+argv[word])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(&test.effect, step(t, p, "driver").Effect); diff != "" {
				t.Error(diff)
			}
			if s := step(t, p, "driver"); !strings.Contains(s.Title, test.version) {
				t.Errorf("its title: %q", s.Title)
			}
			if test.packages.Manager == "dnf" {
				if argv := step(t, p, "driver-hold").Run.Argv; argv[3] != "*nvidia*580.95.05*" {
					t.Errorf("the lock: %q", argv)
				}
			}
		})
	}
}

func fixDriver() *resolver.Resolution {
	return &resolver.Resolution{Decision: resolver.FixDriver, Told: resolver.Told{Then: choice()},
		Driver: resolver.DriverChoice{Action: "install", Branch: "580", KernelModule: "open", Minimum: version.MustDotted("525.60.13")}}
}

func step(t *testing.T, p *plan.Plan, id string) plan.Step {
	t.Helper()
	i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("no step %s in %q", id, commands(p))
	}
	return p.Steps[i]
}

// What the repository offers does not do: too old, or of another branch. The plan
// says so, and takes what is there after the lists were read again.
func TestNothingThatDoesIsOffered(t *testing.T) {
	h := v100()
	h.DriverPackages = &machine.DriverPackages{Manager: "apt-get", Offered: map[string][]string{"nvidia-driver-580-open": {"580.65.06-0ubuntu1", "1 --evil", "570.1-1"}}}
	res := fixDriver()
	res.Driver.Minimum = version.MustDotted("580.95.05")
	p := must(t, h, resolver.Request{}, res, plan.Target{})
	s := step(t, p, "driver")
	if p.Driver.Version != nil || s.Effect != nil || s.Run.Argv[len(s.Run.Argv)-1] != "nvidia-driver-580-open" {
		t.Errorf("%+v %q", p.Driver, s.Run.Argv)
	}
	if !strings.HasSuffix(s.Why, "exactly which 580 is what the repository holds then") || !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "580.65.06-0ubuntu1") }) {
		t.Errorf("why %q, warnings %q", s.Why, p.Warnings)
	}
}

// Our own hold is lifted and set again, in steps that can be seen; what somebody
// else holds is not touched.
func TestOwnHold(t *testing.T) {
	for distro, want := range map[string]string{
		"ubuntu 24.04":       "apt-mark unhold nvidia-driver-570-open",
		"fedora 44":          "dnf versionlock delete nvidia-driver-570-open",
		"opensuse-leap 15.6": "zypper --non-interactive removelock nvidia-driver-570-open",
	} {
		h := v100()
		h.Platform.Distro, h.Platform.DistroVersion, _ = strings.Cut(distro, " ")
		h.DriverPackages = &machine.DriverPackages{Held: []string{"nvidia-driver-570-open", "linux-image-generic"}, OwnHolds: []string{"nvidia-driver-570-open"}}
		p := must(t, h, resolver.Request{}, fixDriver(), plan.Target{})
		if s := p.Steps[0]; s.ID != "driver-unhold" || strings.Join(s.Run.Argv, " ") != want {
			t.Errorf("%s: first %s %q, want %s", distro, s.ID, s.Run.Argv, want)
		}
		if s := step(t, p, "driver-hold"); !s.Root {
			t.Errorf("%s: %+v", distro, s)
		}
		h.DriverPackages.OwnHolds = nil
		if p := must(t, h, resolver.Request{}, fixDriver(), plan.Target{}); p.Steps[0].ID == "driver-unhold" {
			t.Errorf("%s: somebody else's hold is lifted: %q", distro, p.Steps[0].Run.Argv)
		}
	}
}

// A rehearsal lets the driver that is there go, and nothing else.
func TestMayRemove(t *testing.T) {
	h := v100()
	h.DriverPackages = &machine.DriverPackages{Installed: map[string]string{"nvidia-driver-570": "570.1-1", "libnvidia-compute-570": "570.1-1"}}
	p := must(t, h, resolver.Request{}, fixDriver(), plan.Target{})
	if diff := cmp.Diff([]string{"libnvidia-compute-570", "nvidia-driver-570"}, step(t, p, "driver-rehearse").Rehearsal.MayRemove); diff != "" {
		t.Error(diff)
	}
	h.DriverPackages.Installed = nil
	p = must(t, h, resolver.Request{}, fixDriver(), plan.Target{})
	if got := step(t, p, "driver-rehearse").Rehearsal.MayRemove; len(got) != 0 {
		t.Errorf("nothing is installed, and may go: %q", got)
	}
}

// A driver of the .run file is not covered with packages.
func TestRunFile(t *testing.T) {
	for _, distro := range []string{"ubuntu", "debian", "rocky", "fedora", "sles"} {
		h := v100()
		h.Platform.Distro, h.Driver.RunFile = distro, true
		p := must(t, h, resolver.Request{ChangeDriver: true}, fixDriver(), plan.Target{})
		if s := p.Steps[0]; s.Manual == nil || !strings.Contains(s.Manual.Text, "sudo nvidia-uninstall") {
			t.Errorf("%s: %+v", distro, s)
		}
	}
}

// nouveau is kept away where it drives a GPU, and only there.
func TestNouveau(t *testing.T) {
	for distro, want := range map[string]string{"ubuntu 24.04": "update-initramfs -u", "rocky 9.6": "dracut --force", "fedora 44": "dracut --force", "sles 15.6": "dracut --force"} {
		h := v100()
		h.Platform.Distro, h.Platform.DistroVersion, _ = strings.Cut(distro, " ")
		if has(must(t, h, resolver.Request{}, fixDriver(), plan.Target{}), "driver-nouveau") {
			t.Errorf("%s: blocked without being there", distro)
		}
		h.GPUs[0].KernelDriver = "nouveau"
		p := must(t, h, resolver.Request{}, fixDriver(), plan.Target{})
		if s := step(t, p, "driver-nouveau"); s.Write.Content != "blacklist nouveau\noptions nouveau modeset=0\n" {
			t.Errorf("%s: %q", distro, s.Write.Content)
		}
		if got := strings.Join(step(t, p, "driver-initramfs").Run.Argv, " "); got != want {
			t.Errorf("%s: %s", distro, got)
		}
	}
}

func has(p *plan.Plan, id string) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID == id })
}

// The headers are those of the kernel that runs, in its version.
func TestHeadersOfTheRunningKernel(t *testing.T) {
	h := v100()
	h.Platform = machine.Platform{OS: "linux", Arch: "x86_64", Distro: "sles", DistroVersion: "15.6", Kernel: "6.4.0-150600.23.25-default"}
	h.DriverPackages = &machine.DriverPackages{Offered: map[string][]string{"kernel-default-devel": {"6.4.0-150600.23.33.1", "6.4.0-150600.23.25.1"}}}
	p := must(t, h, resolver.Request{}, fixDriver(), plan.Target{})
	if got := step(t, p, "driver-prepare-5").Run.Argv; got[len(got)-1] != "kernel-default-devel=6.4.0-150600.23.25.1" {
		t.Errorf("%q", got)
	}
	manager, names := DriverPackages(&matrix.Matrix{}, h, resolver.Request{}, fixDriver())
	if diff := cmp.Diff([]string{"zypper", "nvidia-open-580", "kernel-default-devel"}, append([]string{manager}, names...)); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	h.Platform.Environment = machine.WSL2
	if manager, names := DriverPackages(&matrix.Matrix{}, h, resolver.Request{}, fixDriver()); manager != "" || names != nil {
		t.Errorf("under WSL: %s %q", manager, names)
	}
}
