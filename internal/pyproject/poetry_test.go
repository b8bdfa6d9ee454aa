package pyproject

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/resolver"
)

// What Poetry is to install stands in its own tables, in its build and from its index
// alone; every other byte stays.
func TestPatchPoetry(t *testing.T) {
	index, other := "https://index.example/whl/cu128", "https://index.example"
	before := "[tool.poetry]\nname = \"x\" # kept\n\n[tool.poetry.dependencies]\npython = \"^3.10\"\ntorch = \"^2.1\" # old\nnumpy = \"*\"\n"
	c := &resolver.Choice{Torch: "2.8.0", Build: "cu128", Packages: map[string]string{"torch": "2.8.0+cu128", "torchvision": "0.23.0+cu128"},
		Index: &index}
	want := "[tool.poetry]\nname = \"x\" # kept\n\n[tool.poetry.dependencies]\npython = \"^3.10\"\ntorch = { version = \"2.8.0+cu128\", source = \"pytorch-cu128\" } # old\nnumpy = \"*\"\n" +
		"torchvision = { version = \"0.23.0+cu128\", source = \"pytorch-cu128\" }\n\n" +
		"[[tool.poetry.source]]\nname = \"pytorch-cu128\"\nurl = \"https://index.example/whl/cu128\"\npriority = \"explicit\"\n"
	for range 2 { // and once more changes nothing
		got, err := PatchPoetry([]byte(before), "pyproject.toml", c, machine.Platform{})
		if err != nil || string(got) != want {
			t.Fatalf("%v\n%s", err, got)
		}
		before = want
	}
	c.Index, c.Packages = nil, map[string]string{"torch": "2.8.0"}
	if got, err := PatchPoetry([]byte("[tool.poetry.dependencies]\n"), "pyproject.toml", c, machine.Platform{}); err != nil || strings.Contains(string(got), "source") {
		t.Errorf("from the default index: %v\n%s", err, got)
	}
	if _, err := PatchPoetry([]byte("[[tool.poetry.source]]\nname = \"pytorch-cu128\"\nurl = \"https://other.example\"\n"), "pyproject.toml",
		&resolver.Choice{Build: "cu128", Index: &other}, machine.Platform{}); err == nil {
		t.Error("a source of that name at another address")
	}
}
