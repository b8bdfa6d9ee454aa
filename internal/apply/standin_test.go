//go:build linux

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/installers"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// A standIn is a machine whose package manager is testdata/standin/standin.sh: it
// records each command line, refuses those that it does not know, and keeps what is
// installed, downloaded and held.
type standIn struct{ dir string }

// A distro is how a stand-in looks when it is new.
type distro struct {
	name, like, release string
	manager, kernel     string
	offered             []string // what its repositories have, oldest first
	dnf5                bool
}

var distros = []distro{
	{"ubuntu", "debian", "24.04", "apt-get", "6.8.0-45-generic", both("nvidia-driver-BRANCH-open VERSION-0ubuntu0.24.04.1", "nvidia-driver-BRANCH VERSION-0ubuntu0.24.04.1", "linux-headers-6.8.0-45-generic 6.8.0-45.45"), false},
	{"debian", "", "12", "apt-get", "6.1.0-30-amd64", both("nvidia-open VERSION-1", "cuda-drivers VERSION-1", "nvidia-driver-pinning-BRANCH 1-1", "linux-headers-6.1.0-30-amd64 6.1.124-1"), false},
	{"rocky", "rhel centos fedora", "9.6", "dnf", "5.14.0-570.12.1.el9_6.x86_64", both("nvidia-open 3:VERSION-1.el9", "cuda-drivers 3:VERSION-1.el9", "python3-dnf-plugin-versionlock 4.3.0-21.el9", "kernel-devel-5.14.0-570.12.1.el9_6.x86_64 1-1"), false},
	{"rhel", "fedora", "10.0", "dnf", "6.12.0-55.el10.x86_64", both("nvidia-open 3:VERSION-1.el10", "cuda-drivers 3:VERSION-1.el10", "python3-dnf-plugin-versionlock 4.10-1.el10", "kernel-devel-6.12.0-55.el10.x86_64 1-1"), false},
	{"fedora", "", "44", "dnf", "6.17.4-300.fc44.x86_64", both("nvidia-open 3:VERSION-1.fc44", "cuda-drivers 3:VERSION-1.fc44", "kernel-devel-6.17.4-300.fc44.x86_64 1-1"), true},
	{"sles", "suse", "15.6", "zypper", "6.4.0-150600.23.25-default", both("nvidia-open-BRANCH VERSION-1", "cuda-drivers-BRANCH VERSION-1", "kernel-default-devel 6.4.0-150600.23.25.1"), false},
	{"opensuse-leap", "suse opensuse", "16.0", "zypper", "6.12.0-160000.5-default", both("nvidia-open-BRANCH VERSION-1", "cuda-drivers-BRANCH VERSION-1", "kernel-default-devel 6.12.0-160000.5.1"), false},
}

// both expands what is offered over the branches of the driver.
func both(lines ...string) (out []string) {
	for _, v := range []string{"570.211.01", "580.95.05", "580.105.08", "610.57.04"} {
		for _, l := range lines {
			l = strings.ReplaceAll(strings.ReplaceAll(l, "BRANCH", v[:3]), "VERSION", v)
			if !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// newStandIn makes a machine of that distro below dir.
func newStandIn(t testing.TB, dir string, d distro) standIn {
	t.Helper()
	s := standIn{dir}
	script, err := filepath.Abs("testdata/standin/standin.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"programs", "state", "root/proc/sys/kernel", "root/usr/src/headers", "root/lib/modules/" + d.kernel, "tools"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"apt-get", "apt-cache", "apt-mark", "dpkg", "dpkg-query", "dnf", "zypper", "rpm", "rpmdb", "modinfo", "update-initramfs", "dracut"} {
		if err := os.Symlink(script, filepath.Join(dir, "programs", name)); err != nil {
			t.Fatal(err)
		}
	}
	s.set(t, "state/offered", strings.Join(d.offered, "\n")+"\n")
	s.set(t, "root/proc/sys/kernel/osrelease", d.kernel+"\n")
	s.set(t, "boot", "first")
	for _, name := range []string{"installed", "locks", "stream", "cache", "keys"} {
		s.set(t, "state/"+name, "")
	}
	if d.dnf5 {
		s.set(t, "state/dnf5", "")
	}
	return s
}

func (s standIn) set(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns a file's lines; none where it is missing.
func (s standIn) read(name string) []string {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// keyPrint is the fingerprint of the key that stands in for NVIDIA's.
const keyPrint = "DFB32150B71FA062AC4D9476ACEA09F0728494E5"

func (s standIn) host() host {
	return host{root: s.dir + "/root", programs: s.dir + "/programs", keys: map[string]string{"D42D0685": keyPrint, "73CD9B30": keyPrint, "3A8B5622": keyPrint, "3BF863CC": keyPrint}}
}

// facts is the driver as the machine has it now: its libraries, and what the kernel
// loaded at the last boot.
func (s standIn) facts() *machine.Driver {
	installed := ""
	for _, line := range s.read("state/installed") {
		if v, ok := strings.CutPrefix(line, "libnvidia "); ok {
			installed = machine.Upstream(v).String()
		}
	}
	if installed == "" {
		return nil
	}
	d := &machine.Driver{Version: version.MustDotted(installed)}
	if loaded := s.read("loaded"); loaded != nil {
		d.LoadedVersion = version.MustDotted(loaded[0])
	} else {
		d.NotLoaded = true
	}
	return d
}

// reboot starts the machine anew: the kernel loads the module that was built.
func (s standIn) reboot() error {
	built, err := os.ReadFile(s.dir + "/state/built")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(s.dir+"/loaded", built, 0o644), os.WriteFile(s.dir+"/boot", []byte(s.read("boot")[0]+"+"), 0o644))
}

// options apply a plan on this machine. A step for root goes the way that it goes
// through sudo: as JSON, to a process that looks at it anew.
func (s standIn) options(out io.Writer) Options {
	return Options{Out: out, Fresh: true, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Boot: s.read("boot")[0], Tools: s.dir + "/tools", on: s.host(),
		Facts: func(context.Context) (machine.Machine, error) { return machine.Machine{Driver: s.facts()}, nil },
		Root: func(ctx context.Context, step plan.Step, out io.Writer, log *system.Log) error {
			b, err := json.Marshal(step)
			var again plan.Step
			d := json.NewDecoder(bytes.NewReader(b))
			d.DisallowUnknownFields()
			if err := errors.Join(err, d.Decode(&again)); err != nil {
				return err
			}
			return s.host().direct(ctx, again, out, log)
		}}
}

// plan is what the installers plan for this machine, with a step of the user half
// that takes no time. The key is a copy of ours instead of NVIDIA's.
func (s standIn) plan(t testing.TB, d distro, action, branch, module string) *plan.Plan {
	t.Helper()
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Distro: d.name, DistroLike: d.like, DistroVersion: d.release, Kernel: d.kernel, Environment: machine.Bare},
		GPUs: []machine.GPU{{Vendor: machine.NVIDIA, Name: "RTX 4060", SM: machine.MustSM("8.9")}}, Driver: s.facts()}
	res := &resolver.Resolution{Decision: resolver.FixDriver, Driver: resolver.DriverChoice{Action: action, Branch: branch, KernelModule: module}}
	m := &matrix.Matrix{}
	manager, names := installers.DriverPackages(m, h, resolver.Request{}, res)
	if manager != d.manager {
		t.Fatalf("package manager %q, want %s", manager, d.manager)
	}
	h.DriverPackages = s.host().ask(context.Background(), manager, names)
	p, err := installers.Plan(m, h, resolver.Request{}, res, plan.Target{Dir: ".venv"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := filepath.Abs("../system/testdata/key.asc")
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Steps {
		if run := p.Steps[i].Run; run != nil && run.Argv[0] == "curl" {
			run.Argv = []string{"cp", key, run.Argv[len(run.Argv)-2]}
		}
	}
	p.Steps = append(p.Steps, plan.Step{ID: "user-half", Title: "the user half", Run: &plan.Run{Argv: []string{"true"}}})
	if err := plan.Seal(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// install puts a driver there as if it had always been: loaded, and not by envfix.
func (s standIn) install(t testing.TB, lines ...string) {
	t.Helper()
	s.set(t, "state/installed", strings.Join(lines, "\n")+"\n")
	s.set(t, "state/built", machine.Upstream(strings.Fields(lines[0])[1]).String())
	if err := s.reboot(); err != nil {
		t.Fatal(err)
	}
	s.set(t, "boot", "first")
}
