package lock

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBestWheel(t *testing.T) {
	// Best first. Names as real projects publish them.
	ordered := []string{
		"x-1.0-3-cp312-cp312-manylinux_2_28_x86_64.whl",
		"x-1.0-cp312-cp312-manylinux_2_28_x86_64.whl",
		"x-1.0-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
		"x-1.0-cp312-none-manylinux_2_17_x86_64.whl",
		"x-1.0-cp310-abi3-manylinux_2_28_x86_64.whl",
		"x-1.0-cp39-abi3-manylinux_2_28_x86_64.whl",
		"x-1.0-py3-none-manylinux_2_28_x86_64.whl",
		"x-1.0-py3-none-any.whl",
	}
	for i := range ordered {
		rest := append([]string(nil), ordered[i:]...)
		rand.New(rand.NewSource(int64(i))).Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
		var wheels []Wheel
		for _, n := range rest {
			wheels = append(wheels, Wheel{Name: n})
		}
		if got := Best(wheels).Name; got != ordered[i] {
			t.Errorf("best of %q is %s, want %s", rest, got, ordered[i])
		}
	}
}

func TestUVPlatform(t *testing.T) {
	tests := []struct {
		m    Match
		want string
	}{
		{Match{OS: "linux", Arch: "x86_64", Libc: "glibc>=2.28"}, "x86_64-manylinux_2_28"},
		{Match{OS: "linux", Arch: "aarch64", Libc: "glibc>=2.30"}, "aarch64-manylinux_2_28"},
		{Match{OS: "linux", Arch: "x86_64", Libc: "glibc>=2.41"}, "x86_64-manylinux_2_40"},
		{Match{OS: "linux", Arch: "x86_64", Libc: "musl>=1.2"}, "x86_64-unknown-linux-musl"},
		{Match{OS: "windows", Arch: "x86_64"}, "x86_64-pc-windows-msvc"},
		{Match{OS: "macos", Arch: "arm64"}, "aarch64-apple-darwin"},
		{Match{OS: "linux", Arch: "x86_64", Libc: "glibc>=2.5"}, "no wheels can be locked for linux x86_64 glibc>=2.5"},
		{Match{OS: "plan9", Arch: "x86_64"}, "no wheels can be locked for plan9 x86_64 "},
	}
	for _, tt := range tests {
		got, err := UVPlatform(tt.m)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.m, got, tt.want)
		}
	}
}

func TestProject(t *testing.T) {
	url := "https://download.pytorch.org/whl/cu126"
	got, err := Job{Requirements: []string{"torch==2.14.1+cu126", "numpy"}, Python: "3.12", Indexes: []Index{{"torch", url}, {"torchvision", url}}}.Project()
	if err != nil {
		t.Fatal(err)
	}
	want := `[project]
dependencies = ['numpy', 'torch==2.14.1+cu126']
name = 'envfix-lock'
requires-python = '==3.12.*'
version = '0'

[tool]
[tool.uv]
[[tool.uv.index]]
name = 'index-1'
url = 'https://download.pytorch.org/whl/cu126'
explicit = true

[tool.uv.sources]
[tool.uv.sources.torch]
index = 'index-1'

[tool.uv.sources.torchvision]
index = 'index-1'
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("project (-want +got):\n%s", d)
	}
}

func TestParseUV(t *testing.T) {
	text := `lock-version = "1.0"
created-by = "uv"
[[packages]]
name = "torch"
version = "2.14.1+cu126"
index = "https://download.pytorch.org/whl/cu126"
wheels = [
    { url = "https://download.pytorch.org/whl/cu126/torch-2.14.1%2Bcu126-cp312-cp312-manylinux_2_28_x86_64.whl#x", hashes = { sha256 = "ABCD" } },
    { url = "https://download.pytorch.org/whl/cu126/torch-2.14.1%2Bcu126-1-cp312-cp312-manylinux_2_28_x86_64.whl", hashes = {} },
]
[[packages]]
name = "old"
version = "1"
sdist = { url = "https://files.example/old-1.tar.gz", hashes = { sha256 = "00" } }
[[packages]]
name = "mylib"
directory = { path = "/x/libs/mylib", editable = true }
[[packages]]
name = "gitlib"
version = "0.3"
vcs = { type = "git", url = "https://git.example/gitlib", requested-revision = "v1", commit-id = "3da862d4fa8c10139a82becf1b6d219115e51463" }
[[packages]]
name = "one"
version = "1"
archive = { url = "https://files.example/one-1-py3-none-any.whl", hashes = { sha256 = "00" } }
[[packages]]
name = "nothing"
version = "1"
`
	got, err := ParseUV([]byte(text), []Index{{"torch", "https://download.pytorch.org/whl/cu126"}})
	want := []Package{{Name: "torch", Version: "2.14.1+cu126", Index: "https://download.pytorch.org/whl/cu126", Wheels: []Wheel{{
		Name: "torch-2.14.1+cu126-1-cp312-cp312-manylinux_2_28_x86_64.whl",
		URL:  "https://download.pytorch.org/whl/cu126/torch-2.14.1%2Bcu126-1-cp312-cp312-manylinux_2_28_x86_64.whl",
	}}},
		{Name: "old", Version: "1", Sdist: &Wheel{Name: "old-1.tar.gz", URL: "https://files.example/old-1.tar.gz", Hashes: Hashes{"00"}}},
		{Name: "mylib", Directory: &Directory{Path: "/x/libs/mylib", Editable: true}},
		{Name: "gitlib", Version: "0.3", VCS: &VCS{Type: "git", URL: "https://git.example/gitlib", Revision: "v1", CommitID: "3da862d4fa8c10139a82becf1b6d219115e51463"}},
		{Name: "one", Version: "1", Archive: &Wheel{URL: "https://files.example/one-1-py3-none-any.whl", Hashes: Hashes{"00"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("packages (-want +got):\n%s", d)
	}
	if err == nil || !strings.Contains(err.Error(), "nothing 1: it has no file for this target") {
		t.Errorf("error %v", err)
	}
	if _, err := ParseUV([]byte("[[["), nil); err == nil {
		t.Error("garbage is accepted")
	}
}
