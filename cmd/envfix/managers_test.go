package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"envfix/internal/managers"
	"envfix/internal/mcpserver"
	"envfix/internal/schema"
)

// What a manager can do stands in its row: nobody else asks for it by name.
func TestManagersByRow(t *testing.T) {
	root := filepath.Join("..", "..")
	read := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, root+string(filepath.Separator))))
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || dir == "installers" || dir == "internal/managers" {
			return err
		}
		read++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range comparesManager(file) {
			t.Errorf("%s compares a manager's name: give its row in internal/managers what is asked", files.Position(at))
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Fatalf("%d files were read: %v", read, err)
	}
}

func TestComparesManager(t *testing.T) {
	for source, want := range map[string]int{
		`t.Manager == "pixi"`: 1, `"uv" != w.manager`: 1, `slices.Contains([]string{"conda", "mamba"}, w.Manager)`: 1,
		`strings.HasSuffix(w.Manager, "conda")`: 1, `func() { switch t.Manager { case "pixi": } }`: 1,
		`t.Manager == managers.Usual`: 0, `p.Manager == "dnf"`: 0, `w.Manager == ""`: 0, `f(w.Manager, "text")`: 0,
	} {
		e, err := parser.ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(comparesManager(e)); got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
}

// comparesManager returns where what is called a manager meets the name of one.
func comparesManager(in ast.Node) (at []token.Pos) {
	ast.Inspect(in, func(n ast.Node) bool {
		var parts []ast.Node
		switch n := n.(type) {
		case *ast.BinaryExpr:
			parts = []ast.Node{n.X, n.Y}
		case *ast.SwitchStmt:
			parts = append(parts, n.Tag)
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					parts = append(parts, e)
				}
			}
		case *ast.CallExpr:
			for _, e := range n.Args {
				parts = append(parts, e)
			}
		}
		if slices.ContainsFunc(parts, calledManager) && slices.ContainsFunc(parts, namesManager) {
			at = append(at, n.Pos())
		}
		return true
	})
	return at
}

func calledManager(n ast.Node) bool {
	if s, ok := n.(*ast.SelectorExpr); ok {
		n = s.Sel
	}
	id, ok := n.(*ast.Ident)
	return ok && strings.EqualFold(id.Name, "manager")
}

func namesManager(n ast.Node) (found bool) {
	if n == nil {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, err := strconv.Unquote(lit.Value)
			found = found || err == nil && slices.Contains(managers.Names(), name)
		}
		return !found
	})
	return found
}

// Where all managers are written out, for who reads JSON, none of the table is missing.
func TestManagersWrittenOut(t *testing.T) {
	text, _ := schema.Get("plan")
	input, _ := reflect.TypeFor[mcpserver.PlanInput]().FieldByName("Manager")
	said := append(regexp.MustCompile(`"uv, pip, [a-z, ]*"`).FindAllString(string(text), -1), input.Tag.Get("jsonschema"))
	if len(said) < 3 {
		t.Fatalf("the managers are written out in %q alone", said)
	}
	for _, s := range said {
		words := strings.FieldsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
		for _, name := range managers.Names() {
			if !slices.Contains(words, name) {
				t.Errorf("%s lacks %s", s, name)
			}
		}
	}
}
