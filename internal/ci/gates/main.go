// Gates is the check by which text and requests leave the program through one place each:
//
//	go run ./internal/ci/gates PACKAGES
//	go build -o gates ./internal/ci/gates && go vet -vettool=gates PACKAGES
//
// A string that has no place of its own cannot be given to a [envfix/internal/text.Doc], the
// compiler sees to that; here is what the compiler lets pass.
package main

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

func main() { multichecker.Main(gates) }

var gates = &analysis.Analyzer{
	Name:     "gates",
	Doc:      "refuses text and requests that leave beside the program's gates",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// A door is something of a library that leads out, and where alone it may be used.
type door struct {
	gate string   // "package function", or "package"; several by ";"
	of   string   // the library
	to   []string // its functions, variables, types and TYPE.METHOD
	say  string
}

var doors = []door{
	{"envfix/cmd/envfix stdout stderr", "os", []string{"Stdout", "Stderr"}, "write to stdout() or stderr()"},
	{"", "fmt", []string{"Print", "Printf", "Println"}, "write to stdout()"},
	{"", "log", nil, "write to stderr()"},
	{"", "text/template", nil, "use html/template, or text.Doc"},
	{"envfix/internal/reach", "net/http", []string{"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"}, "ask by reach.Allowed"},
	{"envfix/internal/reach", "net", []string{"Dial", "DialTimeout", "DialTCP", "DialUDP", "Dialer"}, "ask by reach.Allowed"},
	// What was quoted for one place is not put together with other text. Of these, an editor
	// of TOML reads again what it wrote, and the others speak to people or to JSON.
	{"envfix/internal/pyproject;envfix/internal/plan shown;envfix/internal/propose metadata;envfix/cmd/envfix writeErrorJSON", "envfix/internal/text", []string{"Quoted.String"},
		"keep it text.Quoted, and write it by WriteTo"},
	// An index by the user's own word, and the team's policy.
	{"envfix/internal/index New;envfix/internal/team allowed", "envfix/internal/reach", []string{"Bind"}, "take what these allow"},
}

// form are names of functions that write for another program.
var form = regexp.MustCompile(`^[Ee]xport([A-Z]|$)|(?i)script$|^powershell$|assignments?$|yaml$|csv$`)

// markup are the types of html/template that are not escaped.
var markup = []string{"HTML", "HTMLAttr", "CSS", "JS", "JSStr", "URL", "Srcset"}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack([]ast.Node{(*ast.Ident)(nil), (*ast.CallExpr)(nil), (*ast.CompositeLit)(nil), (*ast.FuncDecl)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		if !push || strings.HasSuffix(pass.Fset.Position(n.Pos()).Filename, "_test.go") {
			return false
		}
		switch n := n.(type) {
		case *ast.Ident:
			if d, name := leads(pass.TypesInfo.Uses[n]); d != nil && !d.admits(pass, stack) && !handed(pass, stack) {
				pass.Reportf(n.Pos(), "%s.%s leads past the gate: %s", d.of, name, d.say)
			}
		case *ast.FuncDecl:
			if f := pass.TypesInfo.Defs[n.Name].(*types.Func); form.MatchString(n.Name.Name) && returnsString(f) {
				pass.Reportf(n.Pos(), "%s gives a form of another program out as a plain string: return text.Quoted", n.Name.Name)
			}
		case *ast.CompositeLit:
			if t := pass.TypesInfo.TypeOf(n); t.String() == "net/http.Client" && pass.Pkg.Path() != "envfix/internal/reach" {
				pass.Reportf(n.Pos(), "http.Client leads past the gate: ask by reach.Allowed")
			}
		case *ast.CallExpr:
			if t := converts(pass, n); t != "" && !harmless(pass, n.Args[0]) {
				pass.Reportf(n.Pos(), "template.%s is not escaped, and this is not text of the program's own", t)
			}
		}
		return true
	})
	return nil, nil
}

// leads is the door that an object is, and its name there.
func leads(o types.Object) (d *door, name string) {
	if o == nil || o.Pkg() == nil {
		return nil, ""
	}
	name = o.Name()
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		name = strings.TrimPrefix(types.TypeString(f.Signature().Recv().Type(), func(*types.Package) string { return "" }), "*") + "." + name
	} else if o.Parent() != o.Pkg().Scope() {
		return nil, ""
	}
	i := slices.IndexFunc(doors, func(d door) bool {
		return d.of == o.Pkg().Path() && (d.to == nil || slices.Contains(d.to, name))
	})
	if i < 0 {
		return nil, ""
	}
	return &doors[i], name
}

// admits reports whether this is the gate itself.
func (d *door) admits(pass *analysis.Pass, stack []ast.Node) bool {
	for gate := range strings.SplitSeq(d.gate, ";") {
		where := strings.Fields(gate)
		if len(where) == 0 || where[0] != pass.Pkg.Path() {
			continue
		}
		return len(where) == 1 || slices.ContainsFunc(stack, func(n ast.Node) bool {
			f, ok := n.(*ast.FuncDecl)
			return ok && slices.Contains(where[1:], f.Name.Name)
		})
	}
	return false
}

// handed reports whether a file is given to a child as its own.
func handed(pass *analysis.Pass, stack []ast.Node) bool {
	for _, n := range stack {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			continue
		}
		return !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool {
			s, ok := e.(*ast.SelectorExpr)
			return !ok || strings.TrimPrefix(pass.TypesInfo.TypeOf(s.X).String(), "*") != "os/exec.Cmd"
		})
	}
	return false
}

func returnsString(f *types.Func) bool {
	for v := range f.Signature().Results().Variables() {
		if types.Identical(v.Type(), types.Typ[types.String]) || types.Identical(v.Type(), types.NewSlice(types.Typ[types.Byte])) {
			return true
		}
	}
	return false
}

// converts is the type of html/template that a call converts to, "" where none.
func converts(pass *analysis.Pass, c *ast.CallExpr) string {
	t := pass.TypesInfo.Types[c.Fun]
	named, ok := t.Type.(*types.Named)
	if !t.IsType() || !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "html/template" || !slices.Contains(markup, named.Obj().Name()) {
		return ""
	}
	return named.Obj().Name()
}

// harmless reports whether an expression is a constant, or numbers in a constant form.
func harmless(pass *analysis.Pass, e ast.Expr) bool {
	if pass.TypesInfo.Types[e].Value != nil {
		return true
	}
	c, ok := e.(*ast.CallExpr)
	if !ok || len(c.Args) == 0 || types.ExprString(c.Fun) != "fmt.Sprintf" || pass.TypesInfo.Types[c.Args[0]].Value == nil {
		return false
	}
	return !slices.ContainsFunc(c.Args[1:], func(a ast.Expr) bool {
		b, ok := pass.TypesInfo.TypeOf(a).Underlying().(*types.Basic)
		return !ok || b.Info()&types.IsNumeric == 0
	})
}
