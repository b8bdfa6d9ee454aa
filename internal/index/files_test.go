package index

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/testindex"
)

// A package whose releases differ in platforms, Pythons and floors.
func TestFilesOf(t *testing.T) {
	wheel := func(version, tag string) testindex.Wheel {
		return testindex.Wheel{Name: "ext", Version: version, Tag: tag}
	}
	x := testindex.Serve(t,
		wheel("1.0", "cp39-cp39-manylinux_2_28_x86_64"), wheel("1.0", "cp310-cp310-manylinux_2_28_x86_64"),
		wheel("1.1", "cp310-cp310-manylinux_2_28_x86_64"), wheel("1.1", "cp39-cp39-manylinux_2_28_x86_64"),
		wheel("1.1", "cp313-cp313t-manylinux_2_17_x86_64.manylinux2014_x86_64"),
		wheel("1.2", "cp39-abi3-win_amd64"), wheel("1.2", "cp39-abi3-win32"), wheel("1.2", "cp312-cp312-musllinux_1_2_x86_64"),
		wheel("1.2", "cp312-cp312-macosx_11_0_universal2"), wheel("1.2", "py3-none-any"),
		wheel("1.3rc1", "py3-none-any"),
	)
	c, err := New(x.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := c.FilesOf(t.Context(), "ext", "2000-01-01")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s: %s-%s [%s] %s%s%s", r.Versions, r.OS, r.Arch, r.Tags, r.Glibc, r.Musl, r.MacOS))
	}
	want := []string{
		"1.2: - [py3] ", "1.2: linux-x86_64 [cp312] 1.2", "1.2: macos- [cp312] 11.0", "1.2: windows-x86_64 [cp39-abi3] ",
		"1.1: linux-x86_64 [cp313t] 2.17", "1.1 1.0: linux-x86_64 [cp39 cp310] 2.28",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSdistVersion(t *testing.T) {
	for file, want := range map[string]string{
		"natten-0.14.2-4.tar.gz": "0.14.2-4", "iso-639-0.4.5.tar.gz": "0.4.5", "py-2-1.0rc1.zip": "1.0rc1", "flash_attn-2.8.3.tar.gz": "2.8.3", "torch-scatter-2.1.2.zip": "2.1.2", "x-1.0.whl": "", "x.tar.gz": "", "-1.tar.gz": ""} {
		if v, ok := SourceVersion(file); ok != (want != "") || ok && v != want {
			t.Errorf("%s: %q %v", file, v, ok)
		}
	}
}
