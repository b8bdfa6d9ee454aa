package resolver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A type with more methods than a reader can hold is no room: its parts are types of
// their own (parts.go). Methods of embedded types count.
func TestPartsAreSmall(t *testing.T) {
	const most = 60
	methods, first, embeds := map[string]int{}, map[string]int{}, map[string][]string{}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[typeName(n.Recv.List[0].Type)]++
				} else if n.Type.Params.NumFields() > 0 {
					first[typeName(n.Type.Params.List[0].Type)]++
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						if f.Names == nil {
							embeds[n.Name.Name] = append(embeds[n.Name.Name], typeName(f.Type))
						}
					}
				}
			}
			return true
		})
	}
	var all func(string) int
	all = func(name string) int {
		n := methods[name]
		for _, e := range embeds[name] {
			n += all(e)
		}
		return n
	}
	if methods["problem"] == 0 || first["attempt"] == 0 {
		t.Fatal("nothing was counted")
	}
	for name := range methods {
		if n := all(name); n > most {
			t.Errorf("%s has %d methods, %d at most: give a part of them a type of its own", name, n, most)
		}
	}
	for name, n := range first {
		if n > most && methods[name] > 0 {
			t.Errorf("%d functions take a %s first, %d at most", n, name, most)
		}
	}
}

func typeName(e ast.Expr) string {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
