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
	case "older":
		var list []string
		if c := res.Choice; c != nil {
			for name, why := range c.Older {
				list = append(list, name+": "+why)
			}
		}
		return has(list, value)
	case "note":
		var list []string
		for _, n := range res.Nearest {
			list = append(list, n.Build+" ("+n.Note+")")
		}
		return has(list, value)
	case "noalt":
		if has(res.Alternatives, value) == "" {
			return "the alternative " + value
		}
		return ""
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
		add("nearest: %s: torch %s %s, python %s%s", n.Change, n.Torch, n.Build, n.Python, strings.TrimSuffix("; "+n.Note, "; "))
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

// dataThen is the data without the releases that came after the expectations in
// testdata were written, so that a new one does not change them.
func dataThen(t interface{ Fatal(...any) }) *matrix.Matrix {
	m := matrix.Embedded()
	return m.Until("2026-11-21")
}
