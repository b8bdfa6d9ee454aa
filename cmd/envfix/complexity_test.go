package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// eachFunction calls look with every function of the program, those of tests apart.
func eachFunction(t *testing.T, look func(file string, line, last int, f *ast.FuncDecl)) {
	t.Helper()
	must0(t, filepath.WalkDir(filepath.Join("..", ".."), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				look(name, files.Position(f.Pos()).Line, files.Position(f.End()).Line, f)
			}
		}
		return nil
	}))
}

// TestComplexity holds the ways through a function: more than 20 nowhere, more than 15 in
// fewer than 60 functions of the program.
func TestComplexity(t *testing.T) {
	above := 0
	eachFunction(t, func(file string, _, _ int, f *ast.FuncDecl) {
		n := ways(f)
		if n > 20 {
			t.Errorf("%s: %s has a cyclomatic complexity of %d; at most 20", file, f.Name.Name, n)
		}
		if n > 15 {
			above++
		}
	})
	if above == 0 || above >= 60 {
		t.Errorf("%d functions have a cyclomatic complexity above 15; fewer than 60, and some were counted when this was written", above)
	}
}

// ways is a function's cyclomatic complexity, those of the functions inside it included.
func ways(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			n += min(len(x.List), 1)
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
