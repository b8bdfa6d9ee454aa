package main

import (
	"go/ast"
	"slices"
	"testing"
)

// wellKnown are methods whose meaning an interface of the standard library gives.
var wellKnown = []string{
	"Close", "Error", "IsZero", "Len", "Less", "MarshalJSON", "MarshalText", "Read", "String", "Swap", "UnmarshalJSON", "UnmarshalText", "Unwrap", "Write",
}

// TestDocumented: what a room gives to others says what it is. Functions of one line may
// stand below one comment.
func TestDocumented(t *testing.T) {
	seen, above, in := 0, 0, "" // above: the last line of the function before, where that has a comment
	eachFunction(t, func(file string, line, last int, f *ast.FuncDecl) {
		if !f.Name.IsExported() || slices.Contains(wellKnown, f.Name.Name) {
			return
		}
		seen++
		switch {
		case f.Doc != nil || file == in && line == above+1:
			in, above = file, last
		case ofExported(f):
			t.Errorf("%s:%d: %s says nowhere what it is", file, line, f.Name.Name)
		}
	})
	if seen == 0 {
		t.Error("no function was looked at")
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
