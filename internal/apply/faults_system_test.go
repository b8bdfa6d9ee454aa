//go:build failpoints && linux

package apply

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"envfix/internal/plan"
)

// TestFaultsSystem fails the change of a driver at every point that it passes, in
// each way, in a process of its own, with each package manager: a driver of another
// flavour and branch is there, and is replaced. Then the plan is carried on, over
// the reboot, and must end well with one driver, held, and no command line that the
// package manager does not know.
func TestFaultsSystem(t *testing.T) {
	fmt.Printf("%-10s %-8s %6s %14s\n", "driver", "fault", "points", "not recovered")
	for _, d := range some() {
		s := systemStory{d, t.TempDir(), filepath.Join(t.TempDir(), "plan.json")}
		s.make(t)
		points := s.points(t)
		if len(points) < 40 {
			t.Errorf("%s: %d points: %q", d.name, len(points), points)
		}
		for _, kind := range faultKinds {
			of := pointsOf(kind, points)
			bad := s.injectAll(t, of, kind)
			fmt.Printf("%-10s %-8s %6d %14d\n", d.name, kind, len(of), bad)
		}
	}
}

// pointsOf are the points at which a fault of this kind is injected.
func pointsOf(kind string, points []string) (out []string) {
	for i, p := range points {
		if slices.Contains(faultsAt(i), kind) {
			out = append(out, p)
		}
	}
	return out
}

// injectAll fails each point, and counts the bad ends.
func (s systemStory) injectAll(t *testing.T, points []string, kind string) int {
	var bad atomic.Int32
	atOnce(len(points), func(i int) {
		if why := s.inject(t, points[i], kind); why != "" {
			t.Errorf("%s, %s at %s: %s", s.d.name, kind, points[i], why)
			bad.Add(1)
		}
	})
	return int(bad.Load())
}

// A systemStory is a project, a machine beside it in its directory, and a plan.
type systemStory struct {
	d              distro
	template, plan string
}

func (s systemStory) make(t *testing.T) {
	t.Helper()
	m := newStandIn(t, filepath.Join(s.template, "machine"), s.d)
	m.install(t, had("570.211.01", "proprietary")(s.d)...)
	p := m.plan(t, s.d, "upgrade", "580", "open")
	b, err := plan.Encode(p)
	if err == nil {
		err = os.WriteFile(s.plan, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run applies the plan in a copy of the project, or in one that is there.
func (s systemStory) run(dir string, env ...string) ([]byte, error) {
	c := exec.Command(os.Args[0])
	c.Env = append([]string{"ENVFIX_FAULT_DIR=" + dir, "ENVFIX_FAULT_PLAN=" + s.plan, "ENVFIX_FAULT_SYSTEM=" + dir + "/machine", "HOME=" + dir, "PATH=/usr/bin:/bin"}, env...)
	return c.CombinedOutput()
}

func (s systemStory) copy(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(s.plan), "p")
	if err == nil {
		err = exec.Command("cp", "-a", s.template+"/.", dir).Run()
	}
	if err != nil {
		t.Error(err)
	}
	return dir
}

func (s systemStory) points(t *testing.T) []string {
	t.Helper()
	dir, list := s.copy(t), filepath.Join(t.TempDir(), "points")
	if out, err := s.run(dir, "ENVFIX_FAILPOINT_LIST="+list); err != nil {
		t.Fatalf("%s without a fault: %v\n%s", s.d.name, err, out)
	}
	if why := s.wrong(dir); why != "" {
		t.Fatalf("%s without a fault: %s", s.d.name, why)
	}
	return passed(t, list)
}

// inject says what is wrong in the end; "" nothing.
func (s systemStory) inject(t *testing.T, point, kind string) string {
	dir := s.copy(t)
	defer os.RemoveAll(dir)
	first, _ := s.run(dir, "ENVFIX_FAILPOINT="+point+"="+kind) // it is meant to fail
	again, err := s.run(dir)
	if err != nil {
		return fmt.Sprintf("running again: %v\n%s\n--- the first time:\n%s", err, again, first)
	}
	return s.wrong(dir)
}

func (s systemStory) wrong(dir string) string {
	m := standIn{dir + "/machine"}
	switch drivers := m.drivers(); {
	case len(drivers) != 1 || !strings.Contains(drivers[0], "580.105.08"):
		return fmt.Sprintf("drivers: %q", drivers)
	case !strings.Contains(strings.Join(m.read("state/locks"), " "), s.d.pkg("580", "open")):
		return fmt.Sprintf("held: %q", m.read("state/locks"))
	case m.read("state/refused") != nil:
		return fmt.Sprintf("command lines that nobody knows: %q", m.read("state/refused"))
	case m.read("loaded")[0] != "580.105.08":
		return fmt.Sprintf("loaded: %q", m.read("loaded"))
	}
	return ""
}
