package installers

import (
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

func TestProject(t *testing.T) {
	const text = `[project]
name = "train"
version = "1"
dependencies = ["torch>=2.9", "transformers"]
`
	target := plan.Target{Manager: "uv-project", Project: []byte(text), Mirrors: []string{"https://download.pytorch.org/whl=https://mirror.example/torch"}}
	p := must(t, v100(), resolver.Request{}, install(choice()), target)
	if diff := cmp.Diff([]string{"pyproject: write pyproject.toml"}, commands(p)); diff != "" {
		t.Fatal(diff)
	}
	w := p.Steps[0].Write
	want := text + `
[tool.uv.sources]
torch = { index = "pytorch-cu126" }
torchvision = { index = "pytorch-cu126" }

[[tool.uv.index]]
name = "pytorch-cu126"
url = "https://mirror.example/torch/cu126"
explicit = true
`
	if diff := cmp.Diff(want, w.Content); diff != "" {
		t.Error(diff)
	}
	if len(w.Before) != 64 {
		t.Errorf("the file that is replaced is not named: %q", w.Before)
	}

	// Once it is patched there is nothing to do.
	target.Project = []byte(w.Content)
	if got := commands(must(t, v100(), resolver.Request{}, install(choice()), target)); got != nil {
		t.Errorf("patched already, and yet %q", got)
	}
}

func TestNewProject(t *testing.T) {
	r := resolver.Request{Requirements: []pep508.Requirement{requirement(t, "torch"), requirement(t, "transformers>=4")}}
	p := must(t, v100(), r, install(choice()), plan.Target{Manager: "uv-project"})
	content := p.Steps[0].Write.Content
	for _, line := range []string{`requires-python = ">=3.12"`, `    "torch==2.14.1",`, `    "transformers>=4",`, `url = "https://download.pytorch.org/whl/cu126"`} {
		if !strings.Contains(content, line+"\n") {
			t.Errorf("%q is missing in\n%s", line, content)
		}
	}
}

// What uv found before the plan was printed is what is installed, but what is carried over.
func TestHeldToWhatWasFound(t *testing.T) {
	r := resolver.Request{Requirements: []pep508.Requirement{requirement(t, "torch"), requirement(t, "transformers>=4")}}
	target := plan.Target{Dir: ".venv", Manager: "uv", Pins: []string{"numpy==2.1.0", "transformers==4.9.0"}, Override: []string{"numpy<3"}}
	p := must(t, v100(), r, install(choice()), target)
	var written, ran string
	for _, s := range p.Steps {
		if s.Write != nil {
			written += s.Write.Path + ": " + s.Write.Content
		}
		if s.ID == "packages" {
			ran = strings.Join(s.Run.Argv, " ")
		}
	}
	if want := "{gen}/envfix-constraint.txt: numpy==2.1.0\ntransformers==4.9.0\n{gen}/envfix-override.txt: numpy<3\n"; !strings.HasPrefix(written, want) {
		t.Errorf("%q", written)
	}
	if !strings.Contains(ran, "--constraint {gen}/envfix-constraint.txt --override {gen}/envfix-override.txt ") {
		t.Error(ran)
	}
	target.Manager = "pip"
	p = must(t, v100(), r, install(choice()), target)
	if said := strings.Join(p.Warnings, " "); !strings.Contains(said, "pip cannot put numpy<3 in place") {
		t.Error(said)
	}
}
