package index

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/testindex"
	"envfix/internal/version"
)

// A package whose releases say in several ways which torch and which CUDA they are for.
func TestPinsOf(t *testing.T) {
	wheel := func(v, tag string, files map[string]string, requires ...string) testindex.Wheel {
		return testindex.Wheel{Name: "ext", Version: v, Tag: tag, Requires: requires, Files: files}
	}
	library := func(names ...string) map[string]string {
		out := map[string]string{"ext/__init__.py": ""}
		for _, n := range names {
			out[n] = strings.Repeat("\x00", 5000) + "libcudart.so.12\x00libtorch.so\x00"
		}
		return out
	}
	linux, windows := "cp310-cp310-manylinux_2_28_x86_64", "cp310-cp310-win_amd64"
	x := testindex.Serve(t,
		wheel("1.0", linux, library("ext/_C.so"), "torch==2.1.2"),
		wheel("1.0", windows, nil, "torch>=2.0; sys_platform == 'win32'", "torch==2.1.2; sys_platform == 'linux'"),
		wheel("0.9", linux, library("ext/_C.so"), "torch>=2.0"), wheel("0.8", linux, nil),
		wheel("1.1", linux, nil, "torch (==2.2.0)", "nvidia-nccl-cu12"),
		wheel("1.2", "py3-none-any", library("ext/libext_cuda118.so", "ext/libext_cuda121.so", "ext/libext_cuda121_nocublaslt.so")),
		wheel("1.3", "py3-none-any", nil, "torch==2.6.0; extra == 'srt'", "torch==2.5.0; extra == 'all_cpu'", "torch; extra == 'dev'"),
		wheel("1.4", "py3-none-any", nil, "torch==2.6.0; extra == 'a'", "torch==2.7.0; extra == 'b'"),
		wheel("1.5", "py3-none-any", nil, "torch==2.8.0"),
		wheel("1.6rc1", linux, nil, "torch==2.9.0"),
		testindex.Wheel{Name: "ext", Version: "1.7", Sdist: true},
	)
	c, err := New(x.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	known := func(v version.Python, _, _ string) bool { return v.String() == "1.5" }
	rows, err := c.PinsOf(t.Context(), "ext", "2000-01-01", known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %s-%s torch%s cuda %s %v %s", r.Version, r.OS, r.Arch, r.Torch, r.CUDA, r.TorchLabels, r.Proof))
	}
	want := []string{
		"1.3 - torch==2.6.0 cuda  [] metadata",
		"1.2 linux-x86_64 torch cuda 11 [cu118] wheel",
		"1.2 linux-x86_64 torch cuda 12 [cu121] wheel",
		"1.1 linux-x86_64 torch==2.2.0 cuda 12 [] metadata",
		"1.0 linux-x86_64 torch==2.1.2 cuda 12 [] wheel",
		"1.0 windows-x86_64 torch>=2.0 cuda  [] metadata",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
