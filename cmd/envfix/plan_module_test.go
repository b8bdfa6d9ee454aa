package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/resolver"
)

// TestModuleSwitch: an RTX 50 under the proprietary kernel module, which does not drive
// it, gets the open one of the branch that is there, by steps, on every distribution
// that has a recipe.
func TestModuleSwitch(t *testing.T) {
	data, err := os.ReadFile("testdata/machines/rtx5090-workstation-570.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ distro, like, version, manager string }{
		{"ubuntu", "debian", "22.04", "apt-get"}, {"ubuntu", "debian", "24.04", "apt-get"}, {"linuxmint", "ubuntu debian", "22", "apt-get"},
		{"debian", "", "12", "apt-get"}, {"debian", "", "13", "apt-get"},
		{"rhel", "fedora", "8.10", "dnf"}, {"rocky", "rhel centos fedora", "9.4", "dnf"}, {"almalinux", "rhel centos fedora", "10.0", "dnf"},
		{"ol", "fedora", "9.4", "dnf"}, {"amzn", "fedora", "2023", "dnf"}, {"fedora", "", "41", "dnf"}, {"fedora", "", "43", "dnf"},
		{"sles", "suse", "15.6", "zypper"}, {"opensuse-leap", "suse opensuse", "15.6", "zypper"}, {"opensuse-leap", "suse opensuse", "16.0", "zypper"},
	} {
		for _, driver := range []string{"570.172.08", "580.95.05"} {
			t.Run(test.distro+" "+test.version+" "+driver, func(t *testing.T) {
				m, err := machine.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				m.Platform.Distro, m.Platform.DistroLike, m.Platform.DistroVersion = test.distro, test.like, test.version
				m.Driver.Version, m.Driver.LoadedVersion = version.MustDotted(driver), version.MustDotted(driver)
				m.Driver.KernelModule = "proprietary"
				m.Tools = []machine.Tool{{Name: test.manager, Path: "/usr/bin/" + test.manager}, {Name: "sudo", Path: "/usr/bin/sudo"}}
				facts := filepath.Join(t.TempDir(), "facts.json")
				if err := os.WriteFile(facts, m.Encode(), 0o600); err != nil {
					t.Fatal(err)
				}
				var p plan.Plan
				if err := json.Unmarshal([]byte(stdoutOf(t, []string{"envfix", "plan", "--json", "--change-driver", "--facts", facts})), &p); err != nil {
					t.Fatal(err)
				}
				branch, _, _ := strings.Cut(driver, ".")
				if p.Decision != resolver.FixDriver || p.Driver.Action != "switch-module" || p.Driver.Branch == nil || *p.Driver.Branch != branch {
					t.Errorf("%s %+v, want the driver's module switched in branch %s", p.Decision, p.Driver, branch)
				}
				var argv []string
				for _, s := range p.Steps {
					if s.ID == "driver" && s.Run != nil {
						argv = s.Run.Argv
					}
				}
				if len(argv) == 0 || argv[0] != test.manager || !strings.Contains(argv[len(argv)-1], "open") {
					t.Errorf("%q, want %s to install the open module", argv, test.manager)
				}
			})
		}
	}
}
