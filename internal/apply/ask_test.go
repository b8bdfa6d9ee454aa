package apply

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/machine"

	"github.com/google/go-cmp/cmp"
)

// stub is a host whose programs print what is given for their first words.
func stub(t *testing.T, says map[string]string) host {
	t.Helper()
	m := host{root: t.TempDir(), programs: t.TempDir()}
	scripts := map[string]string{}
	for words, text := range says {
		program, args, _ := strings.Cut(words, " ")
		file := filepath.Join(m.programs, strings.ReplaceAll(words, "/", "_")+".out")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		scripts[program] += "case \"$*\" in *'" + args + "'*) cat '" + file + "'; exit 0;; esac\n"
	}
	for program, text := range scripts {
		if err := os.WriteFile(filepath.Join(m.programs, program), []byte("#!/bin/sh\n"+text+"echo \"$0: not expected: $*\" >&2; exit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m host) file(t *testing.T, name, text string) host {
	t.Helper()
	at := m.root + name
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return m
}

// What each package manager says becomes the same facts. The texts are those of
// apt 2.6, dnf 4.14, dnf5 and zypper 1.14.
func TestAsk(t *testing.T) {
	const rpms = "bash 5.2.26-4.el9\nnvidia-open 3:570.211.01-1.el9\nnvidia-container-toolkit 1.17.4-1\n"
	for _, test := range []struct {
		name, manager string
		names         []string
		host          host
		want          machine.DriverPackages
	}{
		{"apt", "apt-get", []string{"nvidia-driver-580-open", "linux-headers-6.8.0-45-generic"}, stub(t, map[string]string{
			"apt-cache madison nvidia-driver-580-open linux-headers-6.8.0-45-generic": "nvidia-driver-580-open | 580.95.05-0ubuntu0.24.04.2 | http://archive.example noble-updates/restricted amd64 Packages\nnvidia-driver-580-open | 580.95.05-0ubuntu0.24.04.2 | http://security.example noble-security/restricted amd64 Packages\nnvidia-driver-580-open | 580.65.06-0ubuntu1 | http://archive.example noble/restricted amd64 Packages\nnvidia-driver-580-open | 580.95.05-0ubuntu0.24.04.2 | http://archive.example noble/restricted Sources\n",
			"dpkg-query -W":     "installed bash 5.2-1\nconfig-files nvidia-driver-535 535.1-1\ninstalled nvidia-driver-570-open 570.211.01-0ubuntu1\n",
			"apt-mark showhold": "nvidia-driver-570-open\nlinux-image-generic\n",
		}).file(t, heldRecord, "nvidia-driver-570-open\n"), machine.DriverPackages{Manager: "apt-get",
			Offered:   map[string][]string{"nvidia-driver-580-open": {"580.95.05-0ubuntu0.24.04.2", "580.65.06-0ubuntu1"}},
			Installed: map[string]string{"nvidia-driver-570-open": "570.211.01-0ubuntu1"},
			Held:      []string{"nvidia-driver-570-open", "linux-image-generic"}, OwnHolds: []string{"nvidia-driver-570-open"}}},
		{"apt, from a folder", "apt-get", []string{"nvidia-open"}, stub(t, map[string]string{
			"apt-cache madison nvidia-open": "nvidia-open | 580.95.05-1 | file:/var/cuda-repo-debian12-13-0-local  Packages\n",
		}), machine.DriverPackages{Manager: "apt-get", Offered: map[string][]string{"nvidia-open": {"580.95.05-1"}}, OnDisk: true, Installed: map[string]string{}}},
		{"dnf4", "dnf", []string{"nvidia-open"}, stub(t, map[string]string{
			"dnf repoquery":           "nvidia-open 3:570.211.01-1.el9\n\nnvidia-open 3:580.95.05-1.el9\n\nanother 1-1\n",
			"rpm -qa":                 rpms,
			"dnf -q versionlock list": "Last metadata expiration check: 0:00:01 ago.\nnvidia-open-3:570.211.01-1.el9.*\nnvidia-driver-cuda-libs-3:570.211.01-1.el9.*\nkernel-5.14.0-503.el9.*\n",
		}).file(t, heldRecord, "*nvidia*570*\n"), machine.DriverPackages{Manager: "dnf",
			Offered:   map[string][]string{"nvidia-open": {"3:580.95.05-1.el9", "3:570.211.01-1.el9"}},
			Installed: map[string]string{"nvidia-open": "3:570.211.01-1.el9"},
			Held:      []string{"nvidia-open", "nvidia-driver-cuda-libs", "kernel"}, OwnHolds: []string{"nvidia-open", "nvidia-driver-cuda-libs"}}},
		{"dnf5", "dnf", []string{"nvidia-open"}, stub(t, map[string]string{
			"dnf repoquery":           "nvidia-open 3:610.57.04-1.fc44\n",
			"rpm -qa":                 "",
			"dnf -q versionlock list": "# Added by 'versionlock add' command on 2026-11-01 10:00:00\nPackage name: nvidia-open\nevr = 3:610.43.02-1.fc44\n\nPackage name: nvidia-driver\nevr = 3:595.1-1.fc44\n",
		}).file(t, heldRecord, "*nvidia*610*\n"), machine.DriverPackages{Manager: "dnf",
			Offered: map[string][]string{"nvidia-open": {"3:610.57.04-1.fc44"}}, Installed: map[string]string{},
			Held: []string{"nvidia-open", "nvidia-driver"}, OwnHolds: []string{"nvidia-open"}}},
		{"zypper", "zypper", []string{"nvidia-open-580"}, stub(t, map[string]string{
			"zypper search": "Loading repository data...\n\nS | Name            | Type    | Version       | Arch   | Repository\n--+-----------------+---------+---------------+--------+------------------\ni | nvidia-open-580 | package | 580.105.08-1  | x86_64 | cuda-sles15-x86_64\nv | nvidia-open-580 | package | 580.95.05-1   | x86_64 | cuda-sles15-x86_64\ni | nvidia-open-580 | package | 580.1-1       | x86_64 | (System Packages)\n",
			"rpm -qa":       rpms,
			"zypper locks":  "\n# | Name            | Type    | Repository\n--+-----------------+---------+-----------\n1 | nvidia-open-570 | package | (any)\n2 | kernel*         | package | (any)\n",
		}).file(t, heldRecord, "nvidia-open-580\n"), machine.DriverPackages{Manager: "zypper",
			Offered:   map[string][]string{"nvidia-open-580": {"580.105.08-1", "580.95.05-1"}},
			Installed: map[string]string{"nvidia-open": "3:570.211.01-1.el9"}, Held: []string{"nvidia-open-570"}}},
		{"nothing answers", "dnf", []string{"nvidia-open"}, stub(t, nil), machine.DriverPackages{Manager: "dnf", Offered: map[string][]string{}, Installed: map[string]string{}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(&test.want, test.host.ask(context.Background(), test.manager, test.names)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if p := (host{}).ask(context.Background(), "brew", nil); p != nil {
		t.Errorf("of an unknown manager: %+v", p)
	}
}
