package packages

import (
	"testing"

	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
)

func TestForeignPlatform(t *testing.T) {
	for _, test := range [][3]string{
		{"Tag: cp311-cp311-manylinux1_x86_64\n", "amd64", ""},
		{"Tag: cp311-cp311-manylinux_2_17_x86_64\nTag: cp311-cp311-manylinux2014_x86_64\n", "amd64", ""},
		{"Tag: py3-none-any\n", "arm64", ""},
		{"Tag: cp311-cp311-manylinux_2_28_x86_64\n", "arm64", "manylinux_2_28_x86_64"},
		{"Tag: cp311-none-macosx_11_0_arm64\n", "arm64", "macosx_11_0_arm64"},
		{"Tag: cp311-cp311-win_amd64\n", "amd64", "win_amd64"},
		{"", "amd64", ""},
	} {
		if got := foreignPlatform([]byte(test[0]), "linux", test[1]); got != test[2] {
			t.Errorf("%q on %s: %q", test[0], test[1], got)
		}
	}
}

// A name that leads out of the part of uv's cache for the default index is in none.
func TestNameOfCache(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"home/me/.cache/uv/wheels-v8/index/0123456789abcdef/private/1.0-py3-none-any.msgpack": ""})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me"}})
	if cachedByUV(h, "../index/0123456789abcdef/private", "1.0") {
		t.Error("a name leads out")
	}
}
