package index

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const archList = "sm_75 sm_80 sm_90a compute_90"

// library is the shape of a libtorch_python.so: a megabyte of other bytes, text
// that runs into the list, and more behind it.
func library(list string) string {
	return strings.Repeat("\x7fELF sm_ sm_7 sm_75\x00sm_80 \x00", 10_000) + "std::string ipc_h" + list + "\x00/torch/csrc/cuda/Module.cpp\x00" + strings.Repeat("x", 100_000)
}

// torchWheel is a wheel such as the default index carries.
func torchWheel(python string) testindex.Wheel {
	return testindex.Wheel{
		Name: "torch", Version: "2.15.0", RequiresPython: ">=3.11", Tag: "cp" + strings.TrimSuffix(python, "t") + "-cp" + python + "-manylinux_2_28_x86_64",
		Requires: []string{
			"filelock",
			`cuda-toolkit[cublas,cudart]==13.2.2; platform_system == "Linux"`,
			`nvidia-cudnn-cu13==9.26.0.51; platform_system == "Linux"`,
			`nvidia-nccl-cu13 (==2.30.7) ; platform_system == "Linux" and platform_machine == "x86_64"`,
			`triton~=3.9.0; platform_system == "Linux" and python_version < "3.16"`,
			`optree>=0.13.0; extra == "optree"`,
		},
		Files: map[string]string{
			"torch/version.py":              "from typing import Optional\n__version__ = '2.15.0+cu132'\ndebug = False\ncuda: Optional[str] = '13.2'\ngit_version = 'd0f2af8b'\nhip: Optional[str] = None\n",
			"torch/lib/libtorch_python.so":  library(archList),
			"torch/lib/libtorch_cuda.so":    strings.Repeat("y", 100_000),
			"torch/lib/libtorch_hip1.so":    "z",
			"torch/lib/libgomp-a34b.so.1":   "\x00GLIBC_2.2.5\x00GLIBC_2.17\x00GLIBC_PRIVATE\x00",
			"torchgen/packaged/autograd.py": "pass\n",
		},
	}
}

// row is the row of the matrix that torchWheel agrees with.
func row() *matrix.Matrix {
	r := &matrix.Release{Torch: version.MustPython("2.15.0")}
	native, ptx, err := ParseArches(archList)
	if err != nil {
		panic(err)
	}
	r.Builds = []*matrix.Build{{
		Release: r, Label: "cu132", OS: "linux", Arch: "x86_64", Default: true, Native: native, PTX: ptx, Source: "data/torch/2.15.yaml:1",
		CUDA: version.MustDotted("13.2.2"), CuDNN: version.MustDotted("9.26.0.51"), NCCL: version.MustDotted("2.30.7"), Triton: version.MustPython("3.9.0"),
		PythonMin: version.MustPython("3.11"), PythonMax: version.MustPython("3.12"), FreeThreaded: []string{"3.12t"}, Glibc: version.MustDotted("2.28"),
	}}
	return &matrix.Matrix{Releases: []*matrix.Release{r}}
}

func open(t *testing.T, address string) *Client {
	t.Helper()
	c, err := New(address, Options{Stall: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTorchReadsAWheelByItsBytes(t *testing.T) {
	x := testindex.Serve(t, torchWheel("312"))
	c := open(t, x.URL)
	p, err := c.Project(t.Context(), "Torch")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Torch(t.Context(), p.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	native, ptx, _ := ParseArches("sm_75 sm_80 sm_90a compute_90")
	want := &Torch{
		File: p.Files[0], Size: int64(len(torchWheel("312").Bytes())), Version: "2.15.0", Label: "cu132", CUDA: "13.2",
		Name: Name{Project: "torch", Version: "2.15.0", Pythons: []string{"cp312"}, ABIs: []string{"cp312"}, Tags: []string{"manylinux_2_28_x86_64"}},
		Tags: []string{"cp312-cp312-manylinux_2_28_x86_64"}, Native: native, PTX: ptx, Meta: got.Meta,
	}
	if d := cmp.Diff(want, got, cmpopts.EquateComparable(version.Dotted{}, version.Specifier{})); d != "" {
		t.Error(d)
	}
	env := got.Env()
	pins := map[string]string{}
	for _, name := range []string{"cuda-toolkit", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "triton", "optree", "nothing"} {
		pins[name] = got.Meta.Pin(env, name)
	}
	if d := cmp.Diff(map[string]string{"cuda-toolkit": "13.2.2", "nvidia-cudnn-cu13": "9.26.0.51", "nvidia-nccl-cu13": "2.30.7", "triton": "~=3.9.0", "optree": "", "nothing": ""}, pins); d != "" {
		t.Error(d)
	}
	if sent, size := x.Sent(), int64(len(torchWheel("312").Bytes())); sent > size+200_000 {
		t.Errorf("read %d bytes of a wheel of %d", sent, size)
	}
}

func TestProve(t *testing.T) {
	for _, tt := range []struct {
		name   string
		break_ func(*testindex.Index)
		change func(*matrix.Matrix)
		want   []string // verdict, Python, how; then the checks that do not agree
	}{
		{name: "everything agrees", want: []string{"agree 3.11 bytes", "agree 3.12 metadata", "agree 3.12t metadata"}},
		{name: "a page in HTML", break_: func(x *testindex.Index) { x.Break("/simple/torch/", testindex.HTMLOnly) },
			want: []string{"agree 3.11 bytes", "agree 3.12 metadata", "agree 3.12t metadata"}},
		{name: "no .metadata files", break_: func(x *testindex.Index) { x.Break("/simple/torch/", testindex.NoMetadata) },
			want: []string{"agree 3.11 bytes", "agree 3.12 metadata", "agree 3.12t metadata"}},
		{name: "another label, CUDA and GPUs on record", change: func(m *matrix.Matrix) {
			b := m.Releases[0].Builds[0]
			b.Label, b.CUDA, b.Native = "cu130", version.MustDotted("13.0.3"), b.Native[1:]
		}, want: []string{"differ 3.11 bytes", "label: cu130, cu132", "cuda: 13.0, 13.2", "cubins: sm_80 sm_90a, sm_75 sm_80 sm_90a", "toolkit: 13.0.3, 13.2.2", "differ 3.12 metadata", "toolkit: 13.0.3, 13.2.2", "differ 3.12t metadata", "toolkit: 13.0.3, 13.2.2"}},
		{name: "another cuDNN, NCCL, triton and glibc on record", change: func(m *matrix.Matrix) {
			b := m.Releases[0].Builds[0]
			b.CuDNN, b.NCCL, b.Triton, b.Glibc = version.MustDotted("9.1.0.70"), version.MustDotted("2.21.5"), version.MustPython("3.8.0"), version.MustDotted("2.17")
			m.Releases[0].Builds[0].PythonMin = version.MustPython("3.12")
		}, want: []string{"differ 3.11 bytes", "cudnn: 9.1.0.70, 9.26.0.51", "nccl: 2.21.5, 2.30.7", "triton: 3.8.0, ~=3.9.0", "python tag: 3.12 - 3.12, 3.12t, 3.11", "glibc: 2.17, 2.28", "pythons: 3.12 - 3.12, 3.12t, 3.11 3.12 3.12t",
			"differ 3.12 metadata", "cudnn: 9.1.0.70, 9.26.0.51", "nccl: 2.21.5, 2.30.7", "triton: 3.8.0, ~=3.9.0", "glibc: 2.17, 2.28", "differ 3.12t metadata", "cudnn: 9.1.0.70, 9.26.0.51", "nccl: 2.21.5, 2.30.7", "triton: 3.8.0, ~=3.9.0", "glibc: 2.17, 2.28"}},
		{name: "a Python without wheels", change: func(m *matrix.Matrix) { m.Releases[0].Builds[0].PythonMax = version.MustPython("3.13") },
			want: []string{"differ 3.11 bytes", "pythons: 3.11 - 3.13, 3.12t, 3.11 3.12 3.12t", "agree 3.12 metadata", "agree 3.12t metadata"}},
		{name: "one wheel is gone", break_: func(x *testindex.Index) {
			x.Break("/files/"+torchWheel("311").Filename(), testindex.NotFound)
		}, want: []string{"cannot be read 3.11 bytes", "error: " + torchWheel("311").Filename() + ": not found (HTTP 404)", "agree 3.12 metadata", "agree 3.12t metadata"}},
		{name: "a wheel of no row", change: func(m *matrix.Matrix) { m.Releases[0].Builds[0].Arch = "aarch64" },
			want: []string{"differ 3.11 bytes", "error: the matrix has no row for this wheel", "differ 3.12 metadata", "error: the matrix has no row for this wheel", "differ 3.12t metadata", "error: the matrix has no row for this wheel", "cannot be read  page", "error: the index has no such wheel"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := testindex.Serve(t, torchWheel("312"), torchWheel("312t"), torchWheel("311"))
			m := row()
			if tt.break_ != nil {
				tt.break_(x)
			}
			if tt.change != nil {
				tt.change(m)
			}
			steps := 0
			proofs, _, err := open(t, x.URL).Prove(t.Context(), m, Query{OS: "linux"}, func(done, total int, _ string) { steps = total })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range proofs {
				got = append(got, fmt.Sprintf("%s %s %s", p.Verdict, p.Python, p.By))
				if p.Error != "" {
					got = append(got, "error: "+p.Error)
				}
				for _, c := range p.Checks {
					if c.Verdict != Agree {
						got = append(got, fmt.Sprintf("%s: %s, %s", c.Field, c.Row, c.Wheel))
					}
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if steps != 3 {
				t.Errorf("progress was told of %d wheels", steps)
			}
		})
	}
}

// The sizes and hashes on record are those of all wheels of a row, and of two
// builds of one wheel the later counts.
func TestProveComparesSizesAndHashes(t *testing.T) {
	x := testindex.Serve(t, torchWheel("311"), torchWheel("312"), torchWheel("312t"))
	c := open(t, x.URL)
	proofs, _, err := c.Prove(t.Context(), row(), Query{OS: "linux"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set := *proofs[0].Set
	for _, tt := range []struct {
		name   string
		change func(*matrix.WheelSet)
		want   []string
	}{
		{"the same", func(*matrix.WheelSet) {}, nil},
		{"another size", func(w *matrix.WheelSet) { w.Bytes++ }, []string{"size"}},
		{"another hash", func(w *matrix.WheelSet) { w.SHA256 = strings.Repeat("0", 64) }, []string{"sha256"}},
		{"another number", func(w *matrix.WheelSet) { w.Count = 2 }, []string{"wheels"}},
	} {
		w := set
		tt.change(&w)
		proofs, _, err := c.Prove(t.Context(), row(), Query{OS: "linux", Wheels: []matrix.WheelSet{w}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, check := range proofs[0].Checks {
			if check.Verdict != Agree {
				got = append(got, check.Field)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	x.Break("/simple/torch/", testindex.NoHash)
	proofs, _, err = c.Prove(t.Context(), row(), Query{OS: "linux", Wheels: []matrix.WheelSet{set}}, nil)
	if err != nil || proofs[0].Verdict != Unread {
		t.Errorf("without hashes: %v, %v", proofs[0].Verdict, err)
	}
}

func TestLatestBuilds(t *testing.T) {
	var files []File
	for _, n := range []string{"torch-2.10.0-cp313-cp313t-manylinux_2_28_x86_64.whl", "torch-2.10.0-cp310-cp310-manylinux_2_28_x86_64.whl", "torch-2.10.0-3-cp310-cp310-manylinux_2_28_x86_64.whl", "torch-2.10.0-cp39-cp39-manylinux_2_28_x86_64.whl", "torch-2.10.0-2-cp310-cp310-manylinux_2_28_x86_64.whl"} {
		files = append(files, File{Name: n})
	}
	var got []string
	for _, f := range latestBuilds(files) {
		got = append(got, f.Name)
	}
	want := []string{"torch-2.10.0-cp39-cp39-manylinux_2_28_x86_64.whl", "torch-2.10.0-3-cp310-cp310-manylinux_2_28_x86_64.whl", "torch-2.10.0-cp313-cp313t-manylinux_2_28_x86_64.whl"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What the wheel's own files say must be one story.
func TestWheelsThatContradictThemselves(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*testindex.Wheel)
		want   string
	}{
		"no version":             {func(w *testindex.Wheel) { w.Files["torch/version.py"] = "cuda = '13.2'\n" }, "names no version"},
		"another version":        {func(w *testindex.Wheel) { w.Files["torch/version.py"] = "__version__ = '2.14.0+cu132'\n" }, "says version 2.14.0"},
		"no version.py":          {func(w *testindex.Wheel) { delete(w.Files, "torch/version.py") }, "holds no torch/version.py"},
		"a version.py too large": {func(w *testindex.Wheel) { w.Files["torch/version.py"] = strings.Repeat("#", maxVersion+1) }, "are not read"},
	} {
		w := torchWheel("312")
		tt.change(&w)
		c, f := serveWheel(t, w.Bytes(), nil)
		if _, err := c.Torch(t.Context(), f); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	// A CUDA build whose list is not found is read all the same, with a gap.
	w := torchWheel("312")
	w.Files["torch/lib/libtorch_python.so"] = strings.Repeat("sm_75\x00", 1000)
	c, f := serveWheel(t, w.Bytes(), nil)
	got, err := c.Torch(t.Context(), f)
	if err != nil || len(got.Gaps) != 1 || len(got.Native) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if checks := CompareBytes(row().Releases[0].Builds[0], got); worst(checks) != Unread {
		t.Errorf("got %+v", checks)
	}
}

func TestZip64(t *testing.T) {
	good := torchWheel("312").Bytes()
	end := bytes.LastIndex(good, []byte(endMagic))
	dir, size, count := u32(good, end+16), u32(good, end+12), u16(good, end+10)
	b := bytes.Clone(good[:end])
	b = append(b, endMagic64...)
	b = binary.LittleEndian.AppendUint64(b, endSize64-12)
	b = append(b, make([]byte, 12)...)
	for _, v := range []uint64{uint64(count), uint64(count), uint64(size), uint64(dir)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = append(b, locatorMagic...)
	b = append(b, make([]byte, 16)...)
	tail := bytes.Clone(good[end:])
	binary.LittleEndian.PutUint32(tail[16:], 0xffffffff)
	b = append(b, tail...)
	binary.LittleEndian.PutUint64(b[end+24:], uint64(count))
	binary.LittleEndian.PutUint64(b[end+32:], uint64(count))
	binary.LittleEndian.PutUint64(b[end+40:], uint64(size))
	binary.LittleEndian.PutUint64(b[end+48:], uint64(dir))
	c, f := serveWheel(t, b, nil)
	if _, err := c.Torch(t.Context(), f); err != nil {
		t.Error(err)
	}
}

// The end of a directory is enough for METADATA where it lies there.
func TestOpenTail(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 3000 {
		if _, err := z.Create(fmt.Sprintf("torch/include/ATen/ops/a_header_with_a_long_name_%04d.h", i)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"torch-2.15.0.dist-info/METADATA": "Name: torch\nVersion: 2.15.0\n\nlong text"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	c, f := serveWheel(t, b.Bytes(), nil)
	w, err := c.OpenTail(t.Context(), f)
	if err != nil || len(w.names) >= 3001 {
		t.Fatalf("%+v, %v", w, err)
	}
	got, err := c.TorchMetadata(t.Context(), f)
	if err != nil || got.Meta.Version != "2.15.0" {
		t.Errorf("%+v, %v", got, err)
	}
	whole, err := c.Open(t.Context(), f)
	if err != nil || len(whole.names) != 3001 {
		t.Errorf("%v", err)
	}
}
