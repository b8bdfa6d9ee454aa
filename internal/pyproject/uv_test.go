package pyproject

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/resolver"
)

// What makes uv install the choice is written for its platform alone, beside what the project
// says for others; written twice it is the same, and another choice replaces it.
func TestPatchUV(t *testing.T) {
	index := "https://index.example/whl/cu126"
	c := &resolver.Choice{Torch: "2.14.1", Build: "cu126", Index: &index, Holds: []string{"numpy<2"},
		Packages: map[string]string{"torch": "2.14.1+cu126", "torchvision": "0.29.1+cu126", "einops": ""}}
	linux := machine.Platform{OS: "linux", Arch: "x86_64"}
	const here, others = `sys_platform == 'linux' and platform_machine == 'x86_64'`, `sys_platform != 'linux' or platform_machine != 'x86_64'`
	before := `[project]
name = "x" # kept
version = "1"
dependencies = ["lib"]

[tool.uv]
constraint-dependencies = ["torch<3", "rich<15"]

[tool.uv.sources]
torch = [{ index = "cpu", marker = "sys_platform == 'darwin'" }, { index = "far", extra = "far" }]
lib = { git = "https://host.example/lib" }

[[tool.uv.index]]
name = "cpu"
url = "https://index.example/whl/cpu"
explicit = true
`
	want := `[project]
name = "x" # kept
version = "1"
dependencies = ["lib"]

[tool.uv]
constraint-dependencies = ["torch<3", "rich<15", "torch==2.14.1 ; ` + here + `", "torchvision==0.29.1 ; ` + here + `", "numpy<2 ; ` + here + `"]

[tool.uv.sources]
torch = [{ index = "pytorch-cu126", marker = "` + here + `" }, { "index" = "cpu", "marker" = "(sys_platform == 'darwin') and (` + others +
		`)" }, { "extra" = "far", "index" = "far", "marker" = "(` + others + `)" }]
lib = { git = "https://host.example/lib" }
torchvision = [{ index = "pytorch-cu126", marker = "` + here + `" }]

[[tool.uv.index]]
name = "cpu"
url = "https://index.example/whl/cpu"
explicit = true

[[tool.uv.index]]
name = "pytorch-cu126"
url = "https://index.example/whl/cu126"
explicit = true
`
	for range 2 {
		got, err := PatchUV([]byte(before), "pyproject.toml", c, linux)
		if err != nil || string(got) != want {
			t.Fatalf("%v\n%s", err, got)
		}
		before = want
	}
	c = &resolver.Choice{Torch: "2.15.0", Build: "cu132", Packages: map[string]string{"torch": "2.15.0"}}
	got, err := PatchUV([]byte(want), "pyproject.toml", c, linux)
	if s := string(got); err != nil || !strings.Contains(s, `"torch==2.15.0 ; `+here) || strings.Contains(s, "torch==2.14.1") || strings.Contains(s, `torch = [{ index = "pytorch`) {
		t.Errorf("from the default index: %v\n%s", err, got)
	}
	if _, err := PatchUV([]byte("[tool.uv]\nsources = { torch = { index = 'x' } }\n"), "pyproject.toml", c, linux); err == nil || !strings.Contains(err.Error(), "write by hand") {
		t.Error(err)
	}
}
