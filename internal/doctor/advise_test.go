package doctor

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/resolver"

	"mvdan.cc/sh/v3/syntax"
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
	placeholder = regexp.MustCompile(`whl/BUILD|<[A-Z]+>|\bcuX|torch==[X<V]|%!|<nil>|map\[|\{torch\}|\{python\}`)
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
			e := &exam{Case: c, k: k}
			f := e.find(id, strong)
			e.advise(f)
			if len(f.Fix) == 0 {
				t.Errorf("%s, %s: nothing to do", name, id)
			}
			for _, way := range f.Fix {
				if bad := placeholder.FindString(way); bad != "" {
					t.Errorf("%s, %s: %q holds the placeholder %q", name, id, way, bad)
				}
				for _, m := range ticked.FindAllStringSubmatch(way, -1) {
					inShell(t, name, id, m[1], c.Machine.Platform.OS)
					accepted(t, e, name, id, m[1])
				}
			}
		}
	}
}

// inShell: Windows reads PowerShell, everybody else a shell of POSIX.
func inShell(t *testing.T, name, id, command, system string) {
	if system == "windows" {
		if bad := forLinux.FindString(command); bad != "" {
			t.Errorf("%s, %s: `%s` is for Linux (%s)", name, id, command, bad)
		}
		return
	}
	program := strings.Fields(command)[0]
	if !slices.Contains([]string{"pip", "uv", "conda", "sudo", "envfix", "python", "export", "unset", "nvidia-smi", "docker", "apt", "dnf", "printenv", "timeout"}, program) {
		return // code, a setting or a name
	}
	if _, err := syntax.NewParser().Parse(strings.NewReader(command), ""); err != nil {
		t.Errorf("%s, %s: sh does not read `%s`: %v", name, id, command, err)
	}
}

// accepted: the version and build of a command that installs torch are what the
// resolver says of this machine.
func accepted(t *testing.T, e *exam, name, id, command string) {
	m := installs.FindStringSubmatch(command)
	if m == nil {
		return
	}
	h, _ := e.subject()
	v, err := resolver.Resolve(e.Matrix, h, resolver.Request{Described: true, Build: m[2], Python: e.activePython()})
	if err != nil || v.Choice == nil || v.Choice.Build != m[2] {
		t.Errorf("%s, %s: the resolver refuses %s for `%s`", name, id, m[2], command)
	}
	r, ok := e.Matrix.Release(m[1])
	if !ok {
		t.Errorf("%s, %s: there is no torch %s", name, id, m[1])
		return
	}
	if _, ok := r.Build(m[2], h.Platform.OS, h.Platform.Arch); !ok {
		t.Errorf("%s, %s: there is no %s build of torch %s there", name, id, m[2], m[1])
	}
}
