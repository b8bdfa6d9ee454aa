package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"golang.org/x/tools/container/intsets"
	"pgregory.net/rapid"
)

func embedded(t testing.TB) *matrix.Matrix {
	t.Helper()
	m := matrix.Embedded()
	return m
}

// host is a Linux machine with some GPUs of one kind.
func host(gpu, sm, driver, glibc, python string) machine.Machine {
	h := machine.Machine{Format: machine.Format, Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Bare,
		Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted(glibc)}}, Pythons: []machine.Python{{Version: python, Path: "/usr/bin/python3"}}}
	if gpu != "" {
		cc, err := machine.ParseSM(sm)
		if err != nil {
			panic(err)
		}
		for i := range 4 {
			h.GPUs = append(h.GPUs, machine.GPU{Index: i, Vendor: machine.NVIDIA, Name: gpu, SM: cc, Visible: true, UUID: fmt.Sprint("GPU-", i), Evidence: machine.FromNVML})
		}
		h.Driver = &machine.Driver{Version: version.MustDotted(driver), Evidence: machine.FromNVML}
	}
	return h
}

func line(name string, h machine.Machine) string {
	return `{"host":"` + name + `",` + string(h.ClassLine()[1:]) + "\n"
}

func read(t testing.TB, text string) *Inventory {
	t.Helper()
	in := New()
	if err := in.ReadLines(strings.NewReader(text), "facts"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	return in
}

func make1(t testing.TB, text string, o Options) *Plan {
	t.Helper()
	p, err := Make(embedded(t), read(t, text), resolver.Request{Today: "2026-11-22"}, o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, p)
	return p
}

// check holds a plan against the resolver itself: every machine is in exactly one
// place, and each member of a group gets the group's choice when it asks for it.
func check(t testing.TB, p *Plan) {
	t.Helper()
	m := embedded(t)
	seen := map[string]bool{}
	note := func(hosts []string) {
		for _, h := range hosts {
			if seen[h] {
				t.Errorf("%s stands in two places", h)
			}
			seen[h] = true
		}
	}
	for _, g := range p.Groups {
		n := 0
		for _, c := range g.Members {
			note(c.Hosts)
			n += len(c.Hosts)
			if c.Driver != "" {
				continue // needs the change first
			}
			facts, err := machine.Decode([]byte(c.Facts))
			if err != nil {
				t.Fatal(err)
			}
			q, err := pep508.Parse("torch=="+g.Torch, "")
			if err != nil {
				t.Fatal(err)
			}
			res, err := resolver.Resolve(m, facts, resolver.Request{Requirements: []pep508.Requirement{q}, Build: g.Build, Python: c.Python, Today: "2026-11-22"})
			if err != nil {
				t.Fatal(err)
			}
			if res.Choice == nil || res.Choice.Torch != g.Torch || res.Choice.Build != g.Build {
				t.Errorf("%s is in the group of %s, and alone gets %s %+v %v", c.Name, g.Pair, res.Decision, res.Choice, res.Reasons)
			}
		}
		if n != g.Hosts || n == 0 {
			t.Errorf("%s says %d hosts and lists %d", g.Pair, g.Hosts, n)
		}
	}
	for _, u := range p.Unserved {
		note(u.Hosts)
		if u.Why == "" || u.Hint == "" {
			t.Errorf("%s: why %q, hint %q", u.Name, u.Why, u.Hint)
		}
	}
	for _, x := range p.Problems {
		note([]string{x.Host})
	}
	if len(seen) != p.Machines {
		t.Errorf("%d machines, %d are listed", p.Machines, len(seen))
	}
}

func TestOneChoiceForAll(t *testing.T) {
	text := ""
	for i := range 30 {
		text += line(fmt.Sprintf("v%02d", i), host("Tesla V100-SXM2-32GB", "7.0", "580.95.05", "2.35", "3.12.4"))
		text += line(fmt.Sprintf("h%02d", i), host("NVIDIA H100 80GB HBM3", "9.0", "580.95.05", "2.35", "3.10.12"))
	}
	p := make1(t, text, Options{})
	if len(p.Groups) != 1 || p.Classes != 2 || p.Groups[0].Build != "cu126" || len(p.Apart) != 0 || !p.Exact {
		t.Errorf("%+v", p)
	}
}

func TestWhatKeepsThemApart(t *testing.T) {
	p := make1(t, line("node-p100", host("Tesla P100-PCIE-16GB", "6.0", "580.95.05", "2.35", "3.12"))+
		line("node-b200", host("NVIDIA B200", "10.0", "580.95.05", "2.35", "3.12"))+line("node-cpu", host("", "", "", "2.35", "3.12")), Options{})
	if len(p.Groups) != 3 || len(p.Apart) != 2 || p.WhatIf != "" {
		t.Fatalf("%+v", p)
	}
	all := strings.Join(p.Apart, "\n")
	if !strings.Contains(all, "node-p100") || !strings.Contains(all, "no build has code for both") || !strings.Contains(all, "the CPU") {
		t.Error(all)
	}
}

func TestWhatIfDriversChange(t *testing.T) {
	text := ""
	for i := range 37 {
		text += line(fmt.Sprintf("old%02d", i), host("NVIDIA A100-SXM4-80GB", "8.0", "470.82.01", "2.35", "3.12"))
	}
	text += line("new", host("NVIDIA B200", "10.0", "580.95.05", "2.35", "3.12"))
	p := make1(t, text, Options{})
	if len(p.Groups) != 2 || !strings.Contains(p.WhatIf, "37 machines: driver to branch 580") || !strings.Contains(p.WhatIf, "then 1 group") {
		t.Fatalf("%d groups, %q", len(p.Groups), p.WhatIf)
	}
	if p = make1(t, text, Options{ChangeDriver: true}); len(p.Groups) != 1 || p.Groups[0].Members[0].Driver == "" {
		t.Errorf("%+v", p.Groups)
	}
}

func TestNothingIsDropped(t *testing.T) {
	good := line("a", host("Tesla T4", "7.5", "535.183.01", "2.35", "3.12"))
	p := make1(t, good+`{"host":"dead","error":"connect: timed out"}`+"\n"+`{"host":"new","format":99,"gpus":[]}`+"\n"+"rubbish\n"+
		line("twice", host("Tesla T4", "7.5", "535.183.01", "2.35", "3.12"))+line("twice", host("Tesla T4", "7.5", "470.82.01", "2.35", "3.12")), Options{})
	if p.Machines != 5 || len(p.Problems) != 4 {
		t.Fatalf("%d machines, problems %+v", p.Machines, p.Problems)
	}
	why := fmt.Sprint(p.Problems)
	for _, want := range []string{"dead could not be asked", "newer envfix", "facts:4", "read twice"} {
		if !strings.Contains(why, want) {
			t.Errorf("no %q in %s", want, why)
		}
	}
}

func TestEarlierGroupsStay(t *testing.T) {
	text := line("t1", host("Tesla T4", "7.5", "535.183.01", "2.35", "3.12"))
	before := make1(t, text, Options{})
	earlier := Pair{Torch: "2.9.1", Build: "cu126"}
	after := make1(t, text+line("t2", host("Tesla P4", "6.1", "535.183.01", "2.35", "3.12")), Options{Previous: []Pair{earlier}})
	if before.Groups[0].Pair == earlier || len(after.Groups) != 1 || after.Groups[0].Pair != earlier {
		t.Errorf("before %v, after %v", before.Groups[0].Pair, after.Groups)
	}
}

func TestSameTorchAndMaxGroups(t *testing.T) {
	text := line("k", host("Tesla P100-PCIE-16GB", "6.0", "535.183.01", "2.35", "3.12")) + line("k2", host("Tesla P100-PCIE-16GB", "6.0", "535.183.01", "2.35", "3.12")) +
		line("b", host("NVIDIA B200", "10.0", "580.95.05", "2.35", "3.12"))
	p := make1(t, text, Options{SameTorch: true})
	if len(p.Groups) != 2 || p.Groups[0].Torch != p.Groups[1].Torch {
		t.Errorf("%+v", p.Groups)
	}
	p = make1(t, text, Options{MaxGroups: 1})
	if len(p.Groups) != 1 || p.Groups[0].Hosts != 2 || len(p.Unserved) != 1 || !strings.Contains(p.Unserved[0].Hint, "--max-groups") {
		t.Errorf("%+v %+v", p.Groups, p.Unserved)
	}
}

// TestOrderChangesNothing plans for drawn fleets in two orders.
func TestOrderChangesNothing(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 20 {
		var lines []string
		for i := range 12 {
			lines = append(lines, line(fmt.Sprintf("n%02d", i), draw(r)))
		}
		one := make1(t, strings.Join(lines, ""), Options{})
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		if other := make1(t, strings.Join(lines, ""), Options{}); !reflect.DeepEqual(one, other) {
			t.Fatalf("%+v\n%+v", one, other)
		}
	}
}

// TestProcessorsChangeNothing plans for many classes with one session and with four.
func TestProcessorsChangeNothing(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	var text strings.Builder
	for i := range 100 {
		text.WriteString(line(fmt.Sprintf("n%02d", i), draw(r)))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := make1(t, text.String(), Options{})
	runtime.GOMAXPROCS(4)
	if other := make1(t, text.String(), Options{}); !reflect.DeepEqual(one, other) {
		t.Fatalf("%+v\n%+v", one, other)
	}
}

func draw(r *rand.Rand) machine.Machine {
	gpus := [][2]string{{"Tesla P100-PCIE-16GB", "6.0"}, {"Tesla V100-SXM2-16GB", "7.0"}, {"Tesla T4", "7.5"}, {"NVIDIA A100-SXM4-40GB", "8.0"},
		{"NVIDIA H100 PCIe", "9.0"}, {"NVIDIA B200", "10.0"}, {"NVIDIA GeForce RTX 5090", "12.0"}, {"", ""}}
	drivers := []string{"470.82.01", "525.60.13", "535.183.01", "550.54.14", "570.124.06", "580.95.05", "590.44.01"}
	g := gpus[r.Intn(len(gpus))]
	return host(g[0], g[1], drivers[r.Intn(len(drivers))], []string{"2.28", "2.31", "2.35", "2.39"}[r.Intn(4)], fmt.Sprint("3.", 9+r.Intn(6)))
}

// TestCover holds the search against all subsets.
func TestCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := rapid.IntRange(1, 10).Draw(t, "options")
		var sets []bitset
		for _, members := range rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, options-1), 1, 4), 0, 8).Draw(t, "sets") {
			s := new(intsets.Sparse)
			for _, o := range members {
				s.Insert(o)
			}
			sets = append(sets, s)
		}
		got, exact := cover(sets, options, make([]int, options))
		least := options + 1
		for mask := range 1 << options {
			n := 0
			var chosen []int
			for o := range options {
				if mask&(1<<o) != 0 {
					n++
					chosen = append(chosen, o)
				}
			}
			if n < least && !slices.ContainsFunc(sets, func(s bitset) bool { return !slices.ContainsFunc(chosen, s.Has) }) {
				least = n
			}
		}
		if !exact || len(got) != least || slices.ContainsFunc(sets, func(s bitset) bool { return !slices.ContainsFunc(got, s.Has) }) {
			t.Fatalf("%v of %d for %v, exact %v: the least is %d", got, options, sets, exact, least)
		}
	})
}

// TestBriefSearchIsSaid: a search that is cut short says so.
func TestBriefSearchIsSaid(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	const options = 400
	var sets []bitset
	for range 400 {
		s := new(intsets.Sparse)
		for range 4 {
			s.Insert(r.Intn(options))
		}
		sets = append(sets, s)
	}
	got, exact := cover(sets, options, make([]int, options))
	if exact || slices.ContainsFunc(sets, func(s bitset) bool { return !slices.ContainsFunc(got, s.Has) }) {
		t.Errorf("%d options, exact %v", len(got), exact)
	}
}

func TestLinesOfManyForms(t *testing.T) {
	h := host("Tesla T4", "7.5", "535.183.01", "2.35", "3.12.4")
	full := bytes.ReplaceAll(h.Encode(), []byte("\n"), nil)
	var m map[string]any
	if err := json.Unmarshal(full, &m); err != nil {
		t.Fatal(err)
	}
	m["host"] = "late \"quoted\""
	named, _ := json.Marshal(m)
	in := read(t, string(full)+"\n"+string(named)+"\n"+line("first", h)+"\n\n"+`{ "host": "spaced", `+string(h.ClassLine()[1:])+"\n")
	if len(in.Classes) != 1 || !slices.Equal(in.Classes[0].Hosts, []string{"facts:1", "first", "late \"quoted\"", "spaced"}) {
		t.Errorf("%+v %+v", in.Classes, in.Problems)
	}
}
