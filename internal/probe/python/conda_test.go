package python

import (
	"os"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
	"envfix/internal/text"
)

func TestParseCondaRecord(t *testing.T) {
	tests := map[string]CondaRecord{
		"pytorch-2.3.0-py3.11_cuda12.1_cudnn8.9.2_0.json": {"pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0"},
		"pytorch-cuda-12.1-ha16c6d3_5.json":               {"pytorch-cuda", "12.1", "ha16c6d3_5"},
		"history":                                         {},
		"x.json":                                          {},
	}
	for in, want := range tests {
		if got, _ := ParseCondaRecord(in); got != want {
			t.Errorf("parseCondaRecord(%q) = %v; want %v", in, got, want)
		}
	}
}

// TestCondaOwner: conda's records say which package brought a file.
func TestCondaOwner(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"c/conda-meta/libstdcxx-ng-11.2.0-h1_1.json": `{"files": ["lib/libstdc++.so.6", "lib/libstdc++.so.6.0.29"]}`})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	e := Env{Dir: "/c", Conda: []CondaRecord{{"python", "3.11.7", "h0_0"}, {"libstdcxx-ng", "11.2.0", "h1_1"}}}
	for file, want := range map[string]string{"/c/lib/libstdc++.so.6.0.29": "libstdcxx-ng=11.2.0", "/c/lib/libc.so": "", "/lib/libstdc++.so.6": ""} {
		if got := CondaOwner(h, file, e); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestFaultOfAnother: the name of the interpreter says more than pyvenv.cfg, which says what
// it was.
func TestFaultOfAnother(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"v/bin/python3.12": "x", "v/lib/python3.11/site-packages/a": "", "usr/lib/python3.11/os.py": ""})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	for _, c := range [][2]string{{"python3.12", machine.PythonOther}, {"python3.11", ""}} { // in this order: the first is there
		name, want := c[0], c[1]
		_ = os.Rename(root+"/v/bin/python3.12", root+"/v/bin/"+name)
		_ = os.Symlink(name, root+"/v/bin/python")
		e := Env{Dir: "/v", Python: machine.Python{Version: "3.11.7"}, Sites: []string{"/v/lib/python3.11/site-packages"}}
		if got := e.Fault(h, "/usr/bin"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		_ = os.Remove(root + "/v/bin/python")
	}
}

// TestFaultOfPrograms: an environment whose Python is not there, or may not be started.
func TestFaultOfPrograms(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"v/bin/python3": "x", "w/bin/pip": ""})
	h := sysroot.New(sysroot.Options{OS: "linux"})
	for dir, want := range map[string]string{root + "/v": machine.PythonBarred, root + "/w": machine.PythonAbsent} {
		if err := os.Chmod(root+"/v/bin/python3", 0o644); err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink("python3", root+"/v/bin/python")
		if got := (Env{Dir: dir, Dists: make([]Dist, 1)}).Fault(h, "/usr/bin"); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// TestFaultOfClosed: a pyvenv.cfg that is there and cannot be read ends Python; where there is none, nothing is wrong with it.
func TestFaultOfClosed(t *testing.T) {
	for file, want := range map[string]string{"v/pyvenv.cfg/x": machine.PythonMute, "v/x": ""} {
		root := testenv.Tree(t, map[string]string{"v/bin/python": "x", file: ""})
		h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
		if got := (Env{Dir: "/v"}).Fault(h, ""); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestFaultOfConda: an environment that conda was asked for without a Python has none.
func TestFaultOfConda(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"v/bin/python3": "x", "w/bin/x": ""})
	if err := os.Chmod(root+"/v/bin/python3", 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"/v": "", "/w": machine.PythonNone} {
		if got := (Env{Dir: root + dir, Conda: make([]CondaRecord, 1)}).Fault(sysroot.New(sysroot.Options{OS: "linux"}), ""); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// FuzzFiles: whatever the files of an environment say, nothing panics, and no control
// character comes through.
func FuzzFiles(f *testing.F) {
	f.Add("Name: torch\nVersion: 2\nRequires-Dist: triton\n\nx")
	f.Add("pytorch-2.3.0-py3.11_0.json")
	f.Fuzz(func(t *testing.T, s string) {
		clean := func(s string) {
			if s != text.Printable(s) {
				t.Errorf("not printable: %q", s)
			}
		}
		var d Dist
		d.Metadata([]byte(s))
		clean(d.Name + d.Version + strings.Join(d.Requires, ""))
		if r, ok := ParseCondaRecord(s); ok {
			clean(r.Name + r.Version + r.Build)
		}
		peArch([]byte(s))
		machArch([]byte(s))
	})
}
