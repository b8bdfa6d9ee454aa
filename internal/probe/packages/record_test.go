package packages

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"os"
	"runtime"
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
		"quote": "x = 'it\n", "wrong": "x = (1]\n", "old": "y = (\n", "a/b/c/deep": "y = (", "ends": "x = 1\r\n",
		"shallow": "def f():\nreturn 1\n", "jump": "x = 1\n  y = 2\n", "between": "if x:\n    y\n  z\n", "deep": "if x and \\\n  y:\n    f(1,\n2)\n\n# c\n    '''a\nb'''\nelse:\n\tz\n",
	}
	root, record := t.TempDir(), ""
	for _, name := range slices.Sorted(maps.Keys(files)) { // as many are named as may be: their order counts
		record += "torch/" + name + ".py,sha256=" + digest([]byte(whole)) + ",6\n"
		testenv.Write(t, root+"/s/torch/"+name+".py", files[name])
	}
	testenv.Write(t, root+info+"/RECORD", record)
	long := time.Now().Add(-time.Hour)
	for _, file := range []string{info + "/RECORD", "/s/torch/old.py"} {
		if err := os.Chtimes(root+file, long, long); err != nil {
			t.Fatal(err)
		}
	}
	d := machine.DistFiles{Info: info, Installer: "uv"}
	checkRecord(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), &d, info, "")
	slices.Sort(d.Rewritten)
	slices.Sort(d.Resized)
	if want := []string{"/s/torch/deep.py", "/s/torch/doc.py", "/s/torch/mine.py"}; !slices.Equal(d.Rewritten, want) {
		t.Errorf("rewritten: %v, want %v", d.Rewritten, want)
	}
	if want := []string{"/s/torch/a/b/c/deep.py", "/s/torch/between.py", "/s/torch/cut.py", "/s/torch/jump.py", "/s/torch/merge.py",
		"/s/torch/quote.py", "/s/torch/shallow.py", "/s/torch/wrong.py"}; !slices.Equal(d.Resized, want) {
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

// Byte code that was cut off, and that Python takes for its source's, is told; what it compiles anew is not.
func TestByteCode(t *testing.T) {
	// compile("x = 1", "x.py", "exec") of Python 3.11, as marshal writes it.
	whole, err := hex.DecodeString("630000000000000000000000000100000000000000f30a000000970064005a00640153002902e9010000004e2901da0178a900f300000000fa04782e7079fa083c6d6f64756c653e" +
		"720600000001000000730e000000f003010101d804058001800180017204000000")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	then := time.Unix(1700000000, 0)
	header := append([]byte{0xa7, 0x0d, 0x0d, 0x0a, 0, 0, 0, 0}, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(then.Unix())), 5)...)
	stale := append(slices.Clone(header[:8]), 0, 0, 0, 0, 5, 0, 0, 0)
	for name, code := range map[string][]byte{
		"whole": append(slices.Clone(header), whole...), "cut": append(slices.Clone(header), whole[:30]...), "stale": append(stale, whole[:30]...), "short": header[:9], "anothers": append(slices.Clone(header), whole[:30]...),
		"other": append(slices.Clone(header), whole[:30]...),
	} {
		tag := map[bool]string{true: "cpython-310", false: "cpython-311"}[name == "other"]
		testenv.Write(t, root+"/s/torch/__pycache__/"+name+"."+tag+".pyc", string(code))
		testenv.Write(t, root+"/s/torch/"+name+".py", "x = 1")
		if err := os.Chtimes(root+"/s/torch/"+name+".py", then, then); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Write(t, root+"/s/torch-2.15.0.dist-info/RECORD", "torch/whole.py,,\ntorch/cut.py,,\ntorch-2.15.0.dist-info/RECORD,,\n")
	d := machine.DistFiles{Info: "/s/torch-2.15.0.dist-info", Installer: "uv"}
	checkRecord(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), &d, d.Info, "cpython-311")
	if want := []string{"/s/torch/__pycache__/cut.cpython-311.pyc"}; !slices.Equal(d.Cut, want) {
		t.Errorf("cut off: %v, want %v", d.Cut, want)
	}
}

// A library that alone was written to since is read for its hash; where all were, none is.
func TestYoungLibraries(t *testing.T) {
	for _, all := range []bool{false, true} {
		root, record := t.TempDir(), ""
		long := time.Now().Add(-time.Hour)
		for _, name := range []string{"a", "b", "c", "d"} {
			record += "torch/lib" + name + ".so,sha256=" + digest([]byte("ELF "+name)) + ",5\n"
			testenv.Write(t, root+"/s/torch/lib"+name+".so", "ELF "+map[bool]string{true: "x", false: name}[name == "d"])
		}
		testenv.Write(t, root+"/s/torch-2.15.0.dist-info/RECORD", record)
		for _, file := range []string{"torch/liba.so", "torch/libb.so", "torch/libc.so", "torch-2.15.0.dist-info/RECORD"} {
			if err := os.Chtimes(root+"/s/"+file, long, long); err != nil && !all {
				t.Fatal(err)
			}
			if all && strings.HasSuffix(file, ".so") {
				_ = os.Chtimes(root+"/s/"+file, time.Now(), time.Now())
			}
		}
		d := machine.DistFiles{Info: "/s/torch-2.15.0.dist-info", Installer: "uv"}
		checkRecord(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), &d, d.Info, "")
		if len(d.Resized) == 0 != all {
			t.Errorf("all young %v: %v", all, d.Resized)
		}
	}
}

// What an installer put as links into its cache is gone when that was cleaned.
func TestLinksToCache(t *testing.T) {
	const info = "/s/torch-2.15.0.dist-info"
	for _, list := range []bool{true, false} {
		root := testenv.Tree(t, map[string]string{"s/torch-2.15.0.dist-info/RECORD": "torch/a.py,sha256=x,1\ntorch-2.15.0.dist-info/RECORD,,\n", "s/torch/b.py": ""})
		gone := map[bool]string{true: "/s/torch/a.py", false: info + "/RECORD"}[list]
		_ = os.Remove(root + gone)
		if err := os.Symlink("/cache/archive-v0/x"+gone, root+gone); err != nil {
			t.Fatal(err)
		}
		d := machine.DistFiles{Info: info, Installer: map[bool]string{true: "uv"}[list]}
		checkRecord(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), &d, info, "")
		if d.Absent != 1 || !slices.Equal(d.Missing, []string{gone}) || d.Link != "/cache/archive-v0/x"+gone {
			t.Errorf("%s: %+v", gone, d)
		}
	}
}

// Other bytes in a file of the same size that was given an old time: it came to its place after RECORD all the same,
// which is seen but where other names lead to the file, or most of its package came then, as where a cache was cleaned.
func TestOldTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the time of a file's own change is asked on Linux alone")
	}
	root := t.TempDir()
	const info = "/s/torch-2.15.0.dist-info"
	testenv.Write(t, root+"/s/torch/x.py", "x = (")
	d := machine.DistFiles{Info: info, Installer: "uv"}
	c := comparison{h: sysroot.New(sysroot.Options{Root: root, OS: "linux"}), d: &d, site: "/s/", byPip: true, after: time.Now().Add(time.Hour)}
	look := func(others int) {
		c.content("/s/torch/x.py", machine.RecordFile{Path: "torch/x.py", Hash: "sha256=" + digest([]byte("x = 1")), Size: 5})
		c.seen += others
		c.lateFiles()
		c.late, c.seen = nil, 0
	}
	for _, early := range []bool{false, true} {
		c.put = time.Now()
		if early {
			c.put = c.put.Add(-time.Hour)
		}
		look(1)
		if (len(d.Resized) == 1) != early {
			t.Errorf("RECORD before it %v: %v", early, d.Resized)
		}
	}
	d.Resized = nil
	if look(0); len(d.Resized) > 0 {
		t.Errorf("all of it came later: %v", d.Resized)
	}
	if err := os.Link(root+"/s/torch/x.py", root+"/cache"); err != nil {
		t.Fatal(err)
	}
	if look(1); len(d.Resized) > 0 {
		t.Errorf("a file with another name: %v", d.Resized)
	}
}

// Other bytes in a file of the same size and an old time are seen where files are read whole.
func TestReadWhole(t *testing.T) {
	const info = "/s/torch-2.15.0.dist-info"
	for _, whole := range []bool{false, true} {
		root, record := t.TempDir(), ""
		for name, text := range map[string]string{"torch/a/b/c/x.py": "x = 2", "torch/lib/l.so": "ELF 2", "torch/y.py": "y = 1"} {
			record += name + ",sha256=" + digest([]byte(strings.Replace(text, "2", "1", 1))) + ",5\n"
			testenv.Write(t, root+"/s/"+name, text)
		}
		testenv.Write(t, root+info+"/RECORD", record)
		d := machine.DistFiles{Info: info, Installer: "uv"}
		checkRecord(sysroot.New(sysroot.Options{Root: root, OS: "linux", Whole: whole}), &d, info, "")
		if got := append(d.Resized, d.Rewritten...); len(got) == 2 != whole || len(got) == 0 == whole {
			t.Errorf("whole %v: %v", whole, got)
		}
	}
}
