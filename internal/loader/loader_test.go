package loader_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"envfix/internal/loader"
	"envfix/internal/testelf"
)

// tree writes a machine's files and returns it as the loader sees it.
func tree(t *testing.T, files map[string]testelf.Dynamic) *loader.Files {
	t.Helper()
	root := t.TempDir()
	for name, d := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, testelf.Library(testelf.X86_64, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	same := func(p string) string { return p }
	return &loader.Files{Real: func(p string) string { return root + p }, Resolved: same, Default: []string{"/lib"}}
}

// torch is a torch whose CUDA library asks NCCL for a symbol, beside a Python.
func torch() map[string]testelf.Dynamic {
	return map[string]testelf.Dynamic{
		"/bin/python":         {Needed: []string{"libc.so.6"}, Defined: []string{"PyModule_Create2"}},
		"/lib/libc.so.6":      {SOName: "libc.so.6", Defined: []string{"malloc"}},
		"/t/libtorch_cuda.so": {SOName: "libtorch_cuda.so", Needed: []string{"libnccl.so.2", "libc.so.6"}, RPath: "$ORIGIN/../n", Undefined: []string{"ncclCommWindowRegister", "malloc"}, Defined: []string{"_ZN3c104cuda9SetDeviceEab"}},
		"/n/libnccl.so.2":     {SOName: "libnccl.so.2", Defined: []string{"ncclCommWindowRegister", "ncclSend"}},
		"/old/libnccl.so.2":   {SOName: "libnccl.so.2", Defined: []string{"ncclSend"}},
		"/t/_C.so":            {Needed: []string{"libtorch_cuda.so"}, RPath: "$ORIGIN"},
		"/e/flash.so":         {Needed: []string{"libtorch_cuda.so"}, Undefined: []string{"_ZN3c104cuda9SetDeviceEi", "PyModule_Create2"}},
		"/e/fits.so":          {Needed: []string{"libtorch_cuda.so"}, Undefined: []string{"_ZN3c104cuda9SetDeviceEab", "PyModule_Create2"}},
		"/e/cu12.so":          {Needed: []string{"libcudart.so.12", "libtorch_cuda.so"}, Undefined: []string{"_ZN3c104cuda9SetDeviceEi"}},
		"/hw/libnccl.so.2":    {SOName: "libnccl.so.2"},
		"/hw/glibc-hwcaps/x86-64-v3/libnccl.so.2": {SOName: "libnccl.so.2"},
	}
}

func faults(list []loader.Fault) (out []string) {
	for _, f := range list {
		out = append(out, f.Symbol)
	}
	return out
}

func start(t *testing.T, f *loader.Files) (*loader.View, *loader.Object) {
	t.Helper()
	v := f.Start("/bin/python", nil)
	c := v.Open("/t/_C.so", false)
	if c == nil {
		t.Fatal("_C.so is no library")
	}
	return v, c
}

// TestPreload: a library that LD_PRELOAD puts into the process serves everybody who asks by
// its name, and what it lacks nobody has.
func TestPreload(t *testing.T) {
	for preload, want := range map[string][]string{"": nil, "/old/libnccl.so.2": {"ncclCommWindowRegister"}, "/gone.so": nil} {
		f := tree(t, torch())
		if preload != "" {
			f.PreloadFile = []string{preload}
			v, _ := start(t, f)
			if o := v.Loaded("libnccl.so.2"); o.Path == preload && o.Via != loader.ByPreloadFile {
				t.Errorf("/etc/ld.so.preload names %s: it is taken via %s", preload, o.Via)
			}
			f.Preload, f.PreloadFile = []string{preload}, nil
		}
		v, c := start(t, f)
		if got := faults(v.Bind(v.Loaded("libtorch_cuda.so"), v.Tree(c), nil)); !slices.Equal(got, want) {
			t.Errorf("LD_PRELOAD=%s: %q; want %q", preload, got, want)
		}
		if ignored := preload == "/gone.so"; ignored != (len(v.Ignored) == 1) {
			t.Errorf("LD_PRELOAD=%s: ignored %q", preload, v.Ignored)
		}
	}
}

// TestLibraryPath: RPATH goes before LD_LIBRARY_PATH, RUNPATH after it, and of one
// directory what is for this processor's level goes first.
func TestLibraryPath(t *testing.T) {
	for _, c := range []struct {
		runpath bool
		dir     string
		want    string
	}{
		{false, "/old", "/n/libnccl.so.2"},
		{true, "/old", "/old/libnccl.so.2"},
		{true, "/hw", "/hw/glibc-hwcaps/x86-64-v3/libnccl.so.2"},
	} {
		files := torch()
		if d := files["/t/libtorch_cuda.so"]; c.runpath {
			d.RPath, d.RunPath = "", d.RPath
			files["/t/libtorch_cuda.so"] = d
		}
		f := tree(t, files)
		f.LibraryPath, f.Levels = []string{c.dir}, []string{"x86-64-v3", "x86-64-v2"}
		if v, _ := start(t, f); v.Loaded("libnccl.so.2").Path != c.want {
			t.Errorf("%+v: %s", c, v.Loaded("libnccl.so.2").Path)
		}
	}
}

// TestExtensions: what was compiled for another torch asks for what this one does not have.
func TestExtensions(t *testing.T) {
	for file, want := range map[string][]string{
		"/e/flash.so": {"_ZN3c104cuda9SetDeviceEi"}, "/e/fits.so": nil,
		"/e/cu12.so": nil, // of whose libraries one is missing: that is said, and nothing of symbols
	} {
		v, _ := start(t, tree(t, torch()))
		o := v.Open(file, false)
		if got := faults(v.Bind(o, v.All, nil)); !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", file, got, want)
		}
		if missing := file == "/e/cu12.so"; missing != (len(v.Missing) == 1) {
			t.Errorf("%s: missing %v", file, v.Missing)
		}
	}
}

// TestPassedOver: a file that has the name and cannot be loaded is said with what is wrong.
func TestPassedOver(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, file string)
		why   string
	}{
		"another processor": {func(t *testing.T, file string) { put(t, file, testelf.Library(testelf.AArch64, testelf.Dynamic{})) }, "it is for another processor, aarch64"},
		"an empty file":     {func(t *testing.T, file string) { put(t, file, nil) }, "it is no library"},
		"its end is missing": {func(t *testing.T, file string) {
			whole := testelf.Library(testelf.X86_64, testelf.Dynamic{Defined: []string{"ncclInit"}})
			put(t, file, whole[:len(whole)-1])
		}, "it is cut off: its end is missing"},
		"its end is zeros": {func(t *testing.T, file string) {
			whole := testelf.Library(testelf.X86_64, testelf.Dynamic{Defined: []string{"ncclInit"}})
			e, err := elf.NewFile(bytes.NewReader(whole))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range e.Progs {
				if p.Type == elf.PT_DYNAMIC {
					clear(whole[p.Off:])
				}
			}
			put(t, file, whole)
		}, "its end holds zeros, as after a loss of power"},
		"a link to nothing": {func(t *testing.T, file string) {
			if err := errors.Join(os.Remove(file), os.Symlink("gone", file)); err != nil {
				t.Fatal(err)
			}
		}, "it is a link to nothing"},
		"no such file": {func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		f := tree(t, torch())
		c.spoil(t, f.Real("/n/libnccl.so.2"))
		v, _ := start(t, f)
		if len(v.Missing) != 1 || v.Missing[0].Name != "libnccl.so.2" || v.Missing[0].Why != c.why || (v.Missing[0].Path == "") != (c.why == "") {
			t.Errorf("%s: %+v", name, v.Missing)
		}
	}
	f := tree(t, torch())
	f.LibraryPath = []string{"/junk"}
	if err := errors.Join(os.Remove(f.Real("/n/libnccl.so.2")), os.Mkdir(f.Real("/junk"), 0o755)); err != nil {
		t.Fatal(err)
	}
	put(t, f.Real("/junk/libnccl.so.2"), nil)
	if v, _ := start(t, f); len(v.Missing) != 1 || v.Missing[0].Via != "LD_LIBRARY_PATH" || v.Missing[0].Entry != "/junk" {
		t.Errorf("an empty file of a variable's directory: %+v", v.Missing)
	}
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestUnversioned: the loader takes a library that defines no sets of symbols for one that was asked for one of them. It lacks
// what nothing else that is loaded has.
func TestUnversioned(t *testing.T) {
	for symbol, want := range map[string]string{"__gxx_personality_v0": "__gxx_personality_v0", "malloc": ""} {
		files := torch()
		files["/lib/libstdc++.so.6"] = testelf.Dynamic{SOName: "libstdc++.so.6"}
		files["/t/_C.so"] = testelf.Dynamic{Needed: []string{"libstdc++.so.6", "libc.so.6"}, Version: [2]string{"libstdc++.so.6", "CXXABI_1.3"}, Undefined: []string{symbol}}
		v, _ := start(t, tree(t, files))
		if got := faults(v.Versions(v.All)); len(got) > 1 || want != "" && !slices.Equal(got, []string{want}) || want == "" && got != nil {
			t.Errorf("%s: %q", symbol, got)
		}
	}
}

// TestInterp: the loader that a program names is the first thing that it needs, by its place.
func TestInterp(t *testing.T) {
	for interp, missing := range map[string]int{"/lib/ld.so": 0, "/gone/ld.so": 1} {
		files := torch()
		d := files["/bin/python"]
		d.Interp, files["/lib/ld.so"] = interp, testelf.Dynamic{SOName: "ld.so"}
		files["/bin/python"] = d
		if v, _ := start(t, tree(t, files)); len(v.Missing) != missing || missing == 1 && (v.Missing[0].Name != interp || v.Missing[0].By != v.Program) {
			t.Errorf("%s: %+v", interp, v.Missing)
		}
	}
}

// TestPlainly: what a variable puts before the system's library is not what there is without it.
func TestPlainly(t *testing.T) {
	files := torch()
	files["/lib/libnccl.so.2"] = testelf.Dynamic{SOName: "libnccl.so.2", Defined: []string{"ncclSend"}}
	d := files["/t/libtorch_cuda.so"]
	d.RPath = ""
	files["/t/libtorch_cuda.so"] = d
	f := tree(t, files)
	f.LibraryPath = []string{"/old"}
	v, _ := start(t, f)
	if taken, plain := v.Loaded("libnccl.so.2"), v.Plainly("libnccl.so.2", v.Loaded("libtorch_cuda.so")); taken.Path != "/old/libnccl.so.2" || plain.Path != "/lib/libnccl.so.2" {
		t.Errorf("taken %s, plainly %s", taken.Path, plain.Path)
	}
}
