package resolver

import (
	stdcmp "cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/*.txt")

// The tables in testdata are cases in a small language, one per paragraph:
//
//	case: what it is about
//	machine: linux x86_64 glibc-2.39 python-3.12 driver-580.95.05 module-open wsl2 …
//	gpu: Tesla V100 | 7.0 | invisible          (name | capability or gfx | flags)
//	request: torch==2.15.0 --cuda 13
//	installed: torch==2.10.0+cpu
//	want: install 2.14.1 cu126 min=525.60.13   (written by hand, never rewritten)
//	> …                                        (the whole answer; -update rewrites it)
//
// Every case has a want; the > lines are optional.
type tableCase struct {
	file  string
	line  int
	head  []string // lines before the answer
	title string
	h     machine.Machine
	r     Request
	want  string
	whole bool     // the case records the whole answer
	lines []string // the recorded answer
}

func TestTables(t *testing.T) {
	m := dataThen(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	total := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range parseTable(t, file, string(text)) {
			out = append(out, strings.Join(c.head, "\n"))
			if c.want == "" {
				continue // a comment
			}
			total++
			got := runCase(t, m, &c)
			if c.whole {
				if !*update && !slices.Equal(got, c.lines) {
					t.Errorf("%s:%d: %s (-recorded +got):\n%s", file, c.line, c.title, cmp.Diff(c.lines, got))
				}
				out[len(out)-1] += "\n> " + strings.Join(got, "\n> ")
			}
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d cases in %d tables", total, len(files))
}

func runCase(t *testing.T, m *matrix.Matrix, c *tableCase) []string {
	res, err := Resolve(m, c.h, c.r)
	if err != nil {
		if c.want != "error" {
			t.Errorf("%s:%d: %s: %v", c.file, c.line, c.title, err)
		}
		return []string{"error: " + err.Error()}
	}
	for i, word := range strings.Fields(c.want) {
		if wrong := checkWord(res, i, word); wrong != "" {
			t.Errorf("%s:%d: %s\n\twant %s\n\tgot %s\n\t%s", c.file, c.line, c.title, c.want, wrong, strings.Join(render(res), "\n\t"))
			break
		}
	}
	return render(res)
}

// checkWord compares one word of a want; it returns what is there instead.
func checkWord(res *Resolution, at int, word string) string {
	is := func(got, want string) string {
		if got == want {
			return ""
		}
		return fmt.Sprintf("%q, not %q", got, want)
	}
	has := func(list []string, part string) string {
		part = strings.ReplaceAll(part, "_", " ")
		if slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) }) {
			return ""
		}
		return fmt.Sprintf("no %q in %q", part, list)
	}
	key, value, keyed := strings.Cut(word, "=")
	if !keyed {
		switch at {
		case 0:
			return is(string(res.Decision), word)
		case 1:
			return is(stdcmp.Or(short(res.Choice, false), "newest"), word)
		default:
			if res.Choice == nil {
				return "no choice"
			}
			return is(res.Choice.Build, word)
		}
	}
	switch key {
	case "then":
		return is(short(res.Then, true), value)
	case "fallback":
		return is(short(res.Fallback, true), value)
	case "min":
		return is(res.Driver.Minimum.String(), value)
	case "branch":
		return is(res.Driver.Branch, value)
	case "module":
		return is(res.Driver.KernelModule, value)
	case "action":
		return is(res.Driver.Action, value)
	case "visible":
		return is(strings.Trim(strings.ReplaceAll(fmt.Sprint(res.VisibleGPUs), " ", ","), "[]"), value)
	case "envs":
		var parts []string
		for _, e := range res.Environments {
			parts = append(parts, strings.Trim(strings.ReplaceAll(fmt.Sprint(e.GPUs), " ", ","), "[]")+":"+short(e.Choice, true))
		}
		return is(strings.Join(parts, "|"), value)
	case "nearest":
		var list []string
		for _, n := range res.Nearest {
			list = append(list, n.Change+"/"+n.Torch+"/"+n.Build)
		}
		return has(list, value)
	case "alt":
		return has(res.Alternatives, value)
	case "nowarn":
		if has(res.Warnings, value) == "" {
			return "a warning of " + value
		}
		return ""
	case "warn":
		return has(res.Warnings, value)
	case "because":
		var list []string
		for _, r := range res.Reasons {
			list = append(list, r.Rule+": "+r.Text)
		}
		return has(list, value)
	case "held":
		if value == "none" {
			return is(res.HeldBack, "")
		}
		return has([]string{res.HeldBack}, value)
	}
	if res.Choice == nil {
		return "no choice"
	}
	switch key {
	case "ask":
		c := res.Choice
		var asks []string
		for _, name := range slices.Sorted(maps.Keys(c.Ask)) {
			asks = append(asks, c.Ask[name])
		}
		return is(strings.Join(asks, ","), value)
	case "holds":
		return is(strings.Join(res.Choice.Holds, ","), value)
	case "python":
		return is(res.Choice.Python, value)
	case "channel":
		return is(res.Choice.Channel, value)
	case "index":
		if res.Choice.Index == nil {
			return is("default", value)
		}
		return is(*res.Choice.Index, value)
	}
	if name, ok := strings.CutPrefix(key, "url:"); ok {
		return has([]string{res.Choice.URLs[name]}, value)
	}
	if name, ok := strings.CutPrefix(key, "pkg:"); ok {
		v, there := res.Choice.Packages[name]
		if !there {
			v = "none"
		}
		return is(v, value)
	}
	return "an unknown word " + key
}

func short(c *Choice, build bool) string {
	switch {
	case c == nil:
		return "none"
	case build:
		return c.Torch + "/" + c.Build
	}
	return c.Torch
}

// render writes an answer as the tables record it.
func render(res *Resolution) []string {
	line := string(res.Decision)
	if res.Choice != nil {
		line += " " + renderChoice(res.Choice)
	}
	out := []string{line}
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	d := res.Driver
	line = "driver " + d.Action
	for _, p := range [][2]string{{"minimum", d.Minimum.String()}, {"branch", d.Branch}, {"module", d.KernelModule}} {
		if p[1] != "" {
			line += ", " + p[0] + " " + p[1]
		}
	}
	add("%s", line)
	if res.Then != nil {
		add("then %s", renderChoice(res.Then))
	}
	if res.Fallback != nil {
		add("fallback %s", renderChoice(res.Fallback))
	}
	for _, e := range res.Environments {
		add("environment for %v: %s; driver %s %s %s; %s", e.GPUs, renderChoice(e.Choice), e.Driver.Action, e.Driver.Branch, e.Driver.KernelModule, e.Note)
	}
	if res.VisibleGPUs != nil {
		add("visible %v, CUDA_VISIBLE_DEVICES=%s", res.VisibleGPUs, res.CUDAVisible)
	}
	if res.HeldBack != "" {
		add("%s", res.HeldBack)
	}
	if res.Choice == nil || res.Decision == UseVendorIndex {
		reasons := res.Reasons
		if res.Then != nil {
			reasons = reasons[:1] // the others are every rule's word for the choice after it
		}
		for _, r := range reasons {
			add("because %s: %s", r.Rule, r.Text)
			if r.Hint != "" {
				add("hint: %s", r.Hint)
			}
		}
	}
	for _, w := range res.Warnings {
		add("warning: %s", w)
	}
	for _, n := range res.Nearest {
		add("nearest: %s: torch %s %s, python %s", n.Change, n.Torch, n.Build, n.Python)
	}
	for _, a := range res.Alternatives {
		add("or: %s", a)
	}
	return out
}

func renderChoice(c *Choice) string {
	s := fmt.Sprintf("torch %s %s, python %s, %s", c.Torch, c.Build, c.Python, c.Channel)
	if c.Index != nil {
		s += " " + *c.Index
	}
	var names []string
	for n := range c.Packages {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		s += ", " + n + " " + c.Packages[n]
	}
	return s
}

// parseTable splits a file into cases; a paragraph without a want is a comment.
func parseTable(t testing.TB, file, text string) []tableCase {
	var out []tableCase
	line := 1
	for para := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		c := tableCase{file: file, line: line, h: machine.Machine{Format: 1, Platform: machine.Platform{
			OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.39")}}}}
		for i, l := range strings.Split(para, "\n") {
			if strings.HasPrefix(l, "> ") {
				c.whole = true
				c.lines = append(c.lines, l[2:])
				continue
			}
			c.head = append(c.head, l)
			if l == ">" || strings.HasPrefix(l, "#") || l == "" {
				if l == ">" { // asks for the answer to be recorded
					c.whole, c.head = true, c.head[:len(c.head)-1]
				}
				continue
			}
			key, value, ok := strings.Cut(l, ": ")
			if err := c.set(key, value); !ok || err != nil {
				t.Fatalf("%s:%d: %q: %v", file, line+i, l, err)
			}
		}
		line += strings.Count(para, "\n") + 2
		if c.want != "" && len(c.h.Pythons) == 0 && c.r.Python == "" {
			c.h.Pythons = []machine.Python{{Version: "3.12", Path: "/usr/bin/python3", Active: true}}
		}
		out = append(out, c)
	}
	return out
}

func (c *tableCase) set(key, value string) error {
	switch key {
	case "case":
		c.title = value
	case "want":
		c.want = value
	case "machine":
		for _, w := range strings.Fields(value) {
			if err := c.setMachine(w); err != nil {
				return err
			}
		}
	case "gpu":
		return c.setGPU(value)
	case "request":
		return c.setRequest(strings.Fields(value))
	case "installed":
		for _, w := range strings.Fields(value) {
			name, v, _ := strings.Cut(w, "==")
			c.h.Installed = append(c.h.Installed, machine.Package{Name: name, Version: v})
		}
	default:
		return fmt.Errorf("unknown key")
	}
	return nil
}

func (c *tableCase) setMachine(w string) error {
	p := &c.h.Platform
	driver := func() *machine.Driver {
		if c.h.Driver == nil {
			c.h.Driver = &machine.Driver{Evidence: machine.FromNVML}
		}
		return c.h.Driver
	}
	key, value, _ := strings.Cut(w, "-")
	switch {
	case w == "linux":
	case w == "windows" || w == "macos":
		p.OS, p.Libc = w, nil
	case w == "x86_64" || w == "aarch64" || w == "arm64" || w == "ppc64le":
		p.Arch = w
	case slices.Contains([]string{machine.WSL2, machine.Container, machine.ContainerBuild, machine.Jetson, machine.HPCLogin}, w):
		p.Environment = w
	case key == "macos":
		p.OS, p.Libc, p.DistroVersion = key, nil, value
	case key == "glibc" || key == "musl":
		p.Libc = &machine.Libc{Kind: key, Version: version.MustDotted(value)}
	case key == "driver":
		driver().Version = version.MustDotted(value)
	case key == "module":
		driver().KernelModule = value
	case key == "loaded":
		driver().LoadedVersion = version.MustDotted(value)
	case w == "conda":
		c.h.Env = map[string]string{"CONDA_PREFIX": "/opt/conda/envs/work"}
	case w == "notloaded":
		driver().NotLoaded = true
	case key == "l4t":
		p.L4T = value
	case key == "python", key == "found":
		v, free := strings.CutSuffix(value, "t")
		c.h.Pythons = append(c.h.Pythons, machine.Python{Version: v, Path: "/usr/bin/python" + value, Active: key == "python", FreeThreaded: free})
	default:
		return fmt.Errorf("unknown word %q", w)
	}
	return nil
}

func (c *tableCase) setGPU(value string) error {
	f := strings.Split(value, "|")
	g := machine.GPU{Index: len(c.h.GPUs), Vendor: machine.NVIDIA, Name: strings.TrimSpace(f[0]), Visible: true, Evidence: machine.FromNVML}
	g.UUID = fmt.Sprintf("GPU-%d", g.Index)
	for _, w := range strings.Fields(strings.Join(f[1:], " ")) {
		sm, err := machine.ParseSM(w)
		switch {
		case err == nil && strings.Contains(w, "."):
			g.SM = sm
		case strings.HasPrefix(w, "gfx"):
			g.GFX = w
		case w == "invisible":
			g.Visible, g.UUID, g.Evidence = false, "", machine.FromPCI
		case w == "integrated":
			g.Integrated = true
		case w == "nouveau" || w == "vfio-pci":
			g.KernelDriver = w
		case w == "flag":
			g.Evidence, g.UUID = machine.FromFlag, ""
		case strings.HasPrefix(w, "mig="):
			g.MIG = w[4:]
		case strings.HasPrefix(w, "pci="):
			g.PCIID = w[4:]
		case w == machine.AMD || w == machine.Intel || w == machine.Apple:
			g.Vendor, g.UUID = w, ""
		default:
			return fmt.Errorf("unknown word %q", w)
		}
	}
	c.h.GPUs = append(c.h.GPUs, g)
	return nil
}

func (c *tableCase) setRequest(words []string) error {
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := func() string {
			if i++; i < len(words) {
				return words[i]
			}
			return ""
		}
		switch w {
		case "--cuda":
			c.r.CUDA = next()
		case "--build":
			c.r.Build = next()
		case "--python":
			c.r.Python = next()
		case "--project-python":
			c.r.ProjectPython = next()
		case "--manager":
			c.r.Manager = next()
		case "--allow-url":
			c.r.AllowURL = append(c.r.AllowURL, next())
		case "--channel":
			c.r.Channel = next()
		case "--only-index":
			c.r.OnlyIndex = next()
		case "--jit":
			c.r.JIT = true
		case "--cpu":
			c.r.CPU = true
		case "--gpus":
			for n := range strings.SplitSeq(next(), ",") {
				var i int
				if _, err := fmt.Sscan(n, &i); err != nil {
					return err
				}
				c.r.GPUs = append(c.r.GPUs, i)
			}
		default:
			q, err := pep508.Parse(w, "")
			if err != nil {
				return err
			}
			c.r.Requirements = append(c.r.Requirements, q)
		}
	}
	return nil
}

// dataThen is the data without the releases that came after the expectations in
// testdata were written, so that a new one does not change them.
func dataThen(t interface{ Fatal(...any) }) *matrix.Matrix {
	m, err := matrix.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return m.Until("2026-11-21")
}
