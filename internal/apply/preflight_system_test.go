//go:build linux

package apply

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
)

// Each line of the preflight with a machine that is sick and with the same machine
// healthy: the one is refused, with the words that help, and the other is not.
func TestSystemPreflight(t *testing.T) {
	ubuntu, rocky, fedora, sles := distros[0], distros[2], distros[4], distros[5]
	on, off := "\x06\x00\x00\x00\x01", "\x06\x00\x00\x00\x00"
	secure := func(h host, t *testing.T) { h.file(t, secureBootVar, on) }
	for _, test := range []struct {
		name    string
		on      distro
		sick    func(*testing.T, standIn, *plan.Plan)
		healthy func(*testing.T, standIn, *plan.Plan) // nil: nothing
		kind    int
		says    string
	}{
		{"dpkg stopped half-way", ubuntu, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.set(t, "state/damaged", "The following packages are only half configured:\n nvidia-dkms-570\n")
		}, nil, fail.Preflight, "`dpkg --audit` says that the system's packages are not in order"},
		{"the rpm database is damaged", rocky, func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/damaged", "") }, nil, fail.Preflight, "`rpmdb --verifydb` says"},
		{"an rpm transaction was cut off", sles, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.set(t, "state/installed", "nvidia-open-570 570.1-1\nnvidia-open-570 570.2-1\nkernel-default 6.4-1\nkernel-default 6.5-1\n")
		}, func(t *testing.T, s standIn, _ *plan.Plan) { // two kernels are as it should be
			s.set(t, "state/installed", "nvidia-open-570 570.2-1\nkernel-default 6.4-1\nkernel-default 6.5-1\n")
		}, fail.Preflight, "nvidia-open-570 is installed in two versions (570.1-1, 570.2-1)"},
		{"zypper is at work", sles, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.host().file(t, "/run/zypp.pid", "4711\n").file(t, "/proc/4711/comm", "packagekitd\n")
		}, func(t *testing.T, s standIn, _ *plan.Plan) { s.host().file(t, "/run/zypp.pid", "4711\n") }, // a crash left it
			fail.Busy, "process 4711 packagekitd holds /run/zypp.pid"},
		{"dnf4 is at work", rocky, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.host().file(t, "/var/lib/dnf/rpmdb_lock.pid", "99").file(t, "/proc/99/comm", "dnf\n")
		}, func(t *testing.T, s standIn, _ *plan.Plan) { s.host().file(t, "/var/lib/dnf/rpmdb_lock.pid", "") }, fail.Busy, "process 99 dnf holds /var/lib/dnf/rpmdb_lock.pid"},
		{"apt: a package is held", ubuntu, func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/locks", "nvidia-driver-580-open\n") },
			func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/locks", "linux-image-generic\n") }, fail.Preflight, "nvidia-driver-580-open is held at its version"},
		{"dnf: a version is locked", fedora, func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/locks", "nvidia-driver 3:570.1-1\n") },
			func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/locks", "kernel-core 6.1-1\n") }, fail.Preflight, "nvidia-driver is held at its version"},
		{"dnf: excluded by its configuration", fedora, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.host().file(t, "/etc/dnf/dnf.conf", "[main]\nexcludepkgs=*nvidia*,akmods\n")
		}, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.host().file(t, "/etc/dnf/dnf.conf", "[main]\nexclude=kernel-rt*\n")
		}, fail.Preflight, "*nvidia* is held at its version"},
		{"zypper: a package is locked", sles, func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/locks", "nvidia-open-580\n") },
			func(t *testing.T, s standIn, _ *plan.Plan) { s.set(t, "state/locks", "kernel-default\n") }, fail.Preflight, "nvidia-open-580 is held at its version"},

		{"the running kernel was replaced", ubuntu, func(t *testing.T, s standIn, _ *plan.Plan) {
			if err := os.RemoveAll(s.dir + "/root/lib/modules"); err != nil {
				t.Fatal(err)
			}
		}, nil, fail.Preflight, "the modules of the kernel that runs (6.8.0-45-generic) are gone"},
		{"another kernel runs than the plan was made under", ubuntu, func(t *testing.T, s standIn, _ *plan.Plan) {
			s.host().file(t, "/proc/sys/kernel/osrelease", "6.11.0-8-generic\n")
		}, nil, fail.Stale, "the plan was made under kernel 6.8.0-45-generic, and 6.11.0-8-generic runs"},
		{"no headers, and the plan brings none", ubuntu, func(t *testing.T, s standIn, p *plan.Plan) { noHeaders(p) },
			func(t *testing.T, s standIn, p *plan.Plan) {
				noHeaders(p)
				if err := os.Symlink("/usr/src/headers", s.dir+"/root/lib/modules/6.8.0-45-generic/build"); err != nil {
					t.Fatal(err)
				}
			}, fail.Preflight, "the headers of the kernel that runs (6.8.0-45-generic) are not installed"},
		{"a link to headers that are gone", sles, func(t *testing.T, s standIn, p *plan.Plan) {
			noHeaders(p)
			if err := os.Symlink("/usr/src/gone", s.dir+"/root/lib/modules/6.4.0-150600.23.25-default/build"); err != nil {
				t.Fatal(err)
			}
		}, nil, fail.Preflight, "the headers of the kernel that runs (6.4.0-150600.23.25-default) are not installed"},

		{"Secure Boot without a key", fedora, func(t *testing.T, s standIn, _ *plan.Plan) { secure(s.host(), t) },
			func(t *testing.T, s standIn, _ *plan.Plan) { s.host().file(t, secureBootVar, off) }, fail.Preflight, "Secure Boot is on, and there is no key here"},
		{"Secure Boot, the key is not enrolled", sles, func(t *testing.T, s standIn, _ *plan.Plan) {
			secure(s.host().file(t, "/var/lib/dkms/mok.pub", "the key").file(t, ownerKeysVar, "\x07\x00\x00\x00another key"), t)
		}, func(t *testing.T, s standIn, _ *plan.Plan) {
			secure(s.host().file(t, "/var/lib/dkms/mok.pub", "the key").file(t, ownerKeysVar, "\x07\x00\x00\x00head the key tail"), t)
		}, fail.Preflight, "(/var/lib/dkms/mok.pub) is not enrolled in the firmware"},
		{"Secure Boot, by the plan's facts", rocky, func(t *testing.T, s standIn, p *plan.Plan) {
			yes := true
			p.Basis.Facts.Platform.SecureBoot = &yes
		}, nil, fail.Preflight, "Secure Boot is on"},

		{"programs use the GPU", ubuntu, func(t *testing.T, s standIn, _ *plan.Plan) { opener(t, s, "/dev/nvidia0", "python3") },
			func(t *testing.T, s standIn, _ *plan.Plan) { opener(t, s, "/dev/null", "python3") }, fail.Preflight, "1 processes use the GPU (815 python3)"},
		{"NVIDIA's own daemon uses it", ubuntu, func(t *testing.T, s standIn, _ *plan.Plan) { opener(t, s, "/dev/nvidiactl", "nvidia-persiste") }, nil, fail.Preflight, "815 nvidia-persiste"},
		{"a driver of the .run file", rocky, func(t *testing.T, s standIn, _ *plan.Plan) { s.host().file(t, "/usr/bin/nvidia-uninstall", "") }, nil, fail.Preflight, "was installed by NVIDIA's .run file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			look := func(change func(*testing.T, standIn, *plan.Plan)) error {
				s := newStandIn(t, t.TempDir(), test.on)
				p := s.plan(t, test.on, "install", "580", "open")
				if change != nil {
					change(t, s, p)
				}
				r := &run{Options: s.options(nil), plan: p, env: &Env{Name: ".venv"}, journal: &journal{}}
				err := r.preflightSystem(context.Background())
				if ran := s.asRoot(); len(ran) > 0 {
					t.Errorf("the preflight changed something: %q", ran)
				}
				return err
			}
			err := look(test.sick)
			if err == nil || kind(t, err) != test.kind || !strings.Contains(err.Error(), test.says) {
				t.Errorf("sick: got %v, want %q", err, test.says)
			}
			if err := look(test.healthy); err != nil {
				t.Errorf("healthy: %v", err)
			}
		})
	}
}

// noHeaders takes the step out that brings the kernel's headers.
func noHeaders(p *plan.Plan) {
	for i, s := range p.Steps {
		if s.Run != nil && headersOf(s.Run.Argv[len(s.Run.Argv)-1], p.Basis.Facts.Platform.Kernel) {
			p.Steps = append(p.Steps[:i:i], p.Steps[i+1:]...)
			return
		}
	}
}

// opener is a process 815 that has a file open.
func opener(t *testing.T, s standIn, file, name string) {
	t.Helper()
	s.host().file(t, "/proc/815/comm", name+"\n")
	dir := s.dir + "/root/proc/815/fd"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(dir, strconv.Itoa(3))); err != nil {
		t.Fatal(err)
	}
}

// Loading the module beside nouveau fails; a reboot with the blacklist does not.
func TestPreflightNouveau(t *testing.T) {
	h := host{root: t.TempDir()}
	load := &plan.Plan{Steps: []plan.Step{{ID: "driver-load", Root: true, Run: &plan.Run{Argv: []string{"modprobe", "nvidia"}}}}}
	look := func(p *plan.Plan) error { return (&run{Options: Options{on: h}, plan: p}).loadable() }
	if err := look(load); err != nil {
		t.Errorf("healthy: %v", err)
	}
	h.file(t, "/sys/module/nouveau/refcnt", "1\n")
	if err := look(load); err == nil || kind(t, err) != fail.Preflight || !strings.Contains(err.Error(), "nouveau drives the GPU") {
		t.Errorf("sick: %v", err)
	}
	reboots := &plan.Plan{Steps: append(load.Steps, plan.Step{ID: "reboot", Manual: &plan.Manual{Reboot: true}})}
	if err := look(reboots); err != nil {
		t.Errorf("with a reboot: %v", err)
	}
}

// There must be room in / and, where it is there, in /boot.
func TestPreflightSpace(t *testing.T) {
	h := host{root: t.TempDir()}
	for _, test := range []struct {
		rooms []room
		says  string
	}{
		{[]room{{"/", 1}, {"/boot", 1 << 60}}, ""}, // no /boot of its own
		{[]room{{"/", 1 << 60}}, "/ has "},
	} {
		err := h.space(test.rooms)
		if (err == nil) != (test.says == "") || err != nil && (kind(t, err) != fail.Preflight || !strings.HasPrefix(err.Error(), test.says)) {
			t.Errorf("%+v: %v", test.rooms, err)
		}
	}
	if err := os.Mkdir(h.root+"/boot", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.space([]room{{"/", 1}, {"/boot", 1 << 60}}); err == nil || !strings.HasPrefix(err.Error(), "/boot has ") {
		t.Errorf("a full /boot: %v", err)
	}
}

// After the driver is there, what is left is not held up by what came before.
func TestPreflightOfWhatIsLeft(t *testing.T) {
	d := distros[0]
	s, b := newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
	p := s.plan(t, d, "install", "580", "open")
	_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
	s.wantReboot(b, err)
	opener(t, s, "/dev/nvidia0", "python3")
	s.set(t, "state/damaged", "somebody's package\n")
	_, err = b.open().Apply(context.Background(), p, s.options(&b.out))
	s.wantReboot(b, err)
}

// Where the driver is another system's, nothing of it is planned and nothing done.
func TestNoDriverWhereItIsAnothersPlanned(t *testing.T) {
	for env, says := range map[string]string{machine.WSL2: "under WSL the driver is Windows'", machine.Container: "a container takes the driver of its host", machine.ContainerBuild: "a container takes", machine.Jetson: "the driver of a Jetson is part of L4T"} {
		d := distros[0]
		s, b := newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
		p := s.plan(t, d, "install", "580", "open")
		p.Basis.Facts.Platform.Environment = env
		_, err := b.open().Apply(context.Background(), reseal(t, p), s.options(&b.out))
		if kind(t, err) != fail.Preflight || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", env, err)
		}
		if ran := s.asRoot(); len(ran) > 0 {
			t.Errorf("%s: ran %q", env, ran)
		}
	}
}
