package resolver

import (
	"flag"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// property checks one property on machines that the judge draws.
func property(t *testing.T, check func(t *rapid.T, m *matrix.Matrix, j *judge, c drawn)) {
	m := dataThen(t)
	j := readJudge(t)
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "100"} {
		if os.Getenv("ENVFIX_LONG") == "" { // the same machines in every run
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, m, j, j.draw(rand.New(rand.NewSource(rapid.Int64().Draw(rt, "machine")))))
	})
}

func (c drawn) decide(t *rapid.T, m *matrix.Matrix, change func(*machine.Machine, *Request)) *outcome {
	h, r := c.machine(), c.request(t)
	if change != nil {
		change(&h, &r)
	}
	s, err := newProblem(m, h, r)
	if err != nil {
		t.Fatal(err)
	}
	return s.chooser().decide()
}

func torchOf(o *outcome) version.Python {
	if o.Decision != Install {
		return version.Python{}
	}
	return version.MustPython(o.Choice.Torch)
}

// The order of GPUs does not change what is chosen, nor does the order of rules.
func TestPropertyOrderFree(t *testing.T) {
	property(t, func(t *rapid.T, m *matrix.Matrix, j *judge, c drawn) {
		a := c.decide(t, m, nil)
		b := c.decide(t, m, func(h *machine.Machine, _ *Request) { slices.Reverse(h.GPUs) })
		if a.Decision != b.Decision || short(a.settled(), true) != short(b.settled(), true) {
			t.Fatalf("%+v: %s %s, reversed %s %s", c, a.Decision, short(a.settled(), true), b.Decision, short(b.settled(), true))
		}
		if a.q == nil {
			return
		}
		for _, b := range a.q.p.cache.wheels {
			backwards := true
			for i := len(rules) - 1; i >= 0; i-- {
				backwards = rules[i].refuses(a.q, b) == nil && backwards
			}
			if backwards != a.q.passes(b) {
				t.Fatalf("%+v: %s depends on the order of the rules", c, torchName(b))
			}
		}
	})
}

// A newer driver that still drives every GPU never makes the choice older.
func TestPropertyDriverMonotone(t *testing.T) {
	property(t, func(t *rapid.T, m *matrix.Matrix, j *judge, c drawn) {
		o := c.decide(t, m, nil)
		if o.Decision != Install {
			return
		}
		for _, b := range m.Branches {
			v := b.Latest
			if c.os == "windows" || c.wsl {
				v = b.LatestWindows
			}
			if v.IsZero() || v.Less(version.MustDotted(c.driver)) || slices.ContainsFunc(c.gpus, func(cc string) bool {
				a, _ := m.Arch(machine.MustSM(cc))
				return a.LastBranch > 0 && b.Number > a.LastBranch
			}) {
				continue
			}
			n := c.decide(t, m, func(h *machine.Machine, _ *Request) { h.Driver.Version = v })
			if n.Decision != Install || torchOf(n).Compare(torchOf(o)) < 0 {
				t.Fatalf("%+v: torch %s, and with driver %s %s %s", c, o.Choice.Torch, v, n.Decision, short(n.Choice, true))
			}
		}
	})
}

// More indexes and fewer pins never make the choice older.
func TestPropertyWishMonotone(t *testing.T) {
	property(t, func(t *rapid.T, m *matrix.Matrix, j *judge, c drawn) {
		o := c.decide(t, m, nil)
		for name, change := range map[string]func(*machine.Machine, *Request){
			"every index": func(_ *machine.Machine, r *Request) { r.OnlyIndex = "" },
			"no pin":      func(_ *machine.Machine, r *Request) { r.Requirements = unpinned(r.Requirements) },
		} {
			if n := c.decide(t, m, change); o.Decision == Install && (n.Decision != Install && n.Decision != Split || n.Decision == Install && torchOf(n).Compare(torchOf(o)) < 0) {
				t.Fatalf("%+v: torch %s, and with %s %s %s", c, o.Choice.Torch, name, n.Decision, short(n.Choice, true))
			}
		}
	})
}

// A nearest change, made, gives what it says.
func TestPropertyNearest(t *testing.T) {
	made := 0
	property(t, func(t *rapid.T, m *matrix.Matrix, j *judge, c drawn) {
		res, err := Resolve(m, c.machine(), c.request(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range res.Nearest {
			o := c.decide(t, m, func(h *machine.Machine, r *Request) { applyChange(t, m, n, h, r) })
			if got := o.settled(); got == nil || got.Torch != n.Torch || got.Build != n.Build {
				t.Fatalf("%+v: nearest %q promises torch %s %s and gives %s %s", c, n.Change, n.Torch, n.Build, o.Decision, short(got, true))
			}
			made++
		}
	})
	if made == 0 {
		t.Fatal("no nearest change was tried")
	}
}

// applyChange does what a nearest answer says, from its words alone.
func applyChange(t *rapid.T, m *matrix.Matrix, n Nearest, h *machine.Machine, r *Request) {
	words := strings.Fields(strings.ReplaceAll(n.Change, "`", ""))
	switch {
	case words[0] == "python":
		r.Python = words[1]
	case words[0] == "torch":
		r.Requirements = parsed(t, "torch=="+words[1])
	case words[0] == "driver":
		number, _ := strconv.Atoi(words[1])
		b, _ := m.Branch(number)
		d := *h.Driver
		if d.Version = b.Latest; h.Platform.OS == "windows" || h.Platform.Environment == machine.WSL2 {
			d.Version = b.LatestWindows
		}
		h.Driver = &d
	case words[0] == "drop" && words[1] == "--only-index":
		r.OnlyIndex = ""
	case words[0] == "--manager":
		r.Manager = words[1]
	case words[0] == "--build":
		r.Build = words[1]
	case words[0] == "leave":
		var left []int
		for _, g := range h.GPUs {
			if !strings.Contains(n.Change, gpuName(g)) {
				left = append(left, g.Index)
			}
		}
		if len(left) == 0 {
			left = []int{0}
		}
		r.GPUs = left
	default:
		t.Fatalf("a change that the test does not know: %q", n.Change)
	}
}

// Facts that make no sense get an answer too.
func TestPropertyAnyFacts(t *testing.T) {
	property(t, func(t *rapid.T, m *matrix.Matrix, j *judge, c drawn) {
		text := func(name string, list ...string) string { return rapid.SampledFrom(list).Draw(t, name) }
		h := c.machine()
		h.Platform.OS = text("os", "linux", "windows", "macos", "", "plan9")
		h.Platform.Arch = text("arch", "x86_64", "aarch64", "arm64", "riscv64", "")
		h.Platform.Environment = text("env", "", "wsl2", "container", "container-build", "jetson", "hpc-login", "?")
		for i := range h.GPUs {
			g := &h.GPUs[i]
			g.Vendor = text("vendor", "nvidia", "amd", "intel", "apple", "")
			g.Name = text("name", "", "RTX 4090", "Arc A770", "\x1b[31m\n", strings.Repeat("x", 500))
			g.Visible, g.Integrated = rapid.Bool().Draw(t, "visible"), rapid.Bool().Draw(t, "integrated")
			g.SM = machine.SM{Major: rapid.IntRange(0, 30).Draw(t, "major"), Minor: rapid.IntRange(0, 9).Draw(t, "minor")}
		}
		switch text("driver", "none", "zero", "kept") {
		case "none":
			h.Driver = nil
		case "zero":
			h.Driver = &machine.Driver{}
		}
		r := Request{Python: text("python", "", "3.12", "3.99", "3.14t"), Manager: text("manager", "", "conda"), JIT: rapid.Bool().Draw(t, "jit"), Described: rapid.Bool().Draw(t, "described"),
			Build: text("build", "", "cu126", "cpu", "rocm7.2", "xpu", "mps", "cu999"), CUDA: text("cuda", "", "12", "13.0", "99")}
		if len(h.GPUs) > 0 && rapid.Bool().Draw(t, "one") {
			r.GPUs = []int{h.GPUs[rapid.IntRange(0, len(h.GPUs)-1).Draw(t, "which")].Index}
		}
		res, err := Resolve(m, h, r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Decision == "" || res.Decision == Install && res.Choice == nil || res.Decision == NoSolution && len(res.Reasons) == 0 {
			t.Fatalf("%+v %+v: %+v", h, r, res)
		}
		for _, line := range render(res) {
			if strings.Contains(line, "\x1b") {
				t.Fatalf("a control character came through: %q", line)
			}
		}
	})
}
