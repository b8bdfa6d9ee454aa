package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "envfix"

// layers says what each package may import from this module. It is the
// architecture; a new edge is a decision, made here. "*" admits every pure
// package; cmd/envfix may import anything, and everybody
// internal/lazy, internal/say, internal/text and internal/xslices.
var layers = map[string][]string{
	"data":                       {},
	"internal/lazy":              {},
	"internal/xslices":           {},
	"internal/say":               {},
	"internal/owner":             {},
	"internal/mcpserver":         {},
	"internal/schema":            {},
	"internal/near":              {},
	"internal/pylex":             {},
	"internal/managers":          {},
	"internal/text":              {},
	"internal/fail":              {},
	"internal/version":           {},
	"internal/machine":           {"data", "internal/version"},
	"internal/pep508":            {"internal/machine", "internal/version"},
	"internal/compiled":          {"internal/version"},
	"matrix":                     {"internal/compiled", "internal/machine", "internal/near", "internal/version", "data"},
	"resolver":                   {"matrix", "internal/near", "internal/managers", "internal/machine", "internal/pep508", "internal/version"},
	"internal/describe":          {"internal/managers", "resolver", "matrix", "internal/fail", "internal/machine", "internal/pep508", "internal/version"},
	"internal/plan":              {"internal/describe", "internal/managers", "resolver", "internal/machine", "internal/version"},
	"internal/pyproject":         {"internal/pylex", "resolver", "internal/machine", "internal/pep508", "internal/version"},
	"internal/closure":           {"internal/modules", "internal/pyproject"},
	"internal/modules":           {"data"},
	"internal/lock":              {"internal/machine", "internal/version"},
	"installers":                 {"internal/managers", "internal/pyproject", "internal/lock", "internal/plan", "resolver", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"internal/doctor/know":       {"internal/compiled", "internal/modules", "internal/version", "data"},
	"internal/planning":          {"internal/describe", "internal/fail", "internal/plan", "internal/pep508", "internal/version", "installers", "resolver", "matrix", "internal/machine"},
	"internal/doctor/read":       {"internal/doctor/know", "resolver", "matrix", "internal/machine", "internal/version"},
	"internal/doctor/evidence":   {"internal/managers", "internal/doctor/read", "internal/doctor/know", "internal/plan", "matrix", "internal/machine", "internal/version"},
	"internal/doctor":            {"internal/modules", "internal/managers", "internal/doctor/read", "internal/doctor/know", "internal/doctor/evidence", "internal/plan", "internal/planning", "internal/describe", "resolver", "internal/machine", "internal/pep508", "internal/version"},
	"internal/fleet":             {"internal/lock", "internal/describe", "internal/fail", "resolver", "matrix", "internal/machine", "internal/version"},
	"internal/chart":             {"internal/describe", "resolver", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"internal/page":              {"*"},             // the web page's answers
	"cmd/envfix-page":            {"internal/page"}, // built for js/wasm alone
	"internal/observe/verdict":   {"internal/machine"},
	"internal/proc":              {},
	"internal/reach":             {},
	"internal/loader":            {},
	"internal/clone":             {"internal/system", "internal/fail"}, // a repository by git
	"internal/probe/sysroot":     {"internal/machine", "internal/proc"},
	"internal/probe/platform":    {"internal/probe/sysroot", "internal/loader", "internal/machine", "internal/version"},
	"internal/probe/gpu":         {"internal/probe/sysroot", "internal/probe/platform", "internal/machine", "internal/nvmlchild", "internal/nvmlchild/carried", "internal/proc", "internal/version"},
	"internal/probe/variables":   {"internal/probe/sysroot", "internal/probe/platform", "internal/machine"},
	"internal/probe/python":      {"internal/pylex", "internal/probe/sysroot", "internal/probe/platform", "internal/probe/variables", "internal/machine", "internal/version"},
	"internal/probe/packages":    {"internal/pylex", "internal/probe/sysroot", "internal/probe/variables", "internal/probe/python", "internal/probe/libraries", "internal/machine", "internal/version"},
	"internal/probe/libraries":   {"internal/probe/sysroot", "internal/probe/platform", "internal/probe/variables", "internal/probe/python", "internal/loader", "internal/machine", "internal/near"},
	"internal/probe/tools":       {"internal/probe/sysroot", "internal/probe/python", "internal/machine", "internal/version"},
	"internal/probe":             {"internal/probe/sysroot", "internal/probe/platform", "internal/probe/gpu", "internal/probe/variables", "internal/probe/python", "internal/probe/packages", "internal/probe/libraries", "internal/probe/tools", "internal/machine", "internal/proc"},
	"internal/observe":           {"internal/observe/verdict", "internal/nvmlchild", "internal/probe/gpu", "internal/system", "internal/proc", "internal/machine"},
	"internal/system":            {"internal/proc"},
	"internal/apply":             {"internal/doctor/know", "internal/fail", "internal/modules", "internal/managers", "internal/reach", "internal/system", "internal/plan", "internal/machine"},
	"internal/index":             {"internal/reach", "matrix", "internal/machine", "internal/pep508", "internal/version"},
	"internal/update":            {"matrix", "internal/version", "internal/proc"}, // signed data: fetched by cmd through internal/index
	"internal/nvmlchild":         {},
	"internal/nvmlchild/carried": {},
	"cmd/envfix-nvml":            {"internal/nvmlchild"},
	"cmd/envfix-sign":            {"internal/update", "matrix", "internal/version"},
	"internal/propose":           {"*", "internal/index", "internal/team", "internal/system"},                    // uv resolves a project
	"internal/team":              {"*", "internal/reach", "internal/system"},                                     // a team's files, uv and its index
	"internal/maintain":          {"*", "internal/system", "internal/index"},                                     // the data, kept true
	"internal/ui":                {"*", "internal/apply", "internal/team"},                                       // their data, shown
	"internal/project":           {"*", "internal/system"},                                                       // a project's files
	"internal/examine":           {"*", "internal/probe", "internal/index", "internal/apply", "internal/system"}, // this machine, for doctor
	"internal/place":             {"installers", "internal/fail", "internal/machine", "internal/plan", "internal/ui", "internal/system"},
	"internal/browser":           {"internal/describe", "internal/fail", "internal/machine", "internal/plan", "internal/project", "internal/system"},
	"internal/bring":             {"internal/index", "internal/machine", "internal/plan", "internal/probe", "internal/reach", "internal/system", "internal/team", "internal/version"},
	"internal/cmdline":           {"internal/describe", "internal/fail", "internal/near", "internal/ui"},
	"internal/compile":           {"internal/doctor/know", "matrix"},
	"cmd/envfix":                 {"*", "internal/reach", "internal/schema", "internal/mcpserver", "internal/owner", "internal/nvmlchild", "internal/probe", "internal/probe/gpu", "internal/observe", "internal/system", "internal/apply", "internal/index", "internal/update", "internal/team", "internal/propose", "internal/maintain", "internal/clone", "internal/ui", "internal/cmdline", "internal/project", "internal/examine", "internal/place", "internal/browser", "internal/bring"},
}

// A room of the doctor's rules sees the evidence, and no other room; beside it what
// facts are made of. Only internal/doctor asks the rooms.
const (
	rulesOf  = "internal/doctor/"
	evidence = rulesOf + "evidence"
)

// around are the packages under internal/doctor that are no rooms of rules.
var around = []string{rulesOf + "read", rulesOf + "know", evidence}

// room reports whether a package is a room of the doctor's rules.
func room(name string) bool {
	return strings.HasPrefix(name, rulesOf) && !slices.Contains(around, name)
}

// ofRooms is what any of them may import.
var ofRooms = []string{evidence, "internal/near", "internal/machine", "internal/version", "internal/pep508", "matrix"}

// pure packages know no clock, no environment, no files and no network, so the
// brain runs anywhere and answers the same everywhere.
var pure = []string{
	"data",
	"internal/lazy", "internal/say", "internal/xslices",
	"internal/owner",
	"internal/managers",
	"internal/near", "internal/pylex", "internal/text",
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
	"internal/closure",
	"internal/modules",
	"internal/lock",
	"installers",
	"internal/planning",
	"internal/doctor/know",
	"internal/doctor/read",
	"internal/doctor/evidence",
	"internal/doctor",
	"internal/fleet",
	"internal/chart",
	"internal/page",
	"internal/observe/verdict",
}

var impure = []string{"os", "os/exec", "net", "net/http", "time", "math/rand", "math/rand/v2", "syscall"}

// walls says which packages may import a third-party module. Tests may use the
// test libraries; everything else is listed here or not used.
var walls = map[string][]string{
	"github.com/NVIDIA/go-nvml":                 {"internal/nvmlchild"},
	"github.com/hashicorp/go-version":           {"internal/version"},
	"github.com/aquasecurity/go-pep440-version": {"internal/version"},
	"gopkg.in/yaml.v3":                          {"matrix", "internal/doctor/know", "internal/pyproject"},
	"github.com/pelletier/go-toml/v2":           {"internal/lock", "internal/pyproject"},
	"github.com/modelcontextprotocol/go-sdk":    {"internal/mcpserver", "cmd/envfix"},
	"github.com/google/jsonschema-go":           {"internal/mcpserver"},
	"github.com/urfave/cli/v2":                  {"internal/cmdline", "cmd/envfix"},
	"golang.org/x/sys":                          {"internal/probe/gpu", "internal/probe/platform", "internal/proc", "internal/observe", "internal/system"},
	"golang.org/x/net":                          {"internal/index", "internal/reach"},
	"kernel.org/pub/linux/libs/security/libcap": {"internal/system"},
	"golang.org/x/sync":                         {"internal/probe/sysroot", "internal/index", "internal/team", "internal/fleet"},
	"golang.org/x/tools":                        {"internal/fleet"},
	"golang.org/x/term":                         {"cmd/envfix", "cmd/envfix-sign"},
	"aead.dev/minisign":                         {"internal/update", "cmd/envfix-sign"},
	"github.com/ProtonMail/go-crypto":           {"internal/system"},
}

// aside are packages that only tests and maintainers use; they are held to no
// layer.
var aside = []string{"internal/testindex", "internal/testelf", "internal/testenv", "internal/ci"}

// builds are the ways the module is built; an import may stand in files of one
// of them alone.
var builds = [][]string{
	{"GOOS=linux", "CGO_ENABLED=1"},
	{"GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=-tags=urfave_cli_no_docs,nvmlchild"},
	{"GOOS=windows", "CGO_ENABLED=0"},
	{"GOOS=darwin", "CGO_ENABLED=0"},
	{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"},
}

// The table is the architecture: no package imports what its row does not
// admit, and no row admits what nothing uses.
func TestImports(t *testing.T) {
	used := map[string]map[string]bool{} // package: what it imports, in any build
	for _, build := range builds {
		gatherImports(t, build, used)
	}
	document, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, imports := range used {
		if !namesRoom(string(document), name) {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
		allowed, ok := layers[name]
		if room(name) {
			allowed, ok = ofRooms, true
		}
		if name == "internal/doctor" {
			allowed = append(slices.Clone(allowed), roomsOf(used)...)
		}
		if !ok {
			t.Errorf("%s is not in the layer table", name)
			continue
		}
		for imp := range imports {
			checkImport(t, name, imp, allowed)
		}
	}
	for name, allowed := range layers {
		for _, edge := range allowed {
			if edge != "*" && !used[name][module+"/"+edge] {
				t.Errorf("%s does not import %s; take it out of its row", name, edge)
			}
		}
	}
	for wall, who := range walls {
		for _, name := range who {
			if !importsWithin(used[name], wall) {
				t.Errorf("%s does not import %s; take it out of the wall", name, wall)
			}
		}
	}
}

// namesRoom reports whether a document names a room: by its path, or by its last word.
func namesRoom(document, room string) bool {
	return strings.Contains(document, "`"+room+"`") || strings.Contains(document, room+"/") || strings.Contains(document, "`"+path.Base(room)+"`")
}

// choosers are the functions that choose or make steps, and who may call each: all
// others ask internal/planning, so that nobody plans by rules of his own.
var choosers = map[string][]string{
	"resolver.Resolve":    {"internal/planning"},
	"resolver.Why":        {"internal/planning", "internal/chart"},
	"resolver.NewSession": {"internal/planning", "internal/chart", "internal/fleet", "internal/team"}, // of many machines
	"installers.Plan":     {"internal/planning"},
	"installers.Locked":   {"internal/planning"},
}

func TestOnlyPlanningChooses(t *testing.T) {
	called := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../../"))
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := of.Name + "." + s.Sel.Name
			if who, ok := choosers[name]; ok {
				called[name+" "+room] = true
				if !slices.Contains(who, room) {
					t.Errorf("%s: %s is for %s; ask internal/planning", path, name, strings.Join(who, ", "))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, who := range choosers {
		for _, room := range who {
			if !called[name+" "+room] {
				t.Errorf("%s does not call %s; take it out of its row", room, name)
			}
		}
	}
}

// roomsOf are the rooms of the doctor's rules that there are.
func roomsOf(used map[string]map[string]bool) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(used)), func(name string) bool { return !room(name) })
}

// gatherImports adds what every package of the module imports in one build.
func gatherImports(t *testing.T, build []string, used map[string]map[string]bool) {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	list.Env = append(list.Environ(), build...)
	out, err := list.Output()
	if err != nil {
		t.Fatal(build, err)
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
		if used[name] == nil {
			used[name] = map[string]bool{}
		}
		for _, imp := range p.Imports {
			used[name][imp] = true
		}
	}
}

// importsWithin tells whether one of the imports is the module or in it.
func importsWithin(imports map[string]bool, wall string) bool {
	for imp := range imports {
		if imp == wall || strings.HasPrefix(imp, wall+"/") {
			return true
		}
	}
	return false
}

func checkImport(t *testing.T, name, imp string, allowed []string) {
	t.Helper()
	if sub, ours := strings.CutPrefix(imp, module+"/"); ours {
		if !slices.Contains([]string{"internal/lazy", "internal/say", "internal/text", "internal/xslices"}, sub) && !slices.Contains(allowed, sub) && !(slices.Contains(allowed, "*") && slices.Contains(pure, sub)) {
			t.Errorf("%s must not import %s", name, sub)
		}
		return
	}
	if (slices.Contains(pure, name) || room(name)) && slices.Contains(impure, imp) {
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
