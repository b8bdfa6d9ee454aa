package team

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"envfix/internal/describe"
	"envfix/internal/fleet"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/matrix"
	"envfix/resolver"
)

// aTeam describes targets as the command does.
func aTeam(t *testing.T) *Team {
	t.Helper()
	m := matrix.Embedded()
	return &Team{Dir: t.TempDir(), Matrix: m, Build: "0.1.0",
		Project: func(string) (*pyproject.Project, error) { return nil, fmt.Errorf("none") },
		Describe: func(h machine.Machine, facts map[string]string) (machine.Machine, resolver.Request, error) {
			d := describe.Machine{Driver: facts["driver"], OS: facts["os"], Arch: facts["arch"], Libc: facts["libc"]}
			if gpu := facts["gpu"]; gpu != "" && gpu != "none" {
				d.GPUs = strings.Split(gpu, ",")
			}
			if err := d.Override(&h); err != nil {
				return h, resolver.Request{}, err
			}
			r, err := describe.Request{Python: facts["python"], CUDA: facts["cuda"], Build: facts["build"]}.Parse()
			r.Described, r.Today = true, "2026-11-22"
			return h, r, err
		}}
}

// A class of machines gets the newest Python that all of them have.
func TestClassesSharePython(t *testing.T) {
	var all []machine.Machine
	for _, versions := range []string{`{"version":"3.13.1"},{"version":"3.11.4"}`, `{"version":"3.11.9"},{"version":"3.9"}`, ``} {
		h, err := machine.Decode([]byte(`{"format":1,"platform":{"os":"linux","arch":"x86_64"},"gpus":[],"driver":null,"pythons":[` + versions + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	if got := Classes(all); len(got) != 1 || !strings.Contains(got[0].Facts, "python=3.11") {
		t.Errorf("%+v", got)
	}
}

// drawnLine is the class line of a machine, drawn.
func drawnLine(r *rand.Rand, host string) string {
	gpus := [][2]string{{"Tesla P100-PCIE-16GB", "6.0"}, {"Tesla V100-SXM2-16GB", "7.0"}, {"Tesla T4", "7.5"}, {"NVIDIA A100-SXM4-40GB", "8.0"},
		{"NVIDIA H100 PCIe", "9.0"}, {"NVIDIA B200", "10.0"}, {"NVIDIA GeForce RTX 5090", "12.0"}, {"", ""}}
	drivers := []string{"470.82.01", "525.60.13", "535.183.01", "550.54.14", "570.124.06", "580.95.05", "590.44.01"}
	g, gpu, driver := gpus[r.Intn(len(gpus))], "", "null"
	if g[0] != "" {
		gpu = fmt.Sprintf(`{"index":0,"vendor":"nvidia","name":%q,"compute_capability":%q,"visible":true}`, g[0], g[1])
		driver = fmt.Sprintf(`{"version":%q}`, drivers[r.Intn(len(drivers))])
	}
	platform := fmt.Sprintf(`{"os":"linux","arch":%q,"environment":"bare","libc":{"kind":"glibc","version":%q}}`,
		[]string{"x86_64", "x86_64", "x86_64", "aarch64"}[r.Intn(4)], []string{"2.28", "2.31", "2.35", "2.39"}[r.Intn(4)])
	return fmt.Sprintf(`{"host":%q,"format":1,"platform":%s,"gpus":[%s],"driver":%s,"pythons":[{"version":"3.%d"},{"version":"3.%d"}]}`+"\n",
		host, platform, gpu, driver, 9+r.Intn(6), 9+r.Intn(6))
}

// TestDrawnFleetsFollowTheirLock: for drawn fleets, the profiles that a lock of a
// plan's groups has are chosen as the plan chose. Every member that needs no other
// driver follows the profile of its group, or one of another group that runs there as
// well, and then that is told.
func TestDrawnFleetsFollowTheirLock(t *testing.T) {
	tm, r := aTeam(t), rand.New(rand.NewSource(7))
	machines, split, strays := 0, 0, 0
	for n := range 25 {
		var text strings.Builder
		for i := range 2 + r.Intn(12) {
			text.WriteString(drawnLine(r, fmt.Sprintf("n%02d", i)))
		}
		in := fleet.New()
		if err := in.ReadLines(strings.NewReader(text.String()), "facts"); err != nil {
			t.Fatal(err)
		}
		in.Close()
		wish, err := pep508.Parse([]string{"torch", "torch>=2.6", "torch<2.10", "torch==2.7.*"}[n%4], "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := fleet.Make(tm.Matrix, in, resolver.Request{Requirements: []pep508.Requirement{wish}, Today: "2026-11-22"},
			fleet.Options{ChangeDriver: n%3 == 0, SameTorch: n%5 == 0})
		if err != nil {
			t.Fatal(err)
		}
		targets, err := FleetTargets(tm.Matrix, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(targets) == 0 {
			continue
		}
		split += len(targets) - len(p.Groups)
		l := lockOfTargets(t, tm, wish.Text, targets)
		for _, k := range targets {
			got, err := l.Profile(k.Name)
			if err != nil {
				t.Fatal(err)
			}
			torch, _, _ := strings.Cut(got.Torch, "+")
			if g := p.Groups[k.Group]; torch != g.Torch || got.Build != g.Build {
				t.Errorf("profile %s (%s) has %s %s, its group %s", k.Name, k.Facts, got.Torch, got.Build, g.Pair)
			}
			machines += len(k.Members)
		}
		told := strings.Join(Strayed(l, targets), "\n")
		for _, k := range targets {
			strays += follows(t, tm, l, k, p.Groups[k.Group].Pair, told)
		}
	}
	t.Logf("%d classes, %d targets more than groups, %d follow another group", machines, split, strays)
}

// follows asks the resolver whether what each member of a target picks runs there, and
// counts those that pick another group's.
func follows(t *testing.T, tm *Team, l *lock.Lock, k FleetTarget, own fleet.Pair, told string) (strays int) {
	t.Helper()
	for _, member := range k.Members {
		if member.Driver != "" {
			continue
		}
		h, err := machine.Decode([]byte(member.Facts))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := l.Pick(h, false)
		if err != nil {
			t.Errorf("%v (%s) follows nothing: %v", member.Hosts, member.Name, err)
			continue
		}
		torch, _, _ := strings.Cut(got.Torch, "+")
		if torch == own.Torch && got.Build == own.Build {
			continue
		}
		strays++
		if !strings.Contains(told, fleet.Fold(member.Hosts)) {
			t.Errorf("%v: that it follows %s is not told", member.Hosts, got.Name)
		}
		q, err := pep508.Parse("torch=="+torch, "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := resolver.NewSession(tm.Matrix).Brief(h, resolver.Request{Requirements: []pep508.Requirement{q}, Build: got.Build, Python: got.Python, Today: "2026-11-22"})
		if err != nil || b.Choice == nil {
			t.Errorf("%v (%s) follows %s, which does not run there: %v %+v", member.Hosts, member.Name, got.Name, err, b)
		}
	}
	return strays
}

// lockOfTargets chooses for targets as `envfix lock` does, without packages.
func lockOfTargets(t *testing.T, tm *Team, requirement string, targets []FleetTarget) *lock.Lock {
	t.Helper()
	in := lock.Input{Requirements: []string{requirement}}
	for _, k := range targets {
		in.Targets = append(in.Targets, k.Target)
	}
	drafts, err := tm.drafts(in, basis{})
	if err != nil {
		t.Fatalf("%v\n%+v", err, in.Targets)
	}
	l := &lock.Lock{}
	for _, d := range drafts {
		l.Profiles = append(l.Profiles, d.profile)
	}
	return l
}
