package index

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/google/go-cmp/cmp"
)

// libraryOf is a shared object with a number of cubins per architecture.
func libraryOf(cubins map[uint32]int, ptx ...uint32) string {
	b := []byte(strings.Repeat("host ", 1000))
	for _, arch := range []uint32{50, 70, 75, 80, 90, 120} {
		for range cubins[arch] {
			b = append(b, fatbinary(fatEntryOf(kindCubin, arch, 0, 300))...)
		}
	}
	for _, arch := range ptx {
		b = append(b, fatbinary(fatEntryOf(kindPTX, arch, 0, 300))...)
	}
	return string(b)
}

func TestProveStack(t *testing.T) {
	wheel := func(name, v string, files map[string]string) testindex.Wheel {
		return testindex.Wheel{Name: name, Version: v, Tag: "py3-none-manylinux_2_27_x86_64", Files: files}
	}
	x := testindex.Serve(t,
		wheel("nvidia-cublas", "13.4.1.3", map[string]string{
			"nvidia/cu13/lib/libcublas.so.13": libraryOf(map[uint32]int{75: 40, 80: 40, 90: 40, 50: 1}, 90), // one stray kernel for 5.0
			"nvidia/cu13/lib/libnvblas.so.13": libraryOf(map[uint32]int{120: 1}),                            // not what torch calls
		}),
		wheel("nvidia-cudnn-cu13", "9.26.0.51", map[string]string{
			"nvidia/cudnn/lib/libcudnn_ops.so.9":                 libraryOf(map[uint32]int{75: 10, 80: 10}),
			"nvidia/cudnn/lib/libcudnn_cnn.so.9":                 libraryOf(map[uint32]int{80: 10}),
			"nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9": libraryOf(map[uint32]int{50: 10, 70: 10, 80: 10}),
		}),
		wheel("nvidia-nccl-cu13", "2.30.6", map[string]string{"a.so": libraryOf(map[uint32]int{80: 1})}),
	)
	code := func(names ...string) (codes []matrix.Code) {
		for _, n := range names {
			codes = append(codes, matrix.Code{SM: machine.MustSM(n)})
		}
		return codes
	}
	m := row()
	b := m.Releases[0].Builds[0]
	b.Pins = map[string]string{"cublas": "13.4.1.3"}
	for _, sm := range []string{"5.0", "7.0", "7.5", "8.0", "8.6", "9.0", "10.0", "12.0"} {
		m.Arches = append(m.Arches, matrix.Arch{SM: machine.MustSM(sm)})
	}
	m.Libraries = []matrix.Library{
		{Package: "cublas", Version: version.MustDotted("13.4.1.3"), Major: 13, Arch: "x86_64", Native: code("7.5", "8.0", "9.0"), PTX: code("9.0"), Source: "data/libraries.yaml:1"},
		{Package: "cudnn", Version: version.MustDotted("9.26.0.51"), Major: 13, Arch: "x86_64", Native: code("7.5", "8.0")},
	}
	kept := map[string]Fatbins{}
	var mu sync.Mutex
	cache := Cache{
		Load: func(sum, member string) (Fatbins, bool) {
			mu.Lock()
			defer mu.Unlock()
			f, ok := kept[sum+member]
			return f, ok
		},
		Store: func(sum, member string, f Fatbins) {
			mu.Lock()
			defer mu.Unlock()
			kept[sum+member] = f
		},
	}
	want := []string{
		"cannot be read: nccl: the index has no nvidia-nccl-cu13 2.30.7 for x86_64",
		"agree: cublas 13.4.1.3: 7.5 8.0 8.6 9.0 +10.0 +12.0 / 7.5 8.0 8.6 9.0 +10.0 +12.0",
		"differ: cudnn 9.26.0.51: 7.5 8.0 8.6 / 8.0 8.6",
	}
	slices.Sort(want)
	for _, again := range []bool{false, true} {
		before := x.Sent()
		proofs, err := open(t, x.URL).ProveStack(t.Context(), m, []*matrix.Build{b, b}, StackOptions{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		var got, rows []string
		for _, p := range proofs {
			if p.Library != nil {
				rows = append(rows, p.Library.Package+" "+codes("", p.Library.Native)+" "+codes("ptx", p.Library.PTX))
			}
			if p.Error != "" {
				got = append(got, string(p.Verdict)+": nccl: "+p.Error)
			}
			for _, c := range p.Checks {
				got = append(got, string(c.Verdict)+": "+c.Field+": "+c.Row+" / "+c.Wheel)
			}
		}
		slices.Sort(got)
		slices.Sort(rows)
		if d := cmp.Diff([]string{"cublas 75 80 90 ptx90", "cudnn 80 "}, rows); d != "" {
			t.Errorf("rows: %s", d)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if read := x.Sent() - before; again && read > 20_000 {
			t.Errorf("read %d bytes again", read)
		}
	}
	if len(kept) != 3 { // libcublas, ops and cnn
		t.Errorf("%d libraries are kept", len(kept))
	}
}
