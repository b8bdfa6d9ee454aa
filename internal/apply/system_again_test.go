//go:build linux

package apply

import (
	"context"
	"io"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// The power goes before and after the driver is changed, and held: the plan, carried
// on, ends well, with one driver and nothing done twice that must not be.
func TestPowerLossInTheSystemHalf(t *testing.T) {
	for _, d := range some() {
		t.Run(d.name, func(t *testing.T) { // each step, with kill -9: `make faults`
			for _, at := range []string{"driver", "driver-hold"} {
				for _, after := range []bool{false, true} {
					powerLoss(t, d, at, after)
				}
			}
		})
	}
}

// powerLoss ends an apply at a step as if the machine had gone, and begins again.
func powerLoss(t *testing.T, d distro, at string, after bool) {
	t.Helper()
	s, b := newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
	s.install(t, had("570.211.01", "proprietary")(d)...)
	p := s.plan(t, d, "upgrade", "580", "open")
	o := s.options(&b.out)
	inner := o.Root
	o.Root = func(ctx context.Context, step plan.Step, out io.Writer, log *system.Log) error {
		if step.ID == at && after {
			if err := inner(ctx, step, out, log); err != nil {
				return err
			}
		}
		if step.ID == at {
			panic("the power is gone")
		}
		return inner(ctx, step, out, log)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Fatalf("%s was not reached", at)
			}
		}()
		_, _ = b.open().Apply(context.Background(), p, o)
	}()
	_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
	s.wantReboot(b, err)
	if err := s.reboot(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.open().Apply(context.Background(), p, s.options(&b.out)); err != nil {
		t.Errorf("%s, after %v: %v", at, after, err)
	}
	if got := s.drivers(); len(got) != 1 || !strings.Contains(got[0], "580.105.08") {
		t.Errorf("%s, after %v: drivers %q", at, after, got)
	}
	if refused := s.read("state/refused"); refused != nil {
		t.Errorf("%s, after %v: refused %q", at, after, refused)
	}
}

// A plan that failed after all was installed and held, and that is run again as it
// was saved, does not take its own hold for somebody else's.
func TestRunAgainAfterALateFailure(t *testing.T) {
	for _, d := range some() {
		t.Run(d.name, func(t *testing.T) {
			s, b := newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
			p := s.plan(t, d, "install", "580", "open")
			p.Steps[len(p.Steps)-1].Run.Argv = []string{"test", "-e", s.dir + "/go"}
			if err := plan.Seal(p); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from the start: the first has ended
				_, err := b.open().Apply(context.Background(), p, s.options(&b.out))
				s.wantReboot(b, err)
				if err := s.reboot(); err != nil {
					t.Fatal(err)
				}
				_, err = b.open().Apply(context.Background(), p, s.options(&b.out))
				if s.read("go") == nil {
					b.wantKind(err, fail.Failed)
					s.set(t, "go", "go")
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Given up in the middle, another plan may be made and carried out.
func TestAbandonTheSystemHalf(t *testing.T) {
	for _, d := range some() {
		t.Run(d.name, func(t *testing.T) {
			s, b := newStandIn(t, t.TempDir(), d), &bench{T: t, dir: t.TempDir()}
			_, err := b.open().Apply(context.Background(), s.plan(t, d, "install", "580", "open"), s.options(&b.out))
			s.wantReboot(b, err)
			other := s.plan(t, d, "upgrade", "610", "open")
			_, err = b.open().Apply(context.Background(), other, s.options(&b.out))
			b.wantKind(err, fail.Busy)
			if did, err := b.open().Abandon(); err != nil || !did {
				t.Fatalf("abandon: %v, %v", did, err)
			}
			_, err = b.open().Apply(context.Background(), other, s.options(&b.out))
			s.wantReboot(b, err)
			if got := s.drivers(); len(got) != 1 || !strings.Contains(got[0], "610") {
				t.Errorf("drivers: %q", got)
			}
		})
	}
}
