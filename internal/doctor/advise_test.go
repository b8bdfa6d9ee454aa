package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/resolver"
)

// people are those who may ask: by system, by GPU, by what installs.
func people(t *testing.T) map[string]*read.Case {
	t.Helper()
	m, d, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	gpu := func(major, minor int) []machine.GPU {
		return []machine.GPU{{Vendor: machine.NVIDIA, Name: "GPU", SM: machine.SM{Major: major, Minor: minor}, Visible: true}}
	}
	driver := func(v string) *machine.Driver { return &machine.Driver{Version: version.MustDotted(v)} }
	at := read.Evidence{Line: 1, Text: "as somebody said"}
	out := map[string]*read.Case{
		"nothing known":       {},
		"linux, RTX 3090":     {Machine: machine.Machine{GPUs: gpu(8, 6), Driver: driver("535.183.01"), Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}},
		"linux, old driver":   {Machine: machine.Machine{GPUs: gpu(7, 0), Driver: driver("450.80.02"), Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}},
		"linux, GTX 1080":     {Machine: machine.Machine{GPUs: gpu(6, 1), Driver: driver("580.95.05"), Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}},
		"linux, K80":          {Machine: machine.Machine{GPUs: gpu(3, 7), Driver: driver("470.256.02"), Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}},
		"windows, RTX 5090":   {Machine: machine.Machine{GPUs: gpu(12, 0), Driver: driver("576.88"), Platform: machine.Platform{OS: "windows", Arch: "x86_64"}}},
		"windows, no GPU":     {Machine: machine.Machine{Platform: machine.Platform{OS: "windows", Arch: "x86_64"}}},
		"windows, portable":   {Machine: machine.Machine{GPUs: gpu(8, 9), Platform: machine.Platform{OS: "windows", Arch: "x86_64"}}, Did: read.Commands{EmbeddedPython: at}},
		"wsl":                 {Machine: machine.Machine{GPUs: gpu(8, 9), Driver: driver("560.94"), Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.WSL2}}},
		"mac":                 {Machine: machine.Machine{GPUs: []machine.GPU{{Vendor: machine.Apple, Name: "Apple M2"}}, Platform: machine.Platform{OS: "macos", Arch: "arm64"}}},
		"container with uv":   {Machine: machine.Machine{GPUs: gpu(9, 0), Driver: driver("550.54.15"), Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Container}}, Did: read.Commands{UV: at}},
		"linux, Radeon":       {Machine: machine.Machine{GPUs: []machine.GPU{{Vendor: machine.AMD, GFX: "gfx1100", Name: "RX 7900 XTX", Visible: true}}, Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}},
		"linux, torch is old": {Machine: machine.Machine{GPUs: gpu(8, 6), Driver: driver("580.95.05"), Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}, Torch: read.Torch{Version: "2.5.1", Label: "cpu", Rank: read.ByTorch}},
	}
	for _, c := range out {
		c.Matrix, c.Devices, c.Pasted = m, d, true
		if c.Machine.Platform.OS != "" {
			c.From.OS = at
		}
	}
	return out
}

var (
	ticked      = regexp.MustCompile("`([^`]+)`")
	placeholder = regexp.MustCompile(`whl/BUILD|<[A-Z]+>|\bcuX|torch==[X<V]|%!|<nil>|map\[|\{[a-z-]+\}|\b(?:NAME|BRANCH|PROFILE|VERSION|BUILD|TODO|XXX)\b| -i N\b|=N\b`)
	installs    = regexp.MustCompile(`install .*\btorch==([\d.]+).*--index-url \S*/whl/([\w.]+)`)
	forLinux    = regexp.MustCompile(`\bsudo |\bapt |\bexport [A-Z]|\bunset [A-Z]|\bldconfig\b|\bsystemctl\b|\bmodprobe\b|/etc/`)
)

// What any check advises anybody to do is free of placeholders, is understood by the
// shell of the person who reads it, and installs no torch that the resolver refuses for
// that machine.
func TestAdviceForEverybody(t *testing.T) {
	k := know.Embedded()
	for name, c := range people(t) {
		for _, id := range k.Order {
			e := newExam(k, c)
			fix := e.ways(usual(k.Checks[id]), nil)
			if len(fix) == 0 {
				t.Errorf("%s, %s: nothing to do", name, id)
			}
			for _, way := range fix {
				if bad := placeholder.FindString(way); bad != "" {
					t.Errorf("%s, %s: %q holds the placeholder %q", name, id, way, bad)
				}
				for _, m := range ticked.FindAllStringSubmatch(way, -1) {
					readable(t, name, id, m[1], c.Machine.Platform.OS)
					accepted(t, e, name, id, m[1])
				}
			}
		}
	}
}

// accepted: the version and build of a command that installs torch are what the
// resolver says of this machine.
func accepted(t *testing.T, e *exam, name, id, command string) {
	m := installs.FindStringSubmatch(command)
	if m == nil {
		return
	}
	if _, known := e.Matrix.Release(m[1]); !known && e.Did.Index.Line > 0 {
		return // what was asked for, from the index that has it: older than the data
	}
	if !e.takes(t, m[1], m[2]) {
		t.Errorf("%s, %s: the resolver refuses %s for `%s`", name, id, m[2], command)
	}
	h, _ := e.subject()
	r, ok := e.Matrix.Release(m[1])
	if !ok {
		t.Errorf("%s, %s: there is no torch %s", name, id, m[1])
		return
	}
	if _, ok := r.Build(m[2], h.Platform.OS, h.Platform.Arch); !ok {
		t.Errorf("%s, %s: there is no %s build of torch %s there", name, id, m[2], m[1])
	}
}

// taken are the answers of takes, for the same question comes many times.
var taken = map[string]bool{}

// takes reports whether the resolver takes a torch and build for the machine of a case:
// with the driver that is known or assumed, or, where none is known, with the newest.
func (e *exam) takes(t *testing.T, torch, build string) bool {
	t.Helper()
	q, err := pep508.Parse("torch=="+torch, "the advice")
	if err != nil {
		t.Fatal(err)
	}
	h, _ := e.subject()
	drivers := []*machine.Driver{h.Driver}
	if e.Machine.Driver == nil {
		drivers = append(drivers, &machine.Driver{Version: e.Matrix.Branches[0].Latest})
	}
	if len(e.Machine.GPUs) == 0 && len(h.GPUs) > 1 { // two are assumed, of which the newer is not everybody's
		h.GPUs = h.GPUs[:1]
	}
	return slices.ContainsFunc(drivers, func(d *machine.Driver) (yes bool) {
		h.Driver = d
		key := fmt.Sprint(torch, build, e.Python().Active(), h.Platform.OS, h.Platform.Arch, h.Platform.Environment)
		for _, g := range h.GPUs {
			key += fmt.Sprint(" ", g.Vendor, g.SM, g.GFX)
		}
		if d != nil {
			key += " driver " + d.Version.String()
		}
		if known, ok := taken[key]; ok {
			return known
		}
		defer func() { taken[key] = yes }()
		v, err := resolver.Resolve(e.Matrix, h, resolver.Request{Described: true, Build: build, Python: e.Python().Active(), Requirements: []pep508.Requirement{q}})
		return err == nil && v.Choice != nil && v.Choice.Build == build
	})
}
