package packages

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe/python"
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

// What a full disk or a loss of power leaves of a source is seen, somebody's own change is not.
func TestAltered(t *testing.T) {
	long := strings.Repeat("x = 1\n", 2000)
	root := testenv.Tree(t, map[string]string{"s/empty.py": "", "s/cut.py": long[:block], "s/zeros.py": "\x00\x00\x00", "s/mine.py": "print(1)\n", "s/p/longer.py": long + "x", "s/test/none.py": "", "s/l.so": "x"})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	for name, c := range map[string]struct {
		size int64
		want bool
	}{
		"empty.py": {10, true}, "cut.py": {int64(len(long)), true}, "zeros.py": {3, true}, "mine.py": {10, false}, "p/longer.py": {int64(len(long)), false},
		"test/none.py": {10, false}, "l.so": {2, true}, "gone.py": {2, false},
	} {
		i, err := os.Stat(h.Real("/s/" + name))
		if got := err == nil && altered(h, "/s/"+name, i, c.size, 1); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A source that was written to after its package was installed is told, one that Python does not read apart from one that it does.
func TestRewritten(t *testing.T) {
	const info, whole = "/s/torch-2.15.0.dist-info", "x = 1\n"
	files := map[string]string{
		"same": whole, "mine": "x = (1,\n     \"]\")  # 'mine\n", "doc": "'''it's \\''' {\n'''\n", "cut": "x = (1,\n", "merge": "x\n<<<<<<< HEAD\n",
		"quote": "x = 'it\n", "wrong": "x = (1]\n", "old": "y = (", "a/b/c/deep": "y = (",
	}
	root, record := t.TempDir(), ""
	for name, code := range files {
		record += "torch/" + name + ".py,sha256=" + digest([]byte(whole)) + ",1\n"
		testenv.Write(t, root+"/s/torch/"+name+".py", code)
	}
	testenv.Write(t, root+info+"/RECORD", record)
	long := time.Now().Add(-time.Hour)
	for _, file := range []string{info + "/RECORD", "/s/torch/old.py"} {
		if err := os.Chtimes(root+file, long, long); err != nil {
			t.Fatal(err)
		}
	}
	d := machine.DistFiles{Info: info, Installer: "uv"}
	checkRecord(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), &d, info)
	slices.Sort(d.Rewritten)
	slices.Sort(d.Resized)
	if want := []string{"/s/torch/doc.py", "/s/torch/mine.py"}; !slices.Equal(d.Rewritten, want) {
		t.Errorf("rewritten: %v, want %v", d.Rewritten, want)
	}
	if want := []string{"/s/torch/cut.py", "/s/torch/merge.py", "/s/torch/quote.py", "/s/torch/wrong.py"}; !slices.Equal(d.Resized, want) {
		t.Errorf("not to be read: %v, want %v", d.Resized, want)
	}
}

// A module that torch loads for an extension is missed where it is not there.
func TestBackend(t *testing.T) {
	for text, want := range map[string]string{
		"[console_scripts]\nx = y:z\n\n[torch.backends]\ndevice_backend = torch_npu:_autoload\n": "torch_npu",
		"[torch.backends]\n\n[console_scripts]\nx = y:z\n":                                       "",
	} {
		h := sysroot.New(sysroot.Options{Root: testenv.Tree(t, map[string]string{"i/entry_points.txt": text}), OS: "linux"})
		if got := python.Backend(h, "/i"); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
