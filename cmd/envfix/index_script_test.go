package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/testelf"
	"envfix/internal/testindex"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands that scripts have besides testscript's own:
//
//	tools             leaves on PATH only envfix, a real uv and the system's programs
//	index FILE [PATH FAULT]
//	                  serves on loopback, as $INDEX, stand-ins for what the plan in
//	                  FILE installs; PATH of the index then misbehaves
//	index FILE -shelf LIST
//	                  and the wheels of LIST, one a line: name, version, and what
//	                  it requires, or "links" and a library
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){"tools": toolsOnly, "index": serveIndex, "library": writeLibrary}
}

func toolsOnly(ts *testscript.TestScript, neg bool, args []string) {
	uv, err := testindex.FindUV()
	ts.Check(err)
	ours, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	ts.Setenv("PATH", strings.Join([]string{ours, filepath.Dir(uv), "/usr/bin", "/bin"}, ":"))
}

func serveIndex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: index PLANFILE [PATH FAULT]")
	}
	p, err := plan.Decode([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	x, stop := testindex.Start(standInWheels(p)...)
	ts.Defer(stop)
	if len(args) == 3 && args[1] == "-shelf" {
		x.Add(shelf(ts.ReadFile(args[2]))...)
	} else if len(args) == 3 {
		x.Break(args[1], testindex.Fault(args[2]))
	}
	ts.Setenv("INDEX", x.URL)
}

// shelf makes the wheels of a list.
func shelf(list string) []testindex.Wheel {
	var out []testindex.Wheel
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		switch {
		case len(f) < 2:
		case f[0] == "torch":
			out = append(out, testindex.Torch(f[1], "12.1"))
		case len(f) == 4 && f[2] == "links":
			library := testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: []string{f[3]}})
			out = append(out, testindex.Wheel{Name: f[0], Version: f[1], Files: map[string]string{f[0] + "/__init__.py": "", f[0] + "/_C.so": string(library)}})
		default:
			out = append(out, testindex.Wheel{Name: f[0], Version: f[1], Requires: f[2:]})
		}
	}
	return out
}

// standInWheels makes wheels that prove what the plan's verification asks for.
func standInWheels(p *plan.Plan) []testindex.Wheel {
	var out []testindex.Wheel
	for _, s := range p.Steps {
		if s.Verify != nil {
			public, _, _ := strings.Cut(s.Verify.Torch, "+")
			t := testindex.TorchBuild{Version: public, Says: public + "+" + p.Build, CUDA: s.Verify.CUDA, CuDNN: cudnnNumber(s.Verify.CuDNN), Arches: s.Verify.Arches}
			if p.Index != nil {
				t.Version = s.Verify.Torch
			}
			w := t.Wheel()
			w.Files["torch/lib/libshm.so"] = "a library by its name" // RECORD says its size
			out = append(out, w)
		}
	}
	for name, version := range p.Packages {
		public, _, _ := strings.Cut(version, "+")
		if p.Index != nil {
			public = version
		}
		if name != "torch" && public != "" {
			out = append(out, testindex.Wheel{Name: name, Version: public})
		}
	}
	return out
}

// cudnnNumber writes 9.10.2.21 as 91002, and 8.7.0.84 as 8700 (cudnn_version.h).
func cudnnNumber(v string) int {
	n, factors := 0, []int{10000, 100, 1}
	parts := strings.Split(v, ".")
	if len(parts[0]) == 1 && parts[0] < "9" {
		factors[0] = 1000
	}
	for i, factor := range factors {
		if i < len(parts) {
			if d, err := strconv.Atoi(parts[i]); err == nil {
				n += d * factor
			}
		}
	}
	return n
}
