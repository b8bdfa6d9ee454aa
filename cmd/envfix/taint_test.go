package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/text"

	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"
)

// taints act on a terminal, or end what they stand in: a line, a string of each target, a
// comment, an element. Each holds the mark.
var taints = []string{
	"\x1b]0;MARK\x07", "\x1b[31mMARK", "\u009b31mMARK", "a\u202eMARK", "\u2066MARK", "a\rMARK", "MARK\x00", "\xffMARK", "a\u2028MARK", "\u200fMARK",
	"a\nMARK: x", "a\n- MARK", "a\n::error::MARK", "a\n  MARK: [x]\n", "a\nRUN MARK", "'\nMARK\n'", "a: MARK # x", "- MARK: *x", "{MARK: &x}",
	"';MARK;'", "\";MARK;\"", "`MARK`", "$(MARK)", "${MARK}", "\u2019;MARK;\u2018", "'\"'\"';MARK", "\\';MARK #", "a;MARK", "a && MARK", "%MARK%", "(MARK)",
	"<script>MARK</script>", "\" onerror=MARK x=\"", "'><img src=x onerror=MARK>", "--><MARK>", "]]><MARK>", "</script><script>MARK", "</pre><MARK>",
	"\\nMARK", "\\\"MARK", "*/MARK", "\"\"\"\nMARK = 1\n", "'''\nMARK = 1\n", "=MARK()", "@MARK", "-MARK", "--MARK=1", "../MARK", "|MARK", "{{MARK}}",
}

const mark = "MARK"

// A taintee is a file with strings in it, and the commands that read it.
type taintee struct {
	name     string
	fields   int
	write    func(t testing.TB, dir string, field int, taint string) // with one of its strings tainted
	commands [][]string
}

// eachString calls do with every string below v, of structs, lists and tables, whose keys and
// whose empty lists and pointers it fills as well.
func eachString(v reflect.Value, do func(s reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		do(v)
	case reflect.Pointer:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			eachString(v.Elem(), do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachString(v.Field(i), do)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Len() == 0 && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			eachString(v.Index(i), do)
		}
	case reflect.Map:
		eachOf(v, do)
	case reflect.Interface:
		if !v.IsNil() {
			inner := reflect.New(v.Elem().Type()).Elem()
			inner.Set(v.Elem())
			eachString(inner, do)
			if v.CanSet() {
				v.Set(inner)
			}
		}
	}
}

// eachOf is eachString for the keys and the values of a table.
func eachOf(v reflect.Value, do func(s reflect.Value)) {
	if v.Type().Key().Kind() != reflect.String {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		key, value := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.Set(k)
		value.Set(v.MapIndex(k))
		eachString(key, do)
		eachString(value, do)
		v.SetMapIndex(k, reflect.Value{})
		v.SetMapIndex(key, value)
	}
}

// tainted puts a taint in the place of a string, or behind it, and says how many there are.
func tainted(v any, field int, taint string) (fields int) {
	eachString(reflect.ValueOf(v), func(s reflect.Value) {
		if fields == field {
			if strings.HasPrefix(taint, "+") {
				taint = s.String() + taint[1:]
			}
			s.SetString(taint)
		}
		fields++
	})
	return fields
}

func TestEachFindsEveryString(t *testing.T) {
	var v struct {
		A string
		B []struct{ C *struct{ D string } }
		E map[string]any
		f string
	}
	v.E = map[string]any{"k": []any{"x", 1, map[string]any{"y": "z"}}}
	n := tainted(&v, -1, "")
	if n != 6 {
		t.Fatalf("%d strings", n)
	}
	for i := range n {
		w := v
		w.B = nil
		w.E = map[string]any{"k": []any{"x", 1, map[string]any{"y": "z"}}}
		tainted(&w, i, mark)
		if b, err := json.Marshal(w); err != nil || strings.Count(string(b), mark) != 1 {
			t.Errorf("string %d: %s, %v %s", i, b, err, w.f)
		}
	}
}

func must0(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func factsTaintee(t testing.TB) taintee {
	b, err := os.ReadFile("testdata/machines/v100-server-580.json")
	must0(t, err)
	fresh := func() *machine.Machine {
		m, err := machine.Decode(b)
		if err != nil {
			panic(err)
		}
		return &m
	}
	return taintee{"facts", tainted(fresh(), -1, ""), func(t testing.TB, dir string, field int, taint string) {
		m := fresh()
		tainted(m, field, taint)
		must0(t, os.WriteFile(filepath.Join(dir, "facts.json"), m.Encode(), 0o600))
	}, [][]string{{"doctor", "--facts", "facts.json"}, {"doctor", "-v", "--facts", "facts.json", "--html", "out.html"}, {"doctor", "--json", "--facts", "facts.json"},
		{"doctor", "--markdown", "--facts", "facts.json"}, {"doctor", "--sarif", "--facts", "facts.json"}, {"plan", "-v", "--facts", "facts.json"},
		{"plan", "--json", "--facts", "facts.json"}, {"plan", "--sh", "--facts", "facts.json"}, {"why", "--facts", "facts.json"}, {"fleet", "plan", "facts.json"}}}
}

func planTaintee(t testing.TB, target string) taintee {
	words := []string{"plan", "--json", "--gpu", "V100", "--driver", "580.95.05", "--python", "3.12", "--os", target}
	_, said := says(t, t.TempDir(), words...)
	fresh := func() *plan.Plan {
		p, err := plan.Decode([]byte(said))
		if err != nil {
			panic(err)
		}
		return p
	}
	return taintee{"plan for " + target, tainted(fresh(), -1, ""), func(t testing.TB, dir string, field int, taint string) {
		p := fresh()
		tainted(p, field, taint)
		must0(t, plan.Seal(p))
		b, err := plan.Encode(p)
		must0(t, err)
		must0(t, os.WriteFile(filepath.Join(dir, "plan.json"), b, 0o600))
		for name, write := range map[string]func(*plan.Plan) text.Quoted{"out.sh": plan.Script, "out.ps1": plan.PowerShell} {
			if form := write(p); form.Err() == nil {
				must0(t, os.WriteFile(filepath.Join(dir, name), []byte(form.String()), 0o600))
			}
		}
	}, [][]string{{"apply", "plan.json"}, {"apply", "--json", "plan.json"}, {"fleet", "plan", "nodes.csv", "--previous", "plan.json"}}}
}

const (
	pyprojectText = `[project]
name = "x"
version = "1"
requires-python = ">=3.11"
dependencies = ["torch==2.14.*", "numpy>=2; python_version >= '3.11'", "six @ https://files.example/six-1.17.0-py3-none-any.whl"]
[project.optional-dependencies]
gpu = ["torchvision"]
[dependency-groups]
dev = ["pytest"]
[tool.uv]
constraint-dependencies = ["pillow<12"]
[tool.uv.sources]
torch = { index = "pytorch" }
[[tool.uv.index]]
name = "pytorch"
url = "https://download.pytorch.org/whl/cu126"
explicit = true
`
	environmentText = "name: x\nchannels: [conda-forge, pytorch]\ndependencies: [python=3.12, pytorch=2.5, cudatoolkit=12, pip, {pip: [six, 'torchvision==0.20.*']}]\nvariables: {A: b}\n"
	linesText       = "torch==2.14.*\n--index-url https://index.example/simple\n-r more.txt\n-c limits.txt\nnumpy>=2 ; python_version>'3.8' # a comment\n-e ./here\nsix @ https://files.example/six-1.0-py3-none-any.whl\n"
	metadataText    = "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.0\nRequires-Dist: numpy; extra == 'x'\nRequires-Dist: nvidia-cublas-cu12==12.4.5.8\nHome-page: https://x.example\n"
	directText      = `{"url": "https://x.example/torch.whl", "archive_info": {"hash": "sha256=00"}, "vcs_info": {"vcs": "git", "commit_id": "00"}}`
	venvText        = "home = /usr/bin\nversion = 3.12.1\nprompt = x\n"
)

// treeTaintee is a file without a type of ours: any table or list.
func treeTaintee(name, text string, decode func([]byte, any) error, encode func(any) ([]byte, error), commands ...[]string) taintee {
	fresh := func() *any {
		var v any
		if err := decode([]byte(text), &v); err != nil {
			panic(err)
		}
		return &v
	}
	return taintee{name, tainted(fresh(), -1, ""), func(t testing.TB, dir string, field int, taint string) {
		v := fresh()
		tainted(v, field, taint)
		if b, err := encode(*v); err == nil { // else the format has no such text
			putFile(t, dir, name, string(b))
		}
	}, commands}
}

// linesTaintee is a file of lines: each word of it is a string.
func linesTaintee(name, text string, commands ...[]string) taintee {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	return taintee{name, len(words), func(t testing.TB, dir string, field int, taint string) {
		lines := slices.Clone(words)
		if field >= 0 {
			if at := strings.LastIndexAny(lines[field], " =/"); strings.HasPrefix(taint, "+") {
				lines[field] += taint[1:]
			} else {
				lines[field] = lines[field][:at+1] + taint
			}
		}
		putFile(t, dir, name, strings.Join(lines, "\n")+"\n")
	}, commands}
}

func putFile(t testing.TB, dir, name, text string) {
	must0(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
	must0(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func taintees(t testing.TB) []taintee {
	project := [][]string{{"plan", ".", "--cpu"}, {"plan", ".", "--json", "--cpu"}, {"plan", ".", "--sh", "--cpu"}, {"doctor"}, {"why", "torch"}}
	installed := [][]string{{"doctor", "-v"}, {"doctor", "--json"}, {"doctor", "--markdown"}, {"facts"}, {"plan", "--cpu"}, {"verify", "--static"}, {"doctor", "--html", "out.html"}}
	const info = ".venv/lib/python3.12/site-packages/torch-2.5.0.dist-info/"
	return []taintee{
		factsTaintee(t), planTaintee(t, "linux"), planTaintee(t, "windows"), lockTaintee(),
		treeTaintee("pyproject.toml", pyprojectText, toml.Unmarshal, toml.Marshal, project...),
		treeTaintee("environment.yml", environmentText, yaml.Unmarshal, yaml.Marshal, project...),
		linesTaintee("requirements.txt", linesText, append([][]string{{"plan", "-r", "requirements.txt", "--cpu"}}, project...)...),
		linesTaintee(info+"METADATA", metadataText, installed...),
		treeTaintee(info+"direct_url.json", directText, json.Unmarshal, json.Marshal, installed...),
		linesTaintee(".venv/pyvenv.cfg", venvText, installed...),
	}
}

// FuzzTaint puts a hostile text into each string of each file that others write, and looks
// at all that every command says of it and writes: nothing acts on a terminal, what has a
// form is of that form, read by its own parser, and the text is nowhere more than a text.
func FuzzTaint(f *testing.F) {
	all := taintees(f)
	step := len(taints) // each string meets one taint; in the long run every one
	if os.Getenv("ENVFIX_LONG") != "" {
		step = 1
	}
	seed := 0
	for i, file := range all {
		for field := range file.fields {
			for k := field % step; k < len(taints); k += step {
				f.Add(i, field, taints[k], seed%2 == 0)
				seed++
			}
		}
	}
	f.Fuzz(func(t *testing.T, of, field int, taint string, behind bool) {
		file := all[uint(of)%uint(len(all))]
		field = int(uint(field) % uint(file.fields))
		if !strings.Contains(taint, mark) {
			taint += mark
		}
		if behind {
			taint = "+" + taint
		}
		dir := t.TempDir()
		must0(t, os.MkdirAll(filepath.Join(dir, "home"), 0o755))
		t.Setenv("HOME", filepath.Join(dir, "home"))
		t.Setenv("ENVFIX_NVML", "off")
		t.Setenv("ENVFIX_QUICK", "1")
		putFile(t, dir, "nodes.csv", "host,gpu,driver\na,V100,580.95.05\n")
		putFile(t, dir, "more.txt", "six\n")
		putFile(t, dir, "limits.txt", "six<2\n")
		if strings.HasPrefix(file.name, ".venv/") {
			for name, text := range map[string]string{"METADATA": metadataText, "RECORD": "", "direct_url.json": directText} {
				putFile(t, dir, ".venv/lib/python3.12/site-packages/torch-2.5.0.dist-info/"+name, text)
			}
			putFile(t, dir, ".venv/pyvenv.cfg", venvText)
		}
		file.write(t, dir, field, taint)
		for _, c := range file.commands {
			_, said := says(t, dir, c...)
			name := fmt.Sprintf("%s, string %d: envfix %s", file.name, field, strings.Join(c, " "))
			quiet(t, name, said)
			form := ""
			switch {
			case slices.Contains(c, "--json"), slices.Contains(c, "--sarif"):
				form = "json"
			case slices.Contains(c, "--sh"):
				form = "sh"
			case c[0] == "lock" && c[1] == "export":
				form = c[3]
			}
			if form != "" && !strings.HasPrefix(said, "envfix: ") {
				inForm(t, form, said)
			}
		}
		left, err := filepath.Glob(filepath.Join(dir, "out.*"))
		must0(t, err)
		for _, path := range left {
			text := fileText(t, path)
			quiet(t, path, text)
			inForm(t, strings.TrimPrefix(filepath.Ext(path), "."), text)
		}
	})
}

// quiet looks for what acts on a terminal, by Unicode's own classes.
func quiet(t testing.TB, name, said string) {
	t.Helper()
	for i, r := range said {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%s: %U at %q", name, r, said[max(0, i-60):min(len(said), i+60)])
		}
	}
}

// says runs a command in this process and returns what it prints.
func says(t testing.TB, dir string, args ...string) (code int, said string) {
	t.Helper()
	t.Chdir(dir)
	f, err := os.Create(filepath.Join(t.TempDir(), "said"))
	must0(t, err)
	defer f.Close()
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = f, f
	defer func() { os.Stdout, os.Stderr = out, errs }()
	code = run(context.Background(), append([]string{"envfix"}, args...))
	b, err := os.ReadFile(f.Name())
	must0(t, err)
	return code, string(b)
}
