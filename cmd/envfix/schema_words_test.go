package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/schema"

	"github.com/google/jsonschema-go/jsonschema"
)

// words are what the source says of the fields of this module's types, by package,
// type and field: the comment of a field, or of the type that it is of.
type words struct {
	fields map[string]string // envfix/internal/doctor.Report.OK
	types  map[string]string
	read   map[string]bool // packages
}

// of returns what is said of a field.
func (w words) of(t reflect.Type, f reflect.StructField) string {
	w.load(t.PkgPath())
	if said := w.fields[t.PkgPath()+"."+t.Name()+"."+f.Name]; said != "" {
		return said
	}
	of := f.Type
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	w.load(of.PkgPath())
	return w.types[of.PkgPath()+"."+of.Name()]
}

// load reads the comments of a package of this module.
func (w words) load(pkg string) {
	inside, ok := strings.CutPrefix(pkg, module+"/")
	if !ok || w.read[pkg] {
		return
	}
	w.read[pkg] = true
	files, _ := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(inside), "*.go"))
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			for _, s := range d.Specs {
				spec := s.(*ast.TypeSpec)
				doc := spec.Doc
				if doc == nil && len(d.Specs) == 1 {
					doc = d.Doc
				}
				w.types[pkg+"."+spec.Name.Name] = sentence(doc)
				w.addFields(pkg+"."+spec.Name.Name, spec.Type)
			}
			return true
		})
	}
}

func (w words) addFields(name string, of ast.Expr) {
	s, ok := of.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		said := f.Comment
		if said == nil {
			said = f.Doc
		}
		if f.Names != nil && said != nil {
			for _, n := range f.Names {
				w.fields[name+"."+n.Name] = strings.Join(strings.Fields(said.Text()), " ")
			}
		}
	}
}

// itself is how a type's comment begins: "A Verdict is".
var itself = regexp.MustCompile(`^(?:An? |The )?\w+ (?:is|are) `)

// sentence is the first sentence of a type's comment, without the type's name.
func sentence(c *ast.CommentGroup) string {
	said := itself.ReplaceAllString(strings.Join(strings.Fields(c.Text()), " "), "")
	if i := strings.Index(said, ". "); i > 0 {
		return said[:i]
	}
	return strings.TrimSuffix(said, ".")
}

// say puts what the source says of each field into the schema of its type.
func (w words) say(t reflect.Type, s *jsonschema.Schema, special map[reflect.Type]*jsonschema.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s == nil || special[t] != nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		w.say(t.Elem(), s.Items, special)
	case reflect.Map:
		w.say(t.Elem(), s.AdditionalProperties, special)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			property := s.Properties[name]
			if property == nil || f.Anonymous {
				continue
			}
			owner := t
			for _, i := range f.Index[:len(f.Index)-1] { // a field of an embedded struct is its own
				if owner = owner.Field(i).Type; owner.Kind() == reflect.Pointer {
					owner = owner.Elem()
				}
			}
			property.Description = w.of(owner, f)
			w.say(f.Type, property, special)
		}
	}
}

// TestSchemasAreTold: what a program reads first is told: most fields at the top of
// each schema have words, and of all fields more than half.
func TestSchemasAreTold(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the source")
	}
	told, all := 0, 0
	var count func(s *jsonschema.Schema)
	count = func(s *jsonschema.Schema) {
		if s == nil {
			return
		}
		for _, p := range s.Properties {
			all++
			if p.Description != "" {
				told++
			}
			count(p)
		}
		count(s.Items)
		count(s.AdditionalProperties)
	}
	for _, name := range schema.Names() {
		var s jsonschema.Schema
		b, _ := schema.Get(name)
		if err := s.UnmarshalJSON(b); err != nil {
			t.Fatal(err)
		}
		count(&s)
	}
	if told*2 < all {
		t.Errorf("of %d fields %d are told", all, told)
	}
	t.Logf("of %d fields %d are told", all, told)
}
