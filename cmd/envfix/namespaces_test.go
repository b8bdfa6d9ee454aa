package main

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// most is how many methods a type may have, those of what it embeds among them, and how
// many functions of one package may take it first: a file in which everything can call
// three hundred other things is no room, however short it is.
const most = 60

// TestNamespaces: no type is a namespace.
func TestNamespaces(t *testing.T) {
	for _, p := range checkedPackages(t) {
		for name, n := range namespacesOf(p) {
			if n > most {
				t.Errorf("%s: %d; at most %d", name, n, most)
			}
		}
	}
}

// namespacesOf counts for every type of a package its methods, and for every type of the
// module the functions of the package that take it first.
func namespacesOf(p *types.Package) map[string]int {
	out := map[string]int{}
	here := strings.TrimPrefix(p.Path(), module+"/")
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.TypeName:
			if _, isInterface := o.Type().Underlying().(*types.Interface); !isInterface && !o.IsAlias() {
				out["methods of "+here+"."+name] = types.NewMethodSet(types.NewPointer(o.Type())).Len()
			}
		case *types.Func:
			if first := o.Signature().Params(); first.Len() > 0 {
				if of := namedOf(first.At(0).Type()); of != "" {
					out["functions of "+here+" on "+of]++
				}
			}
		}
	}
	return out
}

// namedOf is the type of the module that a parameter is of, or points to; "" none.
func namedOf(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !strings.HasPrefix(n.Obj().Pkg().Path(), module) {
		return ""
	}
	return strings.TrimPrefix(n.Obj().Pkg().Path(), module+"/") + "." + n.Obj().Name()
}

// checkedPackages are the packages of the module with their types, as this build has them.
func checkedPackages(t *testing.T) []*types.Package {
	t.Helper()
	list, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,CgoFiles,Module", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles, CgoFiles       []string
		Module                  *struct{ Main bool }
	}
	var ours []listed
	export := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(list))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		export[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && len(p.CgoFiles) == 0 {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	var out []*types.Package
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		checked, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, checked)
	}
	return out
}
