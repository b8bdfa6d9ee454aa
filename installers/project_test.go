package installers

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/resolver"
)

// What uv found before the plan was printed is what is installed, but what is carried over.
func TestHeldToWhatWasFound(t *testing.T) {
	r := resolver.Request{Requirements: []pep508.Requirement{requirement(t, "torch"), requirement(t, "transformers>=4")}}
	target := plan.Target{Dir: ".venv", Manager: "uv", Pins: []string{"numpy==2.1.0", "transformers==4.9.0"}, Override: []string{"numpy<3"}, BuildLimits: []string{"setuptools<=81"}}
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
	if want := "{gen}/envfix-constraint.txt: numpy==2.1.0\ntransformers==4.9.0\n{gen}/envfix-override.txt: numpy<3\n{gen}/envfix-build-constraint.txt: setuptools<=81\n"; !strings.HasPrefix(written, want) {
		t.Errorf("%q", written)
	}
	if !strings.Contains(ran, "--constraint {gen}/envfix-constraint.txt --override {gen}/envfix-override.txt --build-constraint {gen}/envfix-build-constraint.txt ") {
		t.Error(ran)
	}
	target.Places = []string{"lib @ git+https://host.example/lib"}
	p = must(t, v100(), r, install(choice()), target)
	at := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "places" })
	if ran := strings.Join(p.Steps[at].Run.Argv, " "); p.Steps[at-1].ID != "packages" || !strings.HasSuffix(ran, "torch==2.14.1+cu126 torchvision==0.29.1+cu126 lib @ git+https://host.example/lib") {
		t.Error(ran)
	}
	target.Manager = "pip"
	p = must(t, v100(), r, install(choice()), target)
	if said := strings.Join(p.Warnings, " "); !strings.Contains(said, "pip cannot put numpy<3 in place") {
		t.Error(said)
	}
}

// pip comes into an environment of uv's where that is asked for, and as it is asked for.
func TestWithPip(t *testing.T) {
	for asks, want := range map[string]string{"torch": " pip", "torch pip==25.0": " pip==25.0"} {
		r := resolver.Request{}
		for _, name := range strings.Fields(asks) {
			r.Requirements = append(r.Requirements, requirement(t, name))
		}
		p := must(t, v100(), r, install(choice()), plan.Target{Dir: ".venv", Manager: "uv", WithPip: true})
		i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "packages" })
		if i < 0 || !strings.HasSuffix(strings.Join(p.Steps[i].Run.Argv, " "), "+cu126"+want) {
			t.Errorf("%s: %+v", asks, p.Steps)
		}
	}
}
