package apply

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// What a rehearsal shows and the command does not name is found.
func TestUnnamed(t *testing.T) {
	const inst = "Inst nvidia-driver-580 (580.95.05-1 NVIDIA:Debian12 [amd64])\nInst dkms (3.0-1 Debian:12/stable [all])\nConf dkms (3.0-1 Debian:12/stable [all])\n"
	for _, test := range []struct {
		name, command, said string
		want                []string
	}{
		{"as named", "apt-get install --simulate -y nvidia-driver-580=580.95.05-1", inst, nil},
		{"any version", "apt-get install --simulate -y nvidia-driver-580", inst, nil},
		{"another version", "apt-get install --simulate -y nvidia-driver-580=580.105.08-1", inst, []string{"apt-get brings nvidia-driver-580 580.95.05-1"}},
		{"an upgrade in another version", "apt-get install --simulate nvidia-driver-580=1", "Inst nvidia-driver-580 [1] (2 x [amd64])\n", []string{"apt-get brings nvidia-driver-580 2"}},
		{"another package", "apt-get install --simulate nvidia-driver", "Note, selecting 'evil' instead of 'nvidia-driver'\nInst evil (1 x [amd64])\n", []string{"apt-get takes, instead, evil"}},
		{"libc goes back", "apt-get install --simulate --allow-downgrades nvidia-driver-580=1", "The following packages will be DOWNGRADED:\n  libc6 libnvidia-gl-580\n0 upgraded\n",
			[]string{"apt-get goes back with libc6"}},
		{"the driver goes back", "apt-get install --simulate --allow-downgrades nvidia-driver-580=1", "The following packages will be DOWNGRADED:\n  nvidia-driver-580\n", nil},
		{"a removal brings something", "apt-get remove --simulate nvidia-driver-580", "Remv nvidia-driver-580 [1]\nInst mutter (1 x [amd64])\n", []string{"apt-get brings mutter 1"}},
		{"another of the driver's", "apt-get remove --simulate nvidia-driver-580", "Inst nvidia-driver-580-open (1 x [amd64])\n", nil},
		{"dnf, as named", "dnf install --assumeno nvidia-open-3:580.95.05-1.el9", "Installing:\n nvidia-open x86_64 3:580.95.05-1.el9 cuda 5 k\nInstalling dependencies:\n gcc x86_64 11-1 r 1 M\n\nTransaction Summary\n", nil},
		{"dnf, without epoch and release", "dnf install --assumeno nvidia-open-580.95.05", "Installing:\n nvidia-open x86_64 3:580.95.05-1.el9 cuda 5 k\n", nil},
		{"dnf, another version", "dnf install --assumeno nvidia-open-3:580.95.05-1.el9", "Upgrading:\n nvidia-open x86_64 3:590.1-1.el9 cuda 5 k\n", []string{"dnf brings nvidia-open 3:590.1-1.el9"}},
		{"dnf, by what it provides", "dnf install --assumeno nvidia-driver", "Installing:\n evil x86_64 1-1 r 1 k\n", []string{"dnf installs evil 1-1"}},
		{"dnf, over two lines", "dnf install --assumeno kernel-devel-5.14.0-70.el9.x86_64", "Installing:\n kernel-devel\n              x86_64   5.14.0-70.el9   baseos  20 M\n", nil},
		{"dnf, over two lines, another", "dnf install --assumeno kernel-devel-5.14.0-70.el9.x86_64", "Installing:\n kernel-devel\n              x86_64   5.14.0-99.el9   baseos  20 M\n",
			[]string{"dnf installs kernel-devel 5.14.0-99.el9"}},
		{"dnf, glibc goes back", "dnf install --assumeno nvidia-open", "Downgrading:\n glibc x86_64 2.34-1 r 1 M\n nvidia-open x86_64 1-1 r 1 k\n", []string{"dnf goes back with glibc 2.34-1"}},
		{"zypper goes back", "zypper --non-interactive install --dry-run nvidia-open=1", "The following package is going to be downgraded:\n  glibc\n\nThe following NEW package is going to be installed:\n  nvidia-open\n",
			[]string{"zypper goes back with glibc"}},
		{"zypper brings something in a removal", "zypper --non-interactive remove --dry-run nvidia-open", "The following 2 NEW packages are going to be installed:\n  evil other\n\n2 new\n",
			[]string{"zypper brings evil", "zypper brings other"}},
		{"nothing of packages", "apt-get update", "Inst evil (1 x)\n", nil},
	} {
		if diff := cmp.Diff(test.want, unnamed(strings.Fields(test.command), test.said)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// Root's half refuses what the package manager would take in place of what is named,
// in another version, or back to an older one, and has changed nothing.
func TestThreat11RootRefusesWhatIsNotNamed(t *testing.T) {
	for name, said := range map[string]string{
		"another package": "Note, selecting 'nvidia-evil' instead of 'nvidia-driver-580'\nInst nvidia-evil (1 x [amd64])",
		"another version": "Inst nvidia-driver-580 (9 x [amd64])",
		"an older libc":   "The following packages will be DOWNGRADED:\n  libc6\nInst nvidia-driver-580 (1 x [amd64])",
	} {
		dir := t.TempDir()
		program := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--simulate*) cat <<'EOF'\n%s\nEOF\n;; *) echo ran >%s/ran ;; esac\n", said, dir)
		if err := os.WriteFile(dir+"/apt-get", []byte(program), 0o755); err != nil {
			t.Fatal(err)
		}
		step := plan.Step{ID: "driver", Run: &plan.Run{Argv: []string{"apt-get", "install", "-y", "nvidia-driver-580=1"}}}
		err := host{programs: dir}.direct(context.Background(), step, io.Discard, nil)
		if kind(t, err) != fail.Preflight || !strings.Contains(fmt.Sprint(err), "does not name") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir + "/ran"); !gone(err) {
			t.Errorf("%s: it ran", name)
		}
	}
}
