package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"envfix/internal/apply"
	"envfix/internal/cmdline"
	"envfix/internal/doctor"
	"envfix/internal/machine"
	"envfix/internal/maintain"
	"envfix/internal/observe/verdict"
	"envfix/internal/plan"
	"envfix/internal/schema"
	"envfix/internal/ui"

	"github.com/google/jsonschema-go/jsonschema"
)

// answers are the types behind each command's JSON.
var answers = []struct {
	name, about string
	value       any
}{
	{"apply", "what `envfix apply --json` did", apply.Answer{}},
	{"doctor", "what `envfix doctor --json` found", doctor.Report{}},
	{"doctor-all", "every Python environment of a machine: `envfix doctor --all --json`", doctor.Environments{}},
	{"doctor-fix", "what `envfix doctor --fix --json` found and mended", doctorFixAnswer{}},
	{"error", "what every command prints with --json where it fails", errorAnswer{}},
	{"explain", "what `envfix explain --json` knows of a message", doctor.Explanation{}},
	{"facts", "what a machine is: `envfix facts --json`, and what `--facts FILE` reads", machine.Machine{}},
	{"fleet-plan", "the groups of `envfix fleet plan --json`", fleetPlanAnswer{}},
	{"fleet-report", "who is right: `envfix fleet report --json`", fleetReportAnswer{}},
	{"history", "what `envfix history --json` knows of an environment", apply.History{}},
	{"lock", "what `envfix lock --json` made", lockAnswer{}},
	{"lock-check", "whether a lock is current: `envfix lock --check --json`", lockCheckAnswer{}},
	{"lock-check-env", "whether an environment is what the lock says, as JSON", lockHeldAnswer{}},
	{"lock-show", "the lock, as `envfix lock show --json` prints it", lockShowAnswer{}},
	{"matrix-check", "faults of the data: `envfix matrix check --json`", matrixCheckAnswer{}},
	{"matrix-command", "the command that PyTorch publishes: `envfix matrix command --json`", matrixCommandAnswer{}},
	{"matrix-diff", "two versions of the data: `envfix matrix diff --json`", matrixDiffAnswer{}},
	{"matrix-prove", "the data against the wheels: `envfix matrix prove --json`", maintain.Report{}},
	{"matrix-show", "releases and builds: `envfix matrix show --json`", ui.MatrixShowAnswer{}},
	{"matrix-update", "what `envfix matrix update --json` took", matrixUpdateAnswer{}},
	{"plan", "a plan: `envfix plan --json`, and what `envfix apply FILE` reads", plan.Plan{}},
	{"run", "the verdict on a job: `envfix run --report FILE`, `--replay FILE --json`", verdict.Report{}},
	{"verify", "the proof of `envfix verify --json`", verifyAnswer{}},
	{"verify-static", "what `envfix verify --static --json` compared", staticAnswer{}},
	{"watch", "a line of `envfix watch --json`", verdict.View{}},
	{"why", "the case of `envfix why --json`", caseAnswer{}},
}

// TestSchemas: each schema is what its types say; -update writes it.
func TestSchemas(t *testing.T) {
	for _, a := range answers {
		want, err := schemaOf(a.name, a.about, reflect.TypeOf(a.value))
		if err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
		file := filepath.Join("..", "..", "internal", "schema", a.name+".json")
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, ok := schema.Get(a.name); !ok || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the types say; `make golden` writes it", file)
		}
	}
	if got := len(schema.Names()); got != len(answers) && !*update {
		t.Errorf("%d schemas for %d answers", got, len(answers))
	}
}

// schemaOf makes the schema of a type. What the types cannot say is added: text that
// they marshal themselves, null for lists that may be nil, and room for more fields.
func schemaOf(name, about string, of reflect.Type) ([]byte, error) {
	special := map[reflect.Type]*jsonschema.Schema{}
	marshalled(of, special, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: special})
	if err != nil {
		return nil, err
	}
	words{map[string]string{}, map[string]string{}, map[string]bool{}}.say(of, s, special)
	open(s)
	s.Schema, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", "envfix "+name, about
	b, err := json.MarshalIndent(s, "", " ")
	return append(b, '\n'), err
}

// marshalled collects the types that are printed as text, wherever they are used.
func marshalled(t reflect.Type, to map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t.Kind() != reflect.Pointer && (t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]())) {
		to[t] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		marshalled(t.Elem(), to, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			marshalled(t.Field(i).Type, to, seen)
		}
	}
}

// open lets every object hold more than it names.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	if s.AdditionalProperties != nil && s.Type == "object" { // a map, which may be nil
		s.Type, s.Types = "", []string{"null", "object"}
	}
	open(s.AdditionalProperties)
	open(s.Items)
	for _, p := range s.Properties {
		open(p)
	}
}

// schemasFor are the schemas that a command's JSON may be of.
func schemasFor(args []string) []string {
	in, err := cmdline.Parse(args, commands())
	if err != nil || !in.JSON {
		return nil
	}
	var words []string
	for _, c := range in.Path {
		words = append(words, c.Name)
	}
	name := strings.Join(words, "-")
	var out []string
	for _, n := range schema.Names() {
		if n == name || strings.HasPrefix(n, name+"-") && len(words) == 1 {
			out = append(out, n)
		}
	}
	return append(out, "error")
}

// validated is main for the scripts: whatever a command prints as JSON is of one of
// its schemas, or it exits with 99.
func validated() {
	names := schemasFor(os.Args)
	if len(names) == 0 || slices.Contains(os.Args, "watch") {
		main()
		return
	}
	terminal := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout = w
	printed := make(chan []byte)
	go func() {
		var b bytes.Buffer
		io.Copy(io.MultiWriter(&b, terminal), r)
		printed <- b.Bytes()
	}()
	ctx, stop := interruptible()
	code := run(aloneIn(ctx), os.Args)
	stop()
	w.Close()
	if err := ofSchema(names, <-printed); err != nil {
		fmt.Fprintf(os.Stderr, "not of the schemas %v: %v\n", names, err)
		code = 99
	}
	os.Exit(code)
}

// ofSchema checks that each JSON value in b is of one of the schemas.
func ofSchema(names []string, b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	for d.More() {
		var value any
		if err := d.Decode(&value); err != nil {
			return err
		}
		var wrong []string
		for _, name := range names {
			err := valid(name, value)
			if err == nil {
				wrong = nil
				break
			}
			wrong = append(wrong, err.Error())
		}
		if len(wrong) > 0 {
			return fmt.Errorf("%s", strings.Join(wrong, "\n"))
		}
	}
	return nil
}

func valid(name string, value any) error {
	b, ok := schema.Get(name)
	if !ok {
		return fmt.Errorf("there is no schema %s", name)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	return r.Validate(value)
}

// TestOnlyGrows: what was printed once is in testdata/answers, and what is printed
// now has every field of it, of the same kind. A fixture is never rewritten.
func TestOnlyGrows(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d fixtures (%v)", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var fixture struct {
			Args   []string `json:"args"`
			Answer any      `json:"answer"`
		}
		if err := json.Unmarshal(b, &fixture); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"envfix"}, fixture.Args...)
		names := schemasFor(args)
		if err := ofOlder(names, fixture.Answer); err != nil {
			t.Errorf("%s is no longer of its schema: %v", file, err)
		}
		for i, a := range args {
			if strings.HasPrefix(a, "testdata/") {
				if args[i], err = filepath.Abs(a); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Setenv("ENVFIX_TODAY", "2026-11-21")
			t.Setenv("ENVFIX_NVML", "off")
			var now any
			if err := json.Unmarshal([]byte(stdoutOf(t, args)), &now); err != nil {
				t.Fatal(err)
			}
			if lost := missing("", fixture.Answer, now); lost != "" {
				t.Errorf("%v: %s", fixture.Args, lost)
			}
		})
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ofOlder checks an answer of an older envfix: it may lack what came later.
func ofOlder(names []string, answer any) error {
	var wrong error
	fields, _ := answer.(map[string]any)
	for _, name := range names {
		if _, failed := fields["error"]; name == "error" && !failed {
			continue // without its required field it would admit everything
		}
		b, ok := schema.Get(name)
		var s jsonschema.Schema
		if !ok || json.Unmarshal(b, &s) != nil {
			return fmt.Errorf("there is no schema %s", name)
		}
		lenient(&s)
		r, err := s.Resolve(nil)
		if err == nil {
			err = r.Validate(answer)
		}
		if err == nil {
			return nil
		}
		wrong = errors.Join(wrong, err)
	}
	return wrong
}

// lenient lets a schema's objects lack any field.
func lenient(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	lenient(s.AdditionalProperties)
	lenient(s.Items)
	for _, p := range s.Properties {
		lenient(p)
	}
}

// missing says which field of the older answer the newer one lacks or has of another
// kind; "" where it only grew. Of lists the first elements are compared, and values
// are free.
func missing(at string, older, newer any) string {
	if older == nil || newer == nil {
		return ""
	}
	if reflect.TypeOf(older) != reflect.TypeOf(newer) {
		return fmt.Sprintf("%s was %T and is %T", at, older, newer)
	}
	switch o := older.(type) {
	case map[string]any:
		n := newer.(map[string]any)
		for key, value := range o {
			if _, ok := n[key]; !ok {
				return fmt.Sprintf("%s.%s is gone", at, key)
			}
			if lost := missing(at+"."+key, value, n[key]); lost != "" {
				return lost
			}
		}
	case []any:
		if n := newer.([]any); len(o) > 0 && len(n) > 0 {
			return missing(at+"[0]", o[0], n[0])
		}
	}
	return ""
}
