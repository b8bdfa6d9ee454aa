package pyproject

import (
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/resolver"
)

// The locks of uv, Poetry and PDM are read alike: what comes from an index in one version.
func TestOwnLock(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"uv.lock": {`version = 1
[[package]]
name = "numpy"
version = "1.26.4"
source = { registry = "https://index.example/simple" }
wheels = [ { url = "https://index.example/numpy.whl", hash = "sha256:0" } ]
[[package]]
name = "forked"
version = "1.0"
source = { registry = "https://index.example/simple" }
[[package]]
name = "forked"
version = "2.0"
source = { registry = "https://index.example/simple" }
[[package]]
name = "torch"
version = "2.6.0"
source = { registry = "https://index.example/simple" }
[[package]]
name = "torch"
version = "2.6.0+cu126"
source = { registry = "https://download.pytorch.org/whl/cu126" }
[[package]]
name = "project"
version = "0.1"
source = { editable = "." }
[[package]]
name = "fromgit"
version = "0.2"
source = { git = "https://host.example/x?rev=1#2" }
`, "numpy==1.26.4 torch==2.6.0+cu126"},
		"poetry.lock": {`[[package]]
name = "torch"
version = "2.7.1"
files = [ {file = "torch.whl", hash = "sha256:0"} ]
[package.dependencies]
numpy = "*"
[[package]]
name = "own"
version = "1.0"
[package.source]
type = "legacy"
url = "https://index.example/simple"
[[package]]
name = "fromgit"
version = "1.0"
[package.source]
type = "git"
url = "https://host.example/x"
`, "own==1.0 torch==2.7.1"},
		"pdm.lock": {"[[package]]\nname = \"a\"\nversion = \"1\"\n[[package]]\nname = \"b\"\nversion = \"1\"\ngit = \"https://host.example/x\"\n", "a==1"},
	} {
		l, err := ReadOwnLock([]byte(c.text), name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range l.Pins {
			got = append(got, q.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	l, _ := ReadOwnLock([]byte("[[package]]\nname = \"torch\"\nversion = \"2.6.0\"\n"), "uv.lock")
	url := "https://download.pytorch.org/whl/cu118"
	same := &resolver.Choice{Packages: map[string]string{"torch": "2.6.0+cu124"}}
	other := &resolver.Choice{Packages: map[string]string{"torch": "2.6.0+cu118"}, Index: &url}
	if l.Undoes(same) != "" || l.Undoes(other) != "2.6.0" {
		t.Errorf("%q %q", l.Undoes(same), l.Undoes(other))
	}
	if _, err := ReadOwnLock([]byte("[[package"), "uv.lock"); err == nil || !strings.HasPrefix(err.Error(), "uv.lock: ") {
		t.Error(err)
	}
}

// A lock that lacks what its project asks for, or has it in a version that the project no
// longer admits, is older than the project.
func TestOlderLock(t *testing.T) {
	l, err := ReadOwnLock([]byte("[[package]]\nname = \"PyArrow\"\nversion = \"8.0.0\"\n[[package]]\nname = \"lib\"\nversion = \"1\"\nsource = { git = \"https://host.example/lib\" }\n"), "poetry.lock")
	if err != nil {
		t.Fatal(err)
	}
	for line, older := range map[string]bool{"pyarrow>=8": false, "pyarrow>=22": true, "datasets": true, "lib>=2": false} {
		q, err := pep508.Parse(line, "pyproject.toml")
		if got := l.Older([]pep508.Requirement{q}); err != nil || (got == line) != older {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	if empty, err := ReadOwnLock([]byte("version = 1\n"), "uv.lock"); err != nil || empty.Older([]pep508.Requirement{{Name: "x", Text: "x"}}) != "" {
		t.Errorf("a lock of nothing: %v", err)
	}
}
