package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/internal/schema"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestSchemasOnlyGrow: testdata/fields.txt names every field that a schema ever had, with
// its kind; all are still there. -update adds what is new and never takes a line out.
func TestSchemasOnlyGrow(t *testing.T) {
	const file = "testdata/fields.txt"
	now := map[string]bool{}
	for _, name := range schema.Names() {
		b, ok := schema.Get(name)
		var s jsonschema.Schema
		if !ok || json.Unmarshal(b, &s) != nil {
			t.Fatalf("there is no schema %s", name)
		}
		fieldsOf(&s, name, now)
	}
	b, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	before := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		before[strings.TrimSpace(line)] = true
	}
	if *update {
		maps.Copy(before, now)
		text := strings.Join(slices.Sorted(maps.Keys(before)), "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(before)) {
		if !now[line] {
			t.Errorf("a field that programs read is gone, or of another kind: %s", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(now)) {
		if !before[line] {
			t.Errorf("%s does not name %s; `make golden` adds it", file, line)
		}
	}
}

// fieldsOf collects the fields of a schema, and of what they hold, as lines "plan
// steps[].argv[] string". What may be null is marked: it may not become so later.
func fieldsOf(s *jsonschema.Schema, path string, to map[string]bool) {
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		place := path + "." + name
		if !strings.Contains(path, ".") && !strings.Contains(path, " ") {
			place = path + " " + name
		}
		to[place+" "+kinds(p)] = true
		fieldsOf(p, place, to)
	}
	if s.Items != nil {
		to[path+"[] "+kinds(s.Items)] = true
		fieldsOf(s.Items, path+"[]", to)
	}
	if p := s.AdditionalProperties; p != nil && kinds(p) != "any" {
		to[path+".* "+kinds(p)] = true
		fieldsOf(p, path+".*", to)
	}
}

func kinds(s *jsonschema.Schema) string {
	if s.Type != "" {
		return s.Type
	}
	if len(s.Types) == 0 {
		return "any"
	}
	return strings.Join(slices.Sorted(slices.Values(s.Types)), "|")
}
