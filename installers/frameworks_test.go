package installers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/resolver"
)

// Frameworks without torch: their GPU form is installed in place of the plain name, and
// no step speaks of torch.
func TestFrameworksAlone(t *testing.T) {
	c := &resolver.Choice{Build: "cuda13", CUDA: "13", Python: "3.12", Channel: "pip", Packages: map[string]string{"jax": "", "onnxruntime": "", "flax": ""},
		Ask: map[string]string{"jax": "jax[cuda13]>=0.11", "onnxruntime": "onnxruntime-gpu[cuda,cudnn]>=1.27"}}
	r := resolver.Request{Requirements: []pep508.Requirement{requirement(t, "jax"), requirement(t, "onnxruntime"), requirement(t, "flax")}}
	p := must(t, v100(), r, install(c), plan.Target{})
	want := []string{
		"venv: /usr/bin/uv venv --no-project --python /usr/bin/python3 {gen}",
		"packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: jax[cuda13]>=0.11 onnxruntime-gpu[cuda,cudnn]>=1.27 flax",
		"check: /usr/bin/uv pip check --python {gen}/bin/python",
		"verify: verify ",
		"switch: switch .venv",
	}
	if diff := cmp.Diff(want, commands(p)); diff != "" {
		t.Error(diff)
	}
	v := p.Steps[3].Verify
	if diff := cmp.Diff(&plan.Verify{CUDA: "13", Imports: []string{"jax", "onnxruntime"}, OnGPU: []string{"jax", "onnxruntime"}}, v); diff != "" {
		t.Error(diff)
	}
}

// What a framework alone holds back is asked for in its own call.
func TestFrameworkHolds(t *testing.T) {
	c := &resolver.Choice{Build: "cuda11", CUDA: "11", Python: "3.12", Channel: "pip", Packages: map[string]string{"tensorflow": ""},
		Ask: map[string]string{"tensorflow": "tensorflow==2.10.1"}, Holds: []string{"numpy<2"}}
	r := resolver.Request{Requirements: []pep508.Requirement{requirement(t, "tensorflow==2.10.1")}}
	got := commands(must(t, v100(), r, install(c), plan.Target{}))
	want := "packages: /usr/bin/uv pip install --python {gen}/bin/python --only-binary :all: numpy<2 tensorflow==2.10.1"
	if len(got) != 5 || got[1] != want {
		t.Errorf("%q, want the second to be %q", got, want)
	}
}
