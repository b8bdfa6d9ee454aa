package pyproject

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/resolver"
)

func TestPatchPixi(t *testing.T) {
	c := &resolver.Choice{Torch: "2.13.0", Build: "cu129", CUDA: "12.9", Python: "3.12", Channel: "conda-forge", Packages: map[string]string{"torch": "2.13.0", "torchvision": ""}}
	old := machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.17")}}
	before := "[workspace]\nname = \"x\" # mine\nchannels = [\"conda-forge\"]\nplatforms = [\"osx-arm64\"]\n\n[dependencies]\npython = \">=3.10\"\nrich = \"*\"\n"
	after, err := PatchPixi([]byte(before), "pixi.toml", c, old)
	if err != nil {
		t.Fatal(err)
	}
	want := `[workspace]
name = "x" # mine
channels = ["conda-forge"]
platforms = ["osx-arm64", "linux-64"]

[dependencies]
python = "3.12.*"
rich = "*"
cuda-version = "12.9.*"
pytorch-gpu = "==2.13.0"
torchvision = "*"

[system-requirements]
cuda = "12"
libc = { family = "glibc", version = "2.17" }
`
	if string(after) != want {
		t.Errorf("got\n%s\nwant\n%s", after, want)
	}
	again, err := PatchPixi(after, "pixi.toml", c, old)
	if err != nil || string(again) != string(after) {
		t.Errorf("patched twice: %v\n%s", err, again)
	}
	inside, err := PatchPixi([]byte("[project]\nname = \"x\"\n\n[tool.pixi.project]\nplatforms = [\"linux-64\"]\n"), "pyproject.toml", c, machine.Platform{OS: "linux", Arch: "x86_64"})
	if err != nil || !strings.Contains(string(inside), "[tool.pixi.system-requirements]\ncuda = \"12\"") || !strings.Contains(string(inside), "channels = [\"conda-forge\"]") {
		t.Errorf("%v\n%s", err, inside)
	}
	for name, c := range map[string]*resolver.Choice{"pip": {Channel: "pip"}, "none": nil} {
		if _, err := PatchPixi([]byte(before), "pixi.toml", c, old); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := PatchPixi([]byte("= 1"), "pixi.toml", c, old); err == nil || !strings.Contains(err.Error(), "pixi.toml") {
		t.Errorf("no TOML: %v", err)
	}
	if _, err := PatchPixi([]byte("workspace = { platforms = [1] }\n"), "pixi.toml", c, old); err == nil {
		t.Error("a form that cannot be edited: no error")
	}
}

// torch that stands in a feature alone is asked for, the one for a GPU before that for the CPU.
func TestPixiFeature(t *testing.T) {
	content := "[dependencies]\npython = \">=3.10\"\n[feature.cpu.dependencies]\npytorch-cpu = \"*\"\n[feature.cuda.dependencies]\npytorch-gpu = \">=2.5,<2.8\"\n[feature.dev.dependencies]\nruff = \"*\"\n"
	for in, want := range map[string]string{content: ">=2.5,<2.8", "[dependencies]\npytorch = \">=2\"\n" + content[len("[dependencies]\n"):]: ">=2"} {
		e, err := ReadPixi([]byte(in), "pixi.toml")
		if err != nil {
			t.Fatal(err)
		}
		if e.CPU || len(e.Requirements) != 1 || e.Requirements[0].Spec.String() != want {
			t.Errorf("it asks for %v, not for torch%s (CPU: %v)", e.Requirements, want, e.CPU)
		}
		said := strings.Join(e.Notes, "\n")
		if followed := strings.Contains(said, "torch stands in its feature cuda, which is followed"); followed != (want != ">=2") || !strings.Contains(said, "dev") {
			t.Errorf("said: %q", said)
		}
	}
}

// The features of the default environment are what `pixi install` installs; a torch among the
// packages of pip's is told with where it comes from.
func TestPixiDefault(t *testing.T) {
	content := "[dependencies]\npython = \">=3.10\"\n[environments]\ndefault = %s\nother = [\"cpu\"]\n[feature.cpu.dependencies]\npytorch-cpu = \"*\"\n" +
		"[feature.main.dependencies]\ncuda-version = \"12.6.*\"\n[feature.main.pypi-dependencies]\ntorch = { version = \"==2.8.0\", index = \"https://download.pytorch.org/whl/cu126\" }\n"
	for _, environment := range []string{"[\"main\"]", "{ features = [\"main\"], solve-group = \"x\" }"} {
		e, err := ReadPixi([]byte(strings.Replace(content, "%s", environment, 1)), "pixi.toml")
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(e.Notes, "\n")
		if e.CPU || e.CUDA != "12.6" || texts(&e.Project) != "torch==2.8.0" || !strings.Contains(said, "not followed: cpu") ||
			!strings.Contains(said, "torch stands among its pypi-dependencies: `pixi install` takes it from https://download.pytorch.org/whl/cu126 as it is") {
			t.Errorf("%s: it asks for %q, CUDA %q (CPU: %v), said %q", environment, texts(&e.Project), e.CUDA, e.CPU, said)
		}
	}
}
