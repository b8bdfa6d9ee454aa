package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/fleet"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/project"
	"envfix/internal/team"
	"envfix/internal/testindex"
	"envfix/matrix"
	"envfix/resolver"
)

// fleetLine is the class line of a host with two GPUs.
func fleetLine(host, gpu, sm, driver, python string) string {
	gpus, drv := "", "null"
	for i := range 2 {
		if gpu != "" {
			gpus += fmt.Sprintf(`{"index":%d,"vendor":"nvidia","name":%q,"compute_capability":%q,"visible":true},`, i, gpu, sm)
			drv = fmt.Sprintf(`{"version":%q}`, driver)
		}
	}
	const platform = `"platform":{"os":"linux","arch":"x86_64","environment":"bare","libc":{"kind":"glibc","version":"2.35"}}`
	return fmt.Sprintf(`{"host":%q,"format":1,`+platform+`,"gpus":[%s],"driver":%s,"pythons":[{"version":%q}]}`,
		host, strings.TrimSuffix(gpus, ","), drv, python) + "\n"
}

// fleetIndex serves one torch for the default index's build, for Python 3.11.
func fleetIndex(t *testing.T) *testindex.Index {
	w := testindex.Torch("2.15.0", "13.2", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
	w.Tag = "cp311-cp311-manylinux_2_28_x86_64"
	vision := testindex.Wheel{Name: "torchvision", Version: "0.30.0"}
	return testindex.Serve(t, w, vision)
}

// The groups of a plan become the profiles of a lock, with the Python that the
// machines have, and each machine follows the profile of its group. Written again
// nothing changes; a target that is no group any more is dropped.
func TestFleetLock(t *testing.T) {
	x := fleetIndex(t)
	dir := t.TempDir()
	facts := filepath.Join(dir, "facts.jsonl")
	text := fleetLine("h1", "NVIDIA H100 PCIe", "9.0", "580.95.05", "3.11.4") + fleetLine("h2", "NVIDIA H100 PCIe", "9.0", "595.45.04", "3.11.9") +
		fleetLine("b1", "NVIDIA B200", "10.0", "580.95.05", "3.11.4")
	writeText(t, facts, text)
	args := []string{"fleet", "plan", facts, "torch==2.15.0", "--only-index", "default", "--lock", "--mirror", "default=" + x.URL}
	wantExit(t, lockIn(t, dir, args...), fail.OK)
	l, err := (&team.Team{Dir: "."}).Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Profiles) != 1 || l.Profiles[0].Python != "3.11" || !slices.Equal(l.Profiles[0].Match.SMs, []string{"10.0", "9.0"}) {
		t.Fatalf("%+v", l.Profiles)
	}
	for line := range strings.Lines(text) {
		h, err := machine.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err := l.Pick(h, false); err != nil || p.Name != l.Profiles[0].Name {
			t.Errorf("%s follows %v, %v", line[:14], p, err)
		}
	}
	before := fileText(t, "envfix.lock")
	wantExit(t, lockIn(t, dir, "lock", "--check"), fail.OK)
	wantExit(t, lockIn(t, dir, args...), fail.OK)
	if after := fileText(t, "envfix.lock"); after != before {
		t.Errorf("written again it differs:\n%s\n%s", before, after)
	}
	wantExit(t, lockIn(t, dir, "lock", "target", "add", "old=gpu=7.5 driver=580 python=3.11 index=default", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, args...), fail.OK)
	if l, err = (&team.Team{Dir: "."}).Read(); err != nil || slices.Contains(l.Names(), "old") {
		t.Errorf("%v %v", l.Names(), err)
	}
	if _, err := os.Stat(lock.PylockName("old")); err == nil {
		t.Error("the pylock of the dropped target is still there")
	}
	writeText(t, facts, `{"host":"dead","error":"timed out"}`+"\n")
	wantExit(t, lockIn(t, dir, args...), fail.NoSolution)
}

// Targets whose machines one description cannot stand for are several.
func TestFleetTargets(t *testing.T) {
	dir := t.TempDir()
	facts := filepath.Join(dir, "facts.jsonl")
	writeText(t, facts, fleetLine("v", "Tesla V100-SXM2-16GB", "7.0", "580.95.05", "3.10")+fleetLine("b", "NVIDIA B200", "10.0", "580.95.05", "3.12")+
		fleetLine("c", "", "", "", "3.12")+fleetLine("k", "NVIDIA L4", "8.9", "535.183.01", "3.12"))
	in := fleet.New()
	if err := collect(in, []string{facts}, ""); err != nil {
		t.Fatal(err)
	}
	in.Close()
	for _, wish := range [][]string{nil, {"torch==2.9.1"}, {"torch<2.8"}} {
		m, r := matrixOf(t), requestOf(t, wish...)
		p := planOfFleet(t, m, in, r)
		targets, err := team.FleetTargets(m, p)
		if err != nil {
			t.Fatal(err)
		}
		hosts, names := 0, map[string]bool{}
		for _, k := range targets {
			if names[k.Name] || !lock.ValidName(k.Name) {
				t.Errorf("the name %q is bad or stands twice", k.Name)
			}
			names[k.Name] = true
			for _, member := range k.Members {
				hosts += len(member.Hosts)
			}
			if _, err := team.ParseFacts(k.Facts); err != nil {
				t.Error(err)
			}
		}
		if served := 4 - unserved(p); hosts != served {
			t.Errorf("%v: %d hosts in targets, %d are served", wish, hosts, served)
		}
	}
}

func matrixOf(t *testing.T) *matrix.Matrix {
	t.Helper()
	m := matrix.Embedded()
	return m
}

func requestOf(t *testing.T, requirements ...string) resolver.Request {
	t.Helper()
	r, err := project.Wish{Arguments: requirements}.AsRequest(true, today(), policyHere)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func planOfFleet(t *testing.T, m *matrix.Matrix, in *fleet.Inventory, r resolver.Request) *fleet.Plan {
	t.Helper()
	p, err := fleet.Make(m, in, r, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unserved(p *fleet.Plan) int {
	n := len(p.Problems)
	for _, u := range p.Unserved {
		n += len(u.Hosts)
	}
	return n
}
