package pyproject

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a command edits stays a person's file: comments, order and quotes are kept.
func TestEdit(t *testing.T) {
	const text = `# our team
requirements = [
    "torch",   # the point
    'numpy'
]
files = ["r.txt", "s.txt"] # both

[targets] # the machines
v100 = "gpu=V100"  # old
"cpu" = 'gpu=none'

[other]
x = 1
`
	add := func(key, item string) func(*Edit) error { return func(e *Edit) error { return e.Add(key, item) } }
	drop := func(key, item string) func(*Edit) error { return func(e *Edit) error { return e.Drop(key, item) } }
	set := func(key, v string) func(*Edit) error { return func(e *Edit) error { return e.Set(key, v) } }
	remove := func(key string) func(*Edit) error { return func(e *Edit) error { return e.Remove(key) } }
	tests := []struct {
		name, table string
		do          func(*Edit) error
		old, now    string
	}{
		{"a line of its own", "", add("requirements", "rich"), "    'numpy'\n", "    'numpy',\n    \"rich\",\n"},
		{"in one line", "", add("files", "t.txt"), `"s.txt"]`, `"s.txt", "t.txt"]`},
		{"a new list", "", add("build", "flash-attn"), "# both\n", "# both\nbuild = [\"flash-attn\"]\n"},
		{"the last of the lines", "", drop("requirements", "numpy"), "    'numpy'\n", ""},
		{"the first of the lines", "", drop("requirements", "torch"), "    \"torch\",   # the point\n", ""},
		{"the last of the line", "", drop("files", "s.txt"), `, "s.txt"`, ""},
		{"the first of the line", "", drop("files", "r.txt"), `"r.txt", `, ""},
		{"another value", "targets", set("v100", "gpu=7.0"), `"gpu=V100"`, `"gpu=7.0"`},
		{"a quoted key", "targets", set("cpu", "gpu=none os=windows"), `'gpu=none'`, `"gpu=none os=windows"`},
		{"a new key", "targets", set("rtx", "gpu=12.0"), "'gpu=none'\n", "'gpu=none'\nrtx = \"gpu=12.0\"\n"},
		{"a key less", "targets", remove("v100"), "v100 = \"gpu=V100\"  # old\n", ""},
		{"a new table", "tool.envfix", set("a", "b"), "x = 1\n", "x = 1\n\n[tool.envfix]\na = \"b\"\n"},
	}
	for _, tt := range tests {
		e := &Edit{Text: []byte(text), Name: "envfix.toml"}
		if tt.table != "" {
			e.Table = strings.Split(tt.table, ".")
		}
		if err := tt.do(e); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if d := cmp.Diff(strings.Replace(text, tt.old, tt.now, 1), string(e.Text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// An empty file, and forms that are not edited.
func TestEditForms(t *testing.T) {
	e := &Edit{Name: "envfix.toml"}
	if err := e.Add("requirements", "torch"); err != nil {
		t.Fatal(err)
	}
	e.Table = []string{"targets"}
	if err := e.Set("cpu", "gpu=none"); err != nil {
		t.Fatal(err)
	}
	e.Table = nil
	if err := e.SetTrue("same-torch"); err != nil {
		t.Fatal(err)
	}
	want := "requirements = [\"torch\"]\nsame-torch = true\n\n[targets]\ncpu = \"gpu=none\"\n"
	if d := cmp.Diff(want, string(e.Text)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, text := range []string{"targets = {v100 = 'gpu=V100'}\n", "targets.v100 = 'gpu=V100'\n"} {
		e := &Edit{Text: []byte(text), Name: "envfix.toml", Table: []string{"targets"}}
		if err := e.Set("v100", "gpu=7.0"); err == nil || !strings.Contains(err.Error(), "by hand") || string(e.Text) != text {
			t.Errorf("%s: %v\n%s", text, err, e.Text)
		}
	}
}

// A header may be written in quotes, and a value behind a dotted key is not the key's.
func TestEditQuotedHeader(t *testing.T) {
	e := &Edit{Text: []byte("[ \"tool\" . envfix ] # ours\nfiles.x = 1\nbuild = [ # [none]\n  'a' # , one\n]\n[[tool.uv.index]]\n"), Name: "pyproject.toml", Table: []string{"tool", "envfix"}}
	if err := e.Add("build", "b"); err != nil {
		t.Fatal(err)
	}
	want := "[ \"tool\" . envfix ] # ours\nfiles.x = 1\nbuild = [ # [none]\n  'a', # , one\n  \"b\",\n]\n[[tool.uv.index]]\n"
	if d := cmp.Diff(want, string(e.Text)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("a = [\"b\", # c\n'd']\n[t]\n"), "a", "x")
	f.Add([]byte("a = \"\"\"\n[t]\n\"\"\"\n[ t ]\nb=1"), "b", "")
	f.Fuzz(func(t *testing.T, b []byte, key, v string) {
		for _, table := range [][]string{nil, {"t"}} {
			e := &Edit{Text: b, Name: "f", Table: table}
			_ = e.Add(key, v)
			_ = e.Set(key+"2", v)
			_ = e.Drop(key, v)
			_ = e.Remove(key + "2") // what is refused leaves the text: nothing may panic
		}
	})
}
