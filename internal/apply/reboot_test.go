//go:build linux

package apply

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/version"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// A driverBench applies plans with a system half; nothing of the system changes.
type driverBench struct {
	*bench
	ran  []string
	h    machine.Machine
	boot string
}

func newDriverBench(t *testing.T) *driverBench {
	return &driverBench{bench: newBench(t), boot: "first"}
}

func (b *driverBench) driverPlan() *plan.Plan {
	branch := "580"
	return b.plan("2.14.1+cu126", func(p *plan.Plan) {
		p.Decision = resolver.FixDriver
		p.Driver = plan.Driver{Action: "install", Branch: &branch}
		p.Steps = append([]plan.Step{
			{ID: "driver-load", Title: "load", Root: true, Run: &plan.Run{Argv: []string{"modprobe", "nvidia"}}},
			{ID: "driver", Title: "install driver 580", Root: true, Run: &plan.Run{Argv: []string{"update-initramfs", "-u"}}},
			{ID: "reboot", Title: "reboot", Manual: &plan.Manual{Reboot: true, Text: "reboot"}},
		}, p.Steps...)
	})
}

func (b *driverBench) driver(installed, loaded string) {
	b.h.Driver = &machine.Driver{Version: version.MustDotted(installed), LoadedVersion: version.MustDotted(loaded)}
}

func (b *driverBench) apply(p *plan.Plan) (Result, error) {
	b.Helper()
	b.ran = nil
	b.out.Reset()
	return b.open().Apply(context.Background(), p, Options{Out: &b.out, Fresh: true, Boot: b.boot,
		Facts: func(context.Context) (machine.Machine, error) { return b.h, nil },
		Root: func(_ context.Context, s plan.Step, _ io.Writer, _ *system.Log) error {
			b.ran = append(b.ran, strings.Join(s.Run.Argv, " "))
			return CheckRoot(s)
		}})
}

// The system half runs once, stops at the reboot, goes on after it, and looks
// whether the driver is the one that was planned.
func TestReboot(t *testing.T) {
	b := newDriverBench(t)
	p := b.driverPlan()
	b.driver("580.95.05", "535.183.01")
	_, err := b.apply(p)
	b.wantKind(err, fail.Reboot)
	if diff := cmp.Diff([]string{"modprobe nvidia", "update-initramfs -u"}, b.ran); diff != "" {
		t.Errorf("run as root (-want +got):\n%s", diff)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, ".venv")); !gone(err) {
		t.Errorf(".venv is there before the reboot: %v", err)
	}

	_, err = b.apply(p) // nobody rebooted
	b.wantKind(err, fail.Reboot)
	if len(b.ran) > 0 {
		t.Errorf("run again as root: %q", b.ran)
	}
	other := b.plan("2.13.0+cu126")
	_, err = b.apply(other)
	b.wantKind(err, fail.Busy)

	b.boot = "second"
	_, err = b.apply(p) // the old module is loaded still
	b.wantKind(err, fail.Verify)

	b.driver("580.95.05", "580.95.05")
	b.boot = "third"
	left, err := b.open().Unfinished()
	if err != nil {
		t.Fatal(err)
	}
	if left != nil {
		t.Errorf("a plan whose driver did not come is not done with: %s", left.ID)
	}
}

func TestRebootGoesOn(t *testing.T) {
	b := newDriverBench(t)
	p := b.driverPlan()
	b.driver("580.95.05", "535.183.01")
	_, err := b.apply(p)
	b.wantKind(err, fail.Reboot)
	b.driver("580.95.05", "580.95.05")
	b.boot = "second"
	left, err := b.open().Unfinished()
	if err != nil || left == nil || left.ID != p.ID {
		t.Fatalf("to resume: %v, %v", left, err)
	}
	if _, err := b.apply(left); err != nil {
		t.Fatal(err)
	}
	if len(b.ran) > 0 {
		t.Errorf("run again as root: %q", b.ran)
	}
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch: got %q\n%s", got, b.out.String())
	}
	if r, err := b.apply(p); err != nil || !r.Nothing {
		t.Errorf("once more: %+v, %v", r, err)
	}
	h, err := b.open().History()
	if err != nil || len(h.Events) != 1 || h.Events[0].State != "done" || h.Events[0].Step != "" || h.Events[0].Gen != h.Current {
		t.Errorf("one plan with a reboot in it is one event: %+v, %v", h.Events, err)
	}
}

func TestAbandonAllowsAnotherPlan(t *testing.T) {
	b := newDriverBench(t)
	b.driver("580.95.05", "535.183.01")
	_, err := b.apply(b.driverPlan())
	b.wantKind(err, fail.Reboot)
	if did, err := b.open().Abandon(); err != nil || !did {
		t.Fatalf("abandon: %v, %v", did, err)
	}
	if _, err := b.apply(b.plan("2.13.0+cu126")); err != nil {
		t.Error(err)
	}
}

// A package manager that ends well and installs nothing is found out.
func TestEffectNotExitCode(t *testing.T) {
	b := newDriverBench(t)
	_, err := b.apply(b.driverPlan())
	b.wantKind(err, fail.Verify)
	b.driver("535.183.01", "535.183.01")
	_, err = b.apply(b.driverPlan())
	b.wantKind(err, fail.Verify)
}

// Without rights: the administrator's script, and nothing was begun.
func TestNoRights(t *testing.T) {
	b := newDriverBench(t)
	_, err := b.open().Apply(context.Background(), b.driverPlan(), Options{Out: &b.out})
	b.wantKind(err, fail.Privilege)
	var e *fail.Error
	errors.As(err, &e)
	if !strings.Contains(e.Script.String(), "root modprobe nvidia") || strings.Contains(e.Script.String(), "cp -r") {
		t.Errorf("script for an administrator:\n%s", e.Script)
	}
	if h, err := b.open().History(); err != nil || len(h.Events) > 0 {
		t.Errorf("history: %+v, %v", h.Events, err)
	}
}

// Where the driver belongs to another system it is not installed.
func TestNoDriverInWSLContainerJetson(t *testing.T) {
	for _, kind := range []string{machine.WSL2, machine.Container, machine.ContainerBuild, machine.Jetson} {
		b := newDriverBench(t)
		p := b.driverPlan()
		p.Basis.Facts.Platform.Environment = kind
		_, err := b.apply(reseal(t, p))
		b.wantKind(err, fail.Preflight)
		if len(b.ran) > 0 {
			t.Errorf("%s: ran %q", kind, b.ran)
		}
	}
}

// dpkg and rpm lock with fcntl: flock would not see it.
func TestPackageManagerAtWork(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock-frontend")
	b := newBench(t)
	holder := exec.Command(b.python, "-I", "-c", "import fcntl, sys, time\nf = open(sys.argv[1], 'w')\nfcntl.lockf(f, fcntl.LOCK_EX)\nprint('locked', flush=True)\ntime.sleep(600)", lock)
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { holder.Process.Kill(); holder.Wait() }()
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the holder did not lock")
	}
	p := packager{locks: []string{lock}}
	err = host{}.idle(p)
	b.wantKind(err, fail.Busy)
	if pid, err := system.Holder(lock); err != nil || pid != holder.Process.Pid {
		t.Errorf("holder: %d, %v; want %d", pid, err, holder.Process.Pid)
	}
	holder.Process.Kill()
	holder.Wait()
	if err := (host{}).idle(p); err != nil {
		t.Errorf("after the holder was killed: %v", err)
	}
}
