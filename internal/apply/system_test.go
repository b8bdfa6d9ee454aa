//go:build linux

package apply

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"

	"github.com/google/go-cmp/cmp"
)

// A change of the driver, from what is there to what is there afterwards.
type change struct {
	name, action, branch, module string
	was                          func(distro) []string
	loaded                       string // after the reboot
}

// pkg is the name of the driver's package on a distro.
func (d distro) pkg(branch, module string) string {
	open := module == "open"
	switch {
	case d.name == "ubuntu" && open:
		return "nvidia-driver-" + branch + "-open"
	case d.name == "ubuntu":
		return "nvidia-driver-" + branch
	case d.manager == "zypper" && open:
		return "nvidia-open-" + branch
	case d.manager == "zypper":
		return "cuda-drivers-" + branch
	case open:
		return "nvidia-open"
	}
	return "cuda-drivers"
}

// version is how the distro writes a driver's version.
func (d distro) version(name, upstream string) string {
	for _, line := range d.offered {
		if n, v, _ := strings.Cut(line, " "); n == name && strings.Contains(v, upstream) {
			return v
		}
	}
	return ""
}

func had(upstream, module string) func(distro) []string {
	return func(d distro) []string {
		name := d.pkg(upstream[:3], module)
		v := d.version(name, upstream)
		return []string{"libnvidia " + v, name + " " + v}
	}
}

var changes = []change{
	{"install", "install", "580", "open", nil, "580.105.08"},
	{"upgrade", "upgrade", "580", "open", had("570.211.01", "open"), "580.105.08"},
	{"upgrade within the branch", "upgrade", "580", "open", had("580.95.05", "open"), "580.105.08"},
	{"downgrade to the branch that drives this GPU", "pin", "580", "proprietary", had("610.57.04", "open"), "580.105.08"},
	{"switch the flavour", "switch-module", "580", "open", had("580.105.08", "proprietary"), "580.105.08"},
}

// Each change of a driver on each distro: from the plan over the helper's
// list and the package manager to the reboot, and on after it. What ran as root is
// what the plan shows, word for word.
func TestDriverChanges(t *testing.T) {
	for _, d := range distros {
		for i, c := range changes {
			if i > 0 && slices.Contains([]string{"debian", "rhel", "opensuse-leap"}, d.name) {
				break // as ubuntu, fedora and sles, but for what comes first
			}
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				s := newStandIn(t, t.TempDir(), d)
				if c.was != nil {
					s.install(t, c.was(d)...)
				}
				p := s.plan(t, d, c.action, c.branch, c.module)
				b := &bench{T: t, dir: t.TempDir()}
				s.set(t, "state/log", "")

				_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
				s.wantReboot(b, err)
				s.wantRan(t, p)
				name := d.pkg(c.branch, c.module)
				want := name + " " + d.version(name, c.loaded)
				if got := s.read("state/installed"); !slices.Contains(got, want) {
					t.Errorf("installed: %q, want %q", got, want)
				}
				if got := s.drivers(); len(got) != 1 {
					t.Errorf("drivers: %q, want one", got)
				}
				if len(s.read("state/locks")) == 0 {
					t.Error("nothing is held")
				}

				s.set(t, "state/log", "")
				_, err = b.open().Apply(context.Background(), p, s.options(&b.out))
				s.wantReboot(b, err) // nobody rebooted
				if err := s.reboot(); err != nil {
					t.Fatal(err)
				}
				if _, err := b.open().Apply(context.Background(), p, s.options(&b.out)); err != nil {
					t.Errorf("after the reboot: %v\n%s", err, b.out.String())
				}
				if ran := s.asRoot(); len(ran) > 0 {
					t.Errorf("run again as root: %q", ran)
				}
				if refused := s.read("state/refused"); refused != nil {
					t.Errorf("refused: %q", refused)
				}
			})
		}
	}
}

func (s standIn) wantReboot(b *bench, err error) {
	b.Helper()
	var e *fail.Error
	if !errors.As(err, &e) || e.Code != fail.Reboot {
		b.Fatalf("got %v, want a reboot\n%+v\n%s\n%s", err, e, b.out.String(), strings.Join(s.read("state/log"), "\n"))
	}
}

// drivers lists the packages that each bring a whole driver.
func (s standIn) drivers() (out []string) {
	for _, line := range s.read("state/installed") {
		if strings.HasPrefix(line, "nvidia-driver-5") || strings.HasPrefix(line, "nvidia-driver-6") || strings.HasPrefix(line, "nvidia-open") || strings.HasPrefix(line, "cuda-drivers") {
			out = append(out, line)
		}
	}
	return out
}

// What looks only, and is no step.
var looks = []string{"rpm -q", "dpkg-query", "dpkg --audit", "apt-get check", "apt-mark showhold", "dnf -q", "zypper --non-interactive locks", "rpmdb --verifydb", "modinfo", "apt-cache", "zypper --non-interactive --no-refresh search"}

// asRoot is what ran that is a step's, in order.
func (s standIn) asRoot() (out []string) {
	for _, line := range s.read("state/log") {
		if !slices.ContainsFunc(looks, func(l string) bool { return strings.HasPrefix(line, l) }) {
			out = append(out, line)
		}
	}
	return out
}

// wantRan compares what ran with the plan's steps for root.
func (s standIn) wantRan(t *testing.T, p *plan.Plan) {
	t.Helper()
	var want []string
	for _, step := range p.Steps {
		if step.Root && step.Run != nil && step.Run.Argv[0] != "gpg" { // is done by us: a Debian may have none
			if try := simulation(step.Run.Argv); try != nil {
				want = append(want, strings.Join(try, " "))
			}
			want = append(want, strings.ReplaceAll(strings.Join(step.Run.Argv, " "), "{tools}", s.dir+"/tools"))
		}
	}
	got := s.asRoot()
	for i := range got { // root takes a copy of what a user could exchange
		if words := strings.Fields(got[i]); words[0] == "rpm" {
			words[2] = s.dir + "/tools/" + filepath.Base(words[2])
			got[i] = strings.Join(words, " ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run as root (-plan +ran):\n%s", diff)
	}
}

// some are one distro for each package manager, and dnf5.
func some() []distro {
	return []distro{distros[0], distros[2], distros[4], distros[5]}
}

func TestDriverChangesThatFail(t *testing.T) {
	for _, d := range some() {
		fresh := func(t *testing.T) (standIn, *bench) {
			return newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
		}
		t.Run(d.name+"/a desktop would go", func(t *testing.T) {
			s, b := fresh(t)
			s.install(t, had("570.211.01", "proprietary")(d)...)
			p := s.plan(t, d, "upgrade", "580", "open")
			s.set(t, "state/desktop", "gnome-shell\n")
			before := s.read("state/installed")
			_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
			b.wantKind(err, fail.Preflight)
			var e *fail.Error
			if errors.As(err, &e); !slices.Contains(e.Details, "gnome-shell") {
				t.Errorf("it does not say what would go: %+v", e)
			}
			if diff := cmp.Diff(before, without(s.read("state/installed"), "kernel", "linux-headers", "python3")); diff != "" {
				t.Errorf("installed (-before +after):\n%s", diff)
			}
		})
		t.Run(d.name+"/the network goes between the download and the installation", func(t *testing.T) {
			s, b := fresh(t)
			p := s.plan(t, d, "install", "580", "open")
			o := s.options(&b.out)
			inner := o.Root
			o.Root = func(ctx context.Context, step plan.Step, out io.Writer, log *system.Log) error {
				if step.ID == "driver" {
					s.set(t, "state/offline", "")
				}
				return inner(ctx, step, out, log)
			}
			_, err := b.open().Apply(context.Background(), p, o)
			s.wantReboot(b, err)
		})
		t.Run(d.name+"/the package manager ends well and did nothing", func(t *testing.T) {
			s, b := fresh(t)
			s.install(t, had("580.105.08", "proprietary")(d)...) // whose module and libraries have the planned number
			p := s.plan(t, d, "switch-module", "580", "open")
			o := s.options(&b.out)
			inner := o.Root
			o.Root = func(ctx context.Context, step plan.Step, out io.Writer, log *system.Log) error {
				if step.ID == "driver" {
					s.set(t, "state/idle", "")
				}
				return inner(ctx, step, out, log)
			}
			_, err := b.open().Apply(context.Background(), p, o)
			if kind(t, err) != fail.Verify || !strings.HasSuffix(err.Error(), "was to be installed, and the system has none") {
				t.Errorf("got %v", err)
			}
		})
		t.Run(d.name+"/the repository went on", func(t *testing.T) {
			s, b := fresh(t)
			p := s.plan(t, d, "install", "580", "open")
			s.set(t, "state/offered", strings.ReplaceAll(strings.Join(d.offered, "\n")+"\n", "580.105.08", "580.126.20"))
			_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
			b.wantKind(err, fail.Stale)
			if got := s.drivers(); got != nil {
				t.Errorf("installed: %q", got)
			}
		})
		t.Run(d.name+"/the network is gone", func(t *testing.T) {
			s, b := fresh(t)
			p := s.plan(t, d, "install", "580", "open")
			s.set(t, "state/offline", "")
			_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
			b.wantKind(err, fail.Failed)
			if got := s.drivers(); got != nil {
				t.Errorf("installed: %q", got)
			}
		})
		t.Run(d.name+"/the module was not built", func(t *testing.T) {
			s, b := fresh(t)
			p := s.plan(t, d, "install", "580", "open")
			s.set(t, "state/unbuilt", "")
			_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
			b.wantKind(err, fail.Verify)
		})
		t.Run(d.name+"/somebody else holds the driver", func(t *testing.T) {
			s, b := fresh(t)
			was := had("570.211.01", "open")(d)
			s.install(t, was...)
			name, v, _ := strings.Cut(was[1], " ")
			lock := name + "\n"
			if d.manager == "dnf" {
				lock = name + " " + v + "\n"
				s.set(t, "state/installed", strings.Join(append(was, "python3-dnf-plugin-versionlock 4-1"), "\n")+"\n")
			}
			s.set(t, "state/locks", lock)
			p := s.plan(t, d, "upgrade", "580", "open")
			_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
			b.wantKind(err, fail.Preflight)
			if ran := s.asRoot(); len(ran) > 0 {
				t.Errorf("ran as root: %q", ran)
			}
		})
		t.Run(d.name+"/the key is another one", func(t *testing.T) {
			if d.manager == "apt-get" {
				t.Skip("apt takes NVIDIA's keyring as a package")
			}
			s, b := fresh(t)
			p := s.plan(t, d, "install", "580", "open")
			o := s.options(&b.out)
			o.on = host{root: s.dir + "/root", programs: s.dir + "/programs"} // NVIDIA's own keys
			o.Root = o.on.direct
			_, err := b.open().Apply(context.Background(), p, o)
			b.wantKind(err, fail.Integrity)
			if keys := s.read("state/keys"); keys != nil {
				t.Errorf("taken: %q", keys)
			}
		})
	}
}

func without(lines []string, prefixes ...string) []string {
	return slices.DeleteFunc(lines, func(l string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(l, p) })
	})
}

// A second change finds the hold of the first, lifts it in a step of the plan, and
// holds what it installed.
func TestOwnHoldIsLiftedAndSetAgain(t *testing.T) {
	for _, d := range some() {
		t.Run(d.name, func(t *testing.T) {
			s, b := newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
			for i, branch := range []string{"570", "580", "610"} {
				p := s.plan(t, d, "upgrade", branch, "open")
				if has := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.ID == "driver-unhold" }); has != (i > 0) {
					t.Fatalf("%s: a hold is lifted: %v", branch, has)
				}
				_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
				s.wantReboot(b, err)
				if err := s.reboot(); err != nil {
					t.Fatal(err)
				}
				if _, err := b.open().Apply(context.Background(), p, s.options(&b.out)); err != nil {
					t.Fatal(err)
				}
				locks := strings.Join(s.read("state/locks"), "\n")
				if !strings.Contains(locks, branch) || i > 0 && strings.Contains(locks, []string{"570", "580"}[i-1]) {
					t.Errorf("%s: held is %q", branch, locks)
				}
			}
		})
	}
}
