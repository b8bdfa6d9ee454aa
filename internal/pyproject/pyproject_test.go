package pyproject

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/resolver"
)

const project = `# my project
[project]
name = "x"
requires-python = ">=3.11"
dependencies = [
    "torch>=2.6",   # the point
    "numpy",
]

[project.optional-dependencies]
vision = ["torchvision"]

[dependency-groups]
dev = ["pytest", {include-group = "lint"}]
lint = ["ruff"]

[tool.uv.sources]
torch = [
    { index = "pytorch-cu118", marker = "sys_platform == 'linux'" },
]
other = { path = "../other" }

[[tool.uv.index]]
name = "pytorch-cu118"
url = "https://download.pytorch.org/whl/cu118"
explicit = true
`

func names(p *Project) []string {
	var out []string
	for _, q := range p.Requirements {
		out = append(out, q.Text)
	}
	return out
}

func cu126() *resolver.Choice {
	url := "https://download.pytorch.org/whl/cu126"
	return &resolver.Choice{Torch: "2.14.1", Build: "cu126", Channel: "pip", Index: &url, Packages: map[string]string{"torch": "2.14.1+cu126", "torchvision": "0.29.1+cu126"}}
}

func TestReadProject(t *testing.T) {
	p, err := ReadProject([]byte(project), "pyproject.toml", "dev", "vision")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"torch>=2.6", "numpy", "pytest", "ruff", "torchvision"}, names(p)); d != "" {
		t.Errorf("requirements (-want +got):\n%s", d)
	}
	if p.Python != ">=3.11" || p.Requirements[0].From != "pyproject.toml: project.dependencies" {
		t.Errorf("python %q, from %q", p.Python, p.Requirements[0].From)
	}
	if d := cmp.Diff([]string{"dev", "lint", "vision"}, p.Groups); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	want := []Source{{Package: "other", Other: "../other"}, {Package: "torch", Index: "pytorch-cu118", Marker: "sys_platform == 'linux'"}}
	if d := cmp.Diff(want, p.Sources); d != "" {
		t.Errorf("sources (-want +got):\n%s", d)
	}
	got := p.Contradictions(cu126(), pep508.EnvironmentOf("linux", "x86_64", "3.12"))
	if len(got) != 1 || !strings.Contains(got[0], "pytorch-cu118") {
		t.Errorf("contradictions %q", got)
	}
	if got := p.Contradictions(cu126(), pep508.EnvironmentOf("windows", "x86_64", "3.12")); len(got) > 0 {
		t.Errorf("a source of Linux alone counts on Windows: %q", got)
	}
}

func TestReadProjectRefuses(t *testing.T) {
	for text, words := range map[string]string{
		"[project":                            "pyproject.toml:1",
		"[project]\ndependencies = [\"==2\"]": "does not begin with a package name",
		"[dependency-groups]\na = [{include-group = \"a\"}]": "include each other",
		"[project]\n": "no dependency group",
	} {
		if _, err := ReadProject([]byte(text), "pyproject.toml", "a"); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v, want one with %q", text, err, words)
		}
	}
}

func TestHashed(t *testing.T) {
	for text, want := range map[string]bool{"torch==2.9.1\n": false, "torch==2.9.1 \\\n    --hash=sha256:00\n": true, "# --hash\ntorch\n": false} {
		p, err := ReadRequirements([]byte(text), "requirements.txt", nil)
		if err != nil || p.Hashed != want {
			t.Errorf("%q: %v %v", text, p, err)
		}
	}
}

func TestReadRequirements(t *testing.T) {
	files := map[string]string{
		"d/base.txt":   "numpy<2\n-c limits.txt\n",
		"d/limits.txt": "torch==2.9.1\nscipy<1\n",
	}
	open := func(p string) ([]byte, error) {
		if s, ok := files[p]; ok {
			return []byte(s), nil
		}
		return nil, errors.New(p + ": no such file")
	}
	p, err := ReadRequirements([]byte("# a comment\ntorch >= 2.6 ; python_version >= '3.10'  # why\n-r base.txt\n--extra-index-url https://download.pytorch.org/whl/cu118\n"+
		"vllm==0.33.0 \\\n  --hash=sha256:00\n-e ./mine\ngit+https://host/x.git\n--pre\n"), "d/requirements.txt", open)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"torch>= 2.6,==2.9.1 ; python_version >= '3.10'", "numpy<2", "vllm==0.33.0"}
	if d := cmp.Diff(want, names(p)); d != "" {
		t.Errorf("requirements (-want +got):\n%s", d)
	}
	if got := p.Requirements[0].Spec.String(); got != ">= 2.6,==2.9.1" {
		t.Errorf("torch is limited to %q", got)
	}
	if p.Requirements[2].From != "d/requirements.txt:5" {
		t.Errorf("vllm is from %q", p.Requirements[2].From)
	}
	if len(p.Notes) != 1 || len(p.Places) != 2 || p.Places[0].Where != "./mine" || len(p.Indexes) != 1 || strings.Join(p.Repositories(), " ") != "git+https://host/x.git" {
		t.Errorf("notes %q, indexes %v", p.Notes, p.Indexes)
	}
	if got := p.Contradictions(cu126(), nil); len(got) != 1 || !strings.Contains(got[0], "carries cu118 builds") {
		t.Errorf("contradictions %q", got)
	}
	for text, words := range map[string]string{
		"torch ===": "a:1", "-r gone.txt": "no such file", "\n\n=2": "a:3",
	} {
		if _, err := ReadRequirements([]byte(text), "a", open); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v, want one with %q", text, err, words)
		}
	}
}

func TestPythonVersion(t *testing.T) {
	for in, want := range map[string]string{
		"3.12\n": "3.12", "3.12.4": "3.12", "# why\ncpython-3.11\n3.9\n": "3.11", "3.14t": "3.14t", "pypy3.10": "", "": "", "x.y": "",
	} {
		if got := PythonVersion([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzReadRequirements(f *testing.F) {
	f.Add([]byte("torch==2.9.1+cu126 --hash=sha256:0\n-r x\n-c y\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ReadRequirements(b, "r.txt", func(string) ([]byte, error) { return nil, nil })
		if err != nil {
			return
		}
		for _, q := range p.Requirements {
			if q.Name == "" || q.Name != machine.NormalName(q.Name) {
				t.Fatalf("a requirement without a proper name: %+v", q)
			}
		}
	})
}

// Extras of which each takes torch from its own index ask for that build; those that exclude
// each other are refused as uv does, and of those that nobody asks for no source counts.
func TestExtrasOfUV(t *testing.T) {
	src := []byte(`[project]
name = "x"
[project.optional-dependencies]
cpu = ["torch>=2.7", "numpy"]
cu-126 = ["torch>=2.7"]
[tool.uv]
conflicts = [[{ extra = "cpu" }, { extra = "cu_126" }], [{ group = "a" }, { extra = "cpu" }]]
[tool.uv.sources]
torch = [{ index = "of-cpu", extra = "cpu" }, { index = "of-126", extra = "cu-126" }]
[[tool.uv.index]]
name = "of-cpu"
url = "https://download.pytorch.org/whl/cpu"
[[tool.uv.index]]
name = "of-126"
url = "https://download.pytorch.org/whl/cu126"
explicit = true
`)
	for groups, want := range map[string]string{"": "", "cpu": "cpu", "cu_126": "cu126"} {
		p, err := ReadProject(src, "pyproject.toml", say.All(groups)...)
		if err != nil {
			t.Fatal(err)
		}
		label, said := "", p.Contradictions(cu126(), nil)
		for _, q := range p.Requirements {
			label += q.Label
		}
		if open := strings.Contains(strings.Join(p.Notes, " "), "cpu, cu_126 exclude each other, and none is asked for"); open != (groups == "") {
			t.Errorf("%q: notes %q", groups, p.Notes)
		}
		if label != want || groups == "cu_126" && strings.Contains(strings.Join(said, " "), "tool.uv.sources") {
			t.Errorf("%s: build %q, %q", groups, label, said)
		}
	}
	if _, err := ReadProject(src, "pyproject.toml", "cpu", "cu-126"); err == nil || !strings.Contains(err.Error(), "cpu and cu_126 exclude each other") {
		t.Error(err)
	}
}
