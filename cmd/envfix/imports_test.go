package main

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "envfix"

// layers says what each package may import from this module. It is the
// architecture; a new edge is a decision, made here. "*" admits every pure
// package; cmd/envfix may import anything, and everybody
// internal/lazy and internal/text.
var layers = map[string][]string{
	"data":                     {},
	"internal/lazy":            {},
	"internal/mcpserver":       {},
	"internal/schema":          {},
	"internal/near":            {},
	"internal/text":            {},
	"internal/fail":            {},
	"internal/version":         {},
	"internal/machine":         {"internal/version"},
	"internal/pep508":          {"internal/machine", "internal/version"},
	"internal/compiled":        {"internal/version"},
	"matrix":                   {"internal/compiled", "internal/machine", "internal/near", "internal/version", "data"},
	"resolver":                 {"matrix", "internal/near", "internal/machine", "internal/pep508", "internal/version"},
	"internal/describe":        {"resolver", "matrix", "internal/fail", "internal/machine", "internal/pep508", "internal/version"},
	"internal/plan":            {"resolver", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"internal/pyproject":       {"internal/plan", "resolver", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"internal/lock":            {"internal/plan", "resolver", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"installers":               {"internal/pyproject", "internal/lock", "internal/plan", "resolver", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"internal/doctor/know":     {"internal/compiled", "internal/version", "data"},
	"internal/doctor/read":     {"internal/doctor/know", "matrix", "internal/machine", "internal/version"},
	"internal/doctor":          {"internal/doctor/read", "internal/doctor/know", "installers", "internal/pyproject", "internal/lock", "internal/plan", "resolver", "matrix", "internal/machine", "internal/pep508", "internal/version", "data"},
	"internal/fleet":           {"internal/describe", "internal/fail", "resolver", "matrix", "internal/machine", "internal/version"},
	"internal/observe/verdict": {"internal/machine", "internal/version"},
	"internal/proc":            {},
	"internal/probe":           {"internal/proc", "internal/machine", "internal/version", "internal/nvmlchild", "internal/nvmlchild/carried"},
	"internal/observe":         {"internal/observe/verdict", "internal/probe", "internal/system", "internal/proc", "internal/machine", "internal/version"},
	"internal/system":          {"internal/proc", "internal/plan"},
	"internal/apply":           {"internal/system", "internal/plan", "internal/machine"},
	"internal/index":           {"matrix", "internal/machine", "internal/pep508", "internal/version", "data"},
	"internal/update":          {"matrix", "internal/version"}, // signed data: fetched by cmd through internal/index
	"internal/nvmlchild":       {},
	"cmd/envfix-nvml":          {"internal/nvmlchild"},
	"cmd/envfix-sign":          {"internal/update", "matrix", "internal/version"},
	"internal/team":            {"*", "internal/system", "internal/index"}, // a team's files, uv and its index
	"internal/maintain":        {"*", "internal/system", "internal/index"}, // the data, kept true
	"internal/ui":              {"*"},
	"internal/compile":         {"internal/doctor/read", "internal/doctor/know", "matrix"},
	"cmd/envfix":               {"*", "internal/schema", "internal/mcpserver", "internal/nvmlchild", "internal/probe", "internal/observe", "internal/system", "internal/apply", "internal/index", "internal/update", "internal/team", "internal/maintain", "internal/ui"},
}

// pure packages know no clock, no environment, no files and no network, so the
// brain runs anywhere and answers the same everywhere.
var pure = []string{
	"data",
	"internal/lazy",
	"internal/near", "internal/text",
	"internal/fail",
	"internal/version",
	"internal/machine",
	"internal/pep508",
	"internal/compiled",
	"matrix",
	"resolver",
	"internal/describe",
	"internal/plan",
	"internal/pyproject",
	"internal/lock",
	"installers",
	"internal/doctor/know",
	"internal/doctor/read",
	"internal/doctor",
	"internal/fleet",
	"internal/observe/verdict",
}

var impure = []string{"os", "os/exec", "net", "net/http", "time", "math/rand", "math/rand/v2", "syscall"}

// walls says which packages may import a third-party module. Tests may use the
// test libraries; everything else is listed here or not used.
var walls = map[string][]string{
	"github.com/NVIDIA/go-nvml":                 {"internal/nvmlchild"},
	"github.com/hashicorp/go-version":           {"internal/version"},
	"github.com/aquasecurity/go-pep440-version": {"internal/version"},
	"gopkg.in/yaml.v3":                          {"matrix", "internal/doctor/know"},
	"github.com/pelletier/go-toml/v2":           {"internal/lock", "internal/pyproject"},
	"github.com/modelcontextprotocol/go-sdk":    {"internal/mcpserver", "cmd/envfix"},
	"github.com/urfave/cli/v2":                  {"cmd/envfix"},
	"mvdan.cc/sh/v3":                            {"internal/plan", "internal/ui", "internal/system", "installers", "cmd/envfix"},
	"golang.org/x/sys":                          {"internal/probe", "internal/proc", "internal/observe", "internal/system", "internal/apply", "cmd/envfix"},
	"golang.org/x/net":                          {"internal/index"},
	"golang.org/x/sync":                         {"internal/index", "internal/maintain", "internal/team", "internal/probe"},
	"golang.org/x/term":                         {"internal/ui", "cmd/envfix", "cmd/envfix-sign"},
	"aead.dev/minisign":                         {"internal/update", "cmd/envfix-sign"},
}

// aside are packages that only tests and maintainers use; they are held to no
// layer.
var aside = []string{"internal/testindex", "internal/testelf", "internal/ci"}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Module", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if slices.ContainsFunc(aside, func(a string) bool { return name == a || strings.HasPrefix(name, a+"/") }) {
			continue
		}
		allowed, ok := layers[name]
		if !ok {
			t.Errorf("%s is not in the layer table", name)
			continue
		}
		for _, imp := range p.Imports {
			checkImport(t, name, imp, allowed)
		}
	}
}

func checkImport(t *testing.T, name, imp string, allowed []string) {
	t.Helper()
	if sub, ours := strings.CutPrefix(imp, module+"/"); ours {
		if sub != "internal/lazy" && sub != "internal/text" && !slices.Contains(allowed, sub) && !(slices.Contains(allowed, "*") && slices.Contains(pure, sub)) {
			t.Errorf("%s must not import %s", name, sub)
		}
		return
	}
	if slices.Contains(pure, name) && slices.Contains(impure, imp) {
		t.Errorf("%s is pure and must not import %q", name, imp)
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return // the standard library
	}
	for wall, who := range walls {
		if imp == wall || strings.HasPrefix(imp, wall+"/") {
			if !slices.Contains(who, name) {
				t.Errorf("%s must not import %s; only %s may", name, imp, strings.Join(who, ", "))
			}
			return
		}
	}
	t.Errorf("%s imports %s, which no wall admits (%s)", name, imp, path.Base(imp))
}
