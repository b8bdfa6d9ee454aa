package index

import (
	"errors"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/testelf"
	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"
)

// What wheels ask of torch, of CUDA and of a GPU, by their metadata and their libraries.
func TestCode(t *testing.T) {
	library := func(symbol string, needed ...string) string {
		return string(testelf.Library(testelf.X86_64, testelf.Dynamic{Needed: needed, Undefined: []string{symbol}}))
	}
	linux := "cp312-cp312-manylinux_2_28_x86_64"
	of := func(name, tag string, files map[string]string, requires ...string) testindex.Wheel {
		return testindex.Wheel{Name: name, Version: "1.0", Tag: tag, Requires: requires, Files: files}
	}
	x := testindex.Serve(t,
		of("linked", linux, map[string]string{"linked/_C.so": library("f", "libtorch_cuda.so", "libcudart.so.12")}, "torch>=2.4"),
		of("old", linux, map[string]string{"old/_C.so": library("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs", "libc10.so")}, "torch"),
		of("new", linux, map[string]string{"new/_C.so": library("_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcEE", "libc10.so")}, "torch"),
		of("boost", linux, map[string]string{"boost/lib.so": library("f", "libm.so.6")}, "nvidia-nccl-cu13", "torch; extra == 'x'"),
		of("frame-cu12", linux, map[string]string{"frame/lib.so": library("f", "libcuda.so.1")}),
		of("splat", "py3-none-any", map[string]string{"splat/csrc/a.cu": "", "splat/__init__.py": ""}, "torch"),
		of("graph", linux, map[string]string{"graph/libx_pytorch_2.0.0.so": library("f"), "graph/libx_pytorch_2.2.1.so": library("f")}),
		of("opener", linux, map[string]string{"opener/lib.so": library("f", "libm.so.6") + "\x00libcuda.so.1\x00libcublas.so.12\x00libcudnn_ops.so.9\x00"}, "numpy"),
		of("static", linux, map[string]string{"static/lib.so": library("f", "libm.so.6") + "\x00libcuda.so.1\x00NCCL version 2.16.5+cuda11.8\x00"}, "numpy"),
		of("bearer", linux, map[string]string{"bearer/lib.so": library("f", "libcuda.so.1", "libcudart-c64a25f3.so.12.3.101"),
			"bearer.libs/libcudart-c64a25f3.so.12.3.101": library("f", "libm.so.6")}),
		of("kernels", linux, map[string]string{"kernels/lib.so": library("f", "libm.so.6") + "\x00#pragma OPENCL EXTENSION cl_khr_fp64 : enable"}),
		of("direct", linux, map[string]string{"direct/lib.so": library("f", "libm.so.6") + "\x00DirectML.dll\x00"}),
		of("apple", linux, map[string]string{"apple/lib.so": library("f", "libm.so.6")}, "apple-metal"),
		of("plain", linux, map[string]string{"plain/_C.so": library("f", "libm.so.6")}),
	)
	c, err := New(x.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Code{
		"linked":     {Torch: ">=2.4", CUDA: "12"},
		"old":        {Torch: "<2.7"},
		"new":        {},
		"boost":      {CUDA: "13", Alone: true},
		"frame-cu12": {CUDA: "12", Alone: true, GPU: true, Opens: true},
		"opener":     {CUDA: "12", CuDNN: "9", Alone: true, Opens: true, Lacks: "CUDA 12, cuDNN 9"},
		"static":     {CUDA: "11", Alone: true, Opens: true},
		"bearer":     {CUDA: "12", Alone: true, Opens: true},
		"kernels":    {Alone: true, Opens: true, API: "OpenCL"},
		"direct":     {Alone: true, Opens: true, API: "DirectML"},
		"apple":      {Alone: true, Opens: true, API: "Metal"},
		"splat":      {JIT: true},
		"graph":      {Torch: ">=2.0.0,<=2.2.1"},
		"plain":      {Alone: true},
	} {
		p, err := c.Project(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		f, _, ok := p.NewestFor(version.Specifier{}, "3.12", machine.Platform{OS: "linux", Arch: "x86_64"})
		if !ok {
			t.Fatalf("%s: no wheel", name)
		}
		k, err := c.Code(t.Context(), f, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		want.File, want.Version, want.OS, want.Arch = k.File, k.Version, k.OS, k.Arch
		if *k != want {
			t.Errorf("%s: %+v, want %+v", name, *k, want)
		}
		if part, err := c.Code(t.Context(), f, 1); err != nil || part.CUDA != want.CUDA || part.Torch != want.Torch || part.Partial == (name == "splat") {
			t.Errorf("%s read in part: %+v %v", name, part, err)
		}
		_, row := k.Rows(matrix.Embedded(), "")
		if alone := want.Alone && (want.CUDA != "" || want.Opens); (row != nil) != alone || alone && (row.Driver.IsZero() != (want.CUDA == "") || row.Ask != name || row.Apart != (want.Lacks == "")) {
			t.Errorf("%s: row %+v", name, row)
		}
	}
	codes, err := c.Codes(t.Context(), "boost", "2000-01-01", func(version.Python, string, string) bool { return false }, func(int, int, string) {})
	if err != nil {
		t.Fatal(err)
	}
	boost, _ := pep508.Parse("boost", "")
	got := CodeRows(matrix.Embedded(), boost, codes, "2026-11-26").String()
	for _, want := range []string{"extensions:\n- {package: \"boost\"", "frameworks:\n- {package: \"boost\"", `versions: ">=1.0", cuda: "13"`, "# boost-1.0-" + linux + ".whl"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	boost, _ = pep508.Parse("boost<2", "")
	if got := CodeRows(matrix.Embedded(), boost, codes, "2026-11-26").String(); !strings.Contains(got, `harvest boost "<2"`) || !strings.Contains(got, `versions: ">=1.0,<=1.0", cuda: "13"`) {
		t.Errorf("of some releases:\n%s", got)
	}
	if got := words(map[string]int{"5.2": 3, "9.0": 80}, map[string]int{"8.0": 900, "9.0": 1000}); got != "9.0" {
		t.Errorf("PTX of single kernels beside native code: %q", got)
	}
	atLeast, _ := version.ParseSpecifier(">=2.4")
	m := matrix.Embedded().With(matrix.Read{Extensions: []matrix.Extension{
		{Package: "linked", Version: version.MustPython("1.0"), OS: "linux", Arch: "x86_64", CUDA: "12", Torch: atLeast, Proof: matrix.ByWheel},
		{Package: "boost", Version: version.MustPython("1.0"), OS: "linux", Arch: "x86_64", CUDA: "12", Proof: matrix.ByWheel},
	}})
	for name, want := range map[string]Verdict{"linked": Agree, "boost": Differ} {
		proofs, err := c.ProveCode(t.Context(), m, name, version.Specifier{}, func(int, int, string) {})
		if err != nil || len(proofs) != 1 || proofs[0].Verdict != want {
			t.Errorf("%s: %+v %v, want %s", name, proofs, err, want)
		}
	}
	if _, err := c.readExports(t.Context()); err != nil {
		t.Error(err)
	}
}

// Before CUDA 11 each minor has a floor of its own: the last one's serves what names a major.
func TestRowsOfCUDA10(t *testing.T) {
	k := &Code{File: "cupy_cuda102-12.3.0-cp310-cp310-manylinux1_x86_64.whl", Version: "12.3.0", OS: "linux", Arch: "x86_64", CUDA: "10", Alone: true, GPU: true}
	if _, f := k.Rows(matrix.Embedded(), ""); f == nil || f.Driver.String() != "440.33" || f.Plain != "none" {
		t.Errorf("%+v", f)
	}
}

// A wheel goes with the releases of torch that have all of c10 that it wants, of what any has.
func TestBeside(t *testing.T) {
	of := func(torch string, symbols ...string) exports {
		e := exports{version.MustPython(torch), map[string]bool{}}
		for _, s := range symbols {
			e.symbols[s] = true
		}
		return e
	}
	all := []exports{of("2.10.0", "new"), of("2.9.1", "both", "new"), of("2.8.0", "both", "old"), of("2.7.1", "old")}
	for wants, want := range map[string]string{
		"both": ">=2.8,<2.10", "old": "<2.9", "new": ">=2.9", "both new": ">=2.9,<2.10", "of-torch-alone": "", "": "", "old new": "",
	} {
		if got := beside(all, strings.Fields(wants)); got != want {
			t.Errorf("%q: %q, want %q", wants, got, want)
		}
	}
}

// What a wheel's DLLs want of torch is told by the libraries of the same release for Linux.
func TestTorchOfDLLs(t *testing.T) {
	of := func(os, v, torch, symbols string) *Code {
		return &Code{OS: os, Version: v, Torch: torch, symbols: symbols}
	}
	all := []*Code{of("linux", "1.1", ">=1.13,>=2.2,<2.3", ">=2.2,<2.3"), of("linux", "1.0", "<2.7", ""),
		of("windows", "1.1", ">=1.13", ""), of("windows", "1.0", ">=1.13", ""), of("windows", "0.9", "", "")}
	fromOthers(all)
	for i, want := range []string{">=1.13,>=2.2,<2.3", "<2.7", ">=1.13,>=2.2,<2.3", ">=1.13", ""} {
		if k := all[i]; k.Torch != want {
			t.Errorf("%s %s wants torch %q, not %q", k.OS, k.Version, k.Torch, want)
		}
	}
}

// TestWholeFails: an index that fails while a wheel is read whole ends the harvest with its
// word, of whatever wheels were read until then.
func TestWholeFails(t *testing.T) {
	all := []*Code{{File: "a", Version: "2", OS: "linux", Partial: true}, {File: "b", Version: "1", OS: "linux", Partial: true}}
	broken := errors.New("broken")
	err := (&Client{}).whole(all, []File{{Name: "a"}, {Name: "b"}}, func([]File, int64) ([]*Code, error) { return make([]*Code, 2), broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the index's error", err)
	}
}
