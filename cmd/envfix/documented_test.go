package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wellKnown are methods whose meaning an interface of the standard library gives.
var wellKnown = []string{
	"Close", "Error", "IsZero", "Len", "Less", "MarshalJSON", "MarshalText", "Read", "String", "Swap", "UnmarshalJSON", "UnmarshalText", "Unwrap", "Write",
}

// TestDocumented: what a room gives to others says what it is. Functions of one line may
// stand below one comment.
func TestDocumented(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(name string, d fs.DirEntry, err error) error {
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
		below := 0 // the line below the function before, where that has a comment
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || slices.Contains(wellKnown, f.Name.Name) {
				continue
			}
			seen++
			line := files.Position(f.Pos()).Line
			switch documented := f.Doc != nil || line == below; {
			case documented:
				below = files.Position(f.End()).Line + 1
			case ofExported(f):
				t.Errorf("%s:%d: %s says nowhere what it is", name, line, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatal(seen, err)
	}
}

// ofExported reports whether others can call a function: it is no method, or one of a type
// that they can name.
func ofExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	of := f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if p, ok := of.(*ast.IndexExpr); ok {
		of = p.X
	}
	name, ok := of.(*ast.Ident)
	return ok && name.IsExported()
}
