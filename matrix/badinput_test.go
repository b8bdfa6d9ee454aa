package matrix

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// good is a small matrix without faults.
var good = map[string]string{
	"matrix.yaml": "format: 1\nversion: \"2026.11.2\"\ndate: \"2026-11-21\"\n",
	"arches.yaml": `format: 1
proof: documentation
sources: {s: a source}
arches:
- {sm: "8.0", name: Ampere, modules: open proprietary, source: s}
- {sm: "9.0", name: Hopper, modules: open proprietary, source: s}
floors:
- {build: cu126, cuda: "12.6", linux: "525.60.13", windows: "528.33", source: s}
- {build: cu118, cuda: "11.8", linux: "450.80.02", windows: "452.39", source: s}
brackets:
- {gpu: "9.0", has: "2.9.1 cu126 linux-x86_64", not: "2.9.1 cu118 linux-x86_64", source: s}
`,
	"torch/2.9.yaml": `format: 1
proof: metadata
torch: "2.9"
sources: {s: a source}
sets:
  base: {os: linux, arch: x86_64, glibc: "2.28", proof: wheel, source: s}
  py: {use: base, python: "3.10 - 3.14"}
releases:
- torch: "2.9.1"
  date: "2025-11-12"
  source: s
  companions: {torchvision: "0.24.1"}
  builds:
  - {use: py, build: cu126, cuda: "12.6.3", cudnn: "9.10.2.21", cubins: "8.0 9.0", default: true}
  - {use: py, build: cu118, cuda: "11.8.0", cudnn: "9.1.0.70", cubins: "8.0", index: "https://download.pytorch.org/whl/cu118"}
`,
}

// files returns good with changes: "file" → replace "old" by "new".
func changed(t *testing.T, file, old, with string) fstest.MapFS {
	t.Helper()
	all := maps.Clone(good)
	if old != "" && !strings.Contains(all[file], old) {
		t.Fatalf("%s has no %q", file, old)
	}
	if old == "" {
		all[file] = with
	} else {
		all[file] = strings.Replace(all[file], old, with, 1)
	}
	fsys := fstest.MapFS{}
	for name, text := range all {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestFaults(t *testing.T) {
	const torch, row = "torch/2.9.yaml", "use: py, build: cu126,"
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nformat: 1\n"
	for _, c := range []struct {
		name, file, old, with string
		want                  string
	}{
		{"good", "matrix.yaml", "format", "format", ""},
		{"unknown key", torch, row, row + " colour: red,", `data/torch/2.9.yaml:14: unknown key "colour"`},
		{"key twice", torch, row, row + " build: cu126,", `data/torch/2.9.yaml:14: key "build" is there twice`},
		{"unquoted version", torch, `cuda: "12.6.3"`, "cuda: 12.10", `data/torch/2.9.yaml:14: cuda: 12.10 must be quoted, or YAML reads a version as a number
data/torch/2.9.yaml:14: cuda: "12.10" is not that of cu126`},
		{"second document", torch, "releases:", "---\nreleases:", `data/torch/2.9.yaml:8: a second YAML document: one file holds one`},
		{"alias bomb", torch, "", bomb, "data/torch/2.9.yaml:1: anchors and aliases are not read here: use a named set"},
		{"deep", torch, "", "format: 1\na: " + deep, "data/torch/2.9.yaml:2: nested more than 16 deep"},
		{"tag", torch, "releases:", "releases: !!python/object", "data/torch/2.9.yaml:8: tag !!python/object is not read here"},
		{"cycle", torch, "{os: linux,", "{use: py, os: linux,", `data/torch/2.9.yaml:7: set "py" uses itself`},
		{"no such set", torch, row, "use: py nonesuch, build: cu126,", `data/torch/2.9.yaml:14: no set is named "nonesuch"`},
		{"idle set", torch, "sets:", "sets:\n  idle: {os: linux}", `data/torch/2.9.yaml:6: set "idle" is used by no row`},
		{"no such source", torch, "proof: wheel, source: s", "proof: wheel, source: rumour", `data/torch/2.9.yaml:6: source "rumour" is neither among the sources of this file nor in sources.yaml`},
		{"newer format", torch, "format: 1", "format: 2", "data/torch/2.9.yaml:1: format 2: this matrix needs a newer envfix (this one reads format 1)"},
		{"no format", torch, "format: 1\n", "", "data/torch/2.9.yaml:1: no format: this is not a file of the matrix"},
		{"not YAML", torch, "releases:", "releases: [", "data/torch/2.9.yaml: line 8: did not find expected node content"},
		{"empty", torch, "", "", "data/torch/2.9.yaml: the file is empty"},
		{"wrong file", torch, `torch: "2.9"`, `torch: "2.8"`, "data/torch/2.9.yaml:3: torch 2.9.1 is not of 2.8, which this file says it holds"},
		{"date", torch, "2025-11-12", "2025-13-12", `data/torch/2.9.yaml:9: date: "2025-13-12" is not a day such as 2026-11-21`},
		{"from tomorrow", torch, "2025-11-12", "2026-12-02", "data/torch/2.9.yaml:9: torch 2.9.1 is of 2026-12-02, and the data of 2026-11-21"},
		{"build twice", torch, "build: cu118, cuda: \"11.8.0\"", "build: cu126, cuda: \"12.6.3\"", `data/torch/2.9.yaml:15: torch 2.9.1 cu126 for linux x86_64 is there twice`},
		{"label", torch, "build: cu118, cuda: \"11.8.0\"", "build: cu118, cuda: \"12.6.3\"", `data/torch/2.9.yaml:15: cuda: "12.6.3" is not that of cu118`},
		{"order of code", torch, `"8.0 9.0"`, `"9.0 8.0"`, "data/torch/2.9.yaml:14: cubins: 8.0 after 9.0: lowest first, once each"},
		{"unknown GPU", torch, `"8.0 9.0"`, `"8.0 9.0 9.9"`, "data/torch/2.9.yaml:14: cubins: 9.9 is not among the arches"},
		{"code lost", torch, `"8.0 9.0"`, `"8.0"`, `data/arches.yaml:11: 2.9.1 cu126 linux-x86_64 is said to have code for 9.0, and has none`},
		{"code gained", torch, `cubins: "8.0", index`, `cubins: "8.0 9.0", index`, `data/arches.yaml:11: 2.9.1 cu118 linux-x86_64 is said to have no code for 9.0, and has it`},
		{"Python", torch, "3.10 - 3.14", "3.14 - 3.10", `data/torch/2.9.yaml:14: python: 3.10 comes before 3.14
data/torch/2.9.yaml:15: python: 3.10 comes before 3.14`},
		{"index", torch, "https://download", "http://download", `data/torch/2.9.yaml:15: index: "http://download.pytorch.org/whl/cu118" is not an https URL`},
		{"floor", "arches.yaml", "- {build: cu118", "- {build: cu117", "data/torch/2.9.yaml:15: no driver floor is given for cu118"},
		{"no proof", torch, "proof: metadata\n", "", `data/torch/2.9.yaml:8: proof: "" is none of wheel, metadata, build-script, documentation, report, inferred`},
		{"control character", torch, "a source}", `"a \e[31m source"}`, "data/torch/2.9.yaml:4: s: a control character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := read(changed(t, c.file, c.old, c.with), false)
			var got []string
			for _, f := range faults {
				got = append(got, f.String())
			}
			// a file that cannot be read leaves references open elsewhere: only its own faults are looked at
			if c.file == torch && len(got) > 0 && !strings.Contains(c.want, "arches") {
				got = of(got, "data/torch")
			}
			if d := cmp.Diff(c.want, strings.Join(got, "\n")); d != "" {
				t.Error("(-want +got)\n" + d)
			}
			_, err := Load(changed(t, c.file, c.old, c.with))
			if (err != nil) != (c.want != "") {
				t.Errorf("Load: %v", err)
			}
		})
	}
}

func of(lines []string, prefix string) (out []string) {
	for _, l := range lines {
		if strings.HasPrefix(l, prefix) && !strings.HasSuffix(l, "no releases") {
			out = append(out, l)
		}
	}
	return out
}

// TestLax: newer data of the same format may have keys that this program does
// not know.
func TestLax(t *testing.T) {
	fsys := changed(t, "torch/2.9.yaml", "use: py, build: cu126,", "use: py, build: cu126, colour: red,")
	if _, err := LoadLax(fsys); err != nil {
		t.Error(err)
	}
	if _, err := LoadLax(changed(t, "matrix.yaml", "format: 1", "format: 2")); err == nil {
		t.Error("a newer format was read")
	}
}

// TestLarge: a file of 50 MB is refused before it is parsed.
func TestLarge(t *testing.T) {
	fsys := changed(t, "torch/2.9.yaml", "", "# "+strings.Repeat("x", 50<<20))
	_, err := Load(fsys)
	if err == nil || !strings.Contains(err.Error(), "data/torch/2.9.yaml: larger than 2 MiB: this is not a file of the matrix") {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(good["torch/2.9.yaml"])
	f.Add(good["arches.yaml"])
	f.Fuzz(func(t *testing.T, text string) {
		fsys := fstest.MapFS{}
		for name, content := range good {
			fsys[name] = &fstest.MapFile{Data: []byte(content)}
		}
		fsys["torch/2.9.yaml"] = &fstest.MapFile{Data: []byte(text)}
		m, err := Load(fsys)
		if err == nil && len(m.Releases) == 0 {
			t.Error("a matrix without releases was loaded")
		}
	})
}
