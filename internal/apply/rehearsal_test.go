package apply

import (
	"os"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// The files hold what dnf 4.14 and zypper 1.14.42 said of tiny packages that
// depend on and conflict with one another as NVIDIA's do.
func TestRemovals(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile("testdata/rehearsal/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, test := range []struct {
		name, manager, said string
		want                []string
	}{
		{"apt: a desktop goes along", "apt-get", "Reading package lists...\nThe following packages will be REMOVED:\n  ubuntu-desktop nvidia-driver-570\n0 upgraded, 9 newly installed, 2 to remove\nRemv ubuntu-desktop [1.539]\nPurg nvidia-driver-570 [570.1-1]\nInst nvidia-driver-580 (580.95.05-0ubuntu1 x:24.04/noble [amd64])\nConf nvidia-driver-580 (580.95.05-0ubuntu1 x:24.04/noble [amd64])\n",
			[]string{"ubuntu-desktop", "nvidia-driver-570"}},
		{"dnf4: the other flavour", "dnf", read("dnf4-switch.txt"), []string{"kmod-nvidia-open-dkms", "nvidia-open"}},
		{"dnf4: a downgrade", "dnf", read("dnf4-downgrade.txt"), nil},
		{"dnf: replaced by another name", "dnf", "Dependencies resolved.\nInstalling:\n nvidia-open x86_64 3:590-1 r 1 k\n     replacing  nvidia-open-580.x86_64 3:580.1-1\n   replacing nvidia-old noarch 1-1 r 1 k\nTransaction Summary\n", []string{"nvidia-open-580", "nvidia-old"}},
		{"dnf5: a kernel goes", "dnf", "Package Arch Version Repository Size\nInstalling:\n nvidia-open x86_64 3:580-1 cuda 1 KiB\nRemoving unused dependencies:\n kernel-core x86_64 6.11-1 updates 70 MiB\n\nTransaction Summary:\n Installing: 1 package\n Removing: 1 package\n", []string{"kernel-core"}},
		{"zypper: the other flavour", "zypper", read("zypper-switch.txt"), []string{"kmod-nvidia-open-dkms", "nvidia-open"}},
		{"zypper: one, over two lines", "zypper", "The following package is going to be REMOVED:\n  a-very-long-name\n  another\n\n1 package to remove.\n", []string{"a-very-long-name", "another"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, removals(test.manager, test.said)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What would go along ends the plan, unless the plan names it.
func TestRehearsal(t *testing.T) {
	apt := func(may ...string) plan.Step {
		return plan.Step{ID: "driver-rehearse", Root: true, Run: &plan.Run{Argv: []string{"apt-get", "install", "--simulate", "x"}}, Rehearsal: &plan.Rehearsal{MayRemove: may}}
	}
	said := "Remv nvidia-driver-570 [570.1-1]\nRemv ubuntu-desktop [1.539]\n"
	err := judge(apt("nvidia-driver-570", "libnvidia-compute-570"), said)
	if kind(t, err) != fail.Preflight || !strings.Contains(err.Error(), "1 packages") {
		t.Errorf("a desktop goes: %v", err)
	}
	if err := judge(apt("nvidia-*", "ubuntu-desktop"), said); err != nil {
		t.Errorf("all that goes is named: %v", err)
	}
	dnf := plan.Step{Run: &plan.Run{Argv: []string{"dnf", "install", "--assumeno", "nvidia-open"}}, Rehearsal: &plan.Rehearsal{}}
	for said, ok := range map[string]bool{"Nothing to do.\n": true, "Installing:\n nvidia-open x 1 r 1\nTransaction Summary\nOperation aborted.\n": true,
		"Error: Unable to find a match: nvidia-open-3:999-1.el9\n": false, "": false} {
		if err := judge(dnf, said); (err == nil) != ok {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func FuzzRemovals(f *testing.F) {
	f.Add("dnf", "Removing:\n x\n")
	f.Add("apt-get", "Remv x [1]\n")
	f.Add("zypper", "The following package is going to be REMOVED:\n  x\n")
	f.Fuzz(func(t *testing.T, manager, said string) {
		for _, name := range removals(manager, said) {
			if name == "" || strings.ContainsAny(name, " \n") {
				t.Errorf("%q is not a name", name)
			}
		}
	})
}
