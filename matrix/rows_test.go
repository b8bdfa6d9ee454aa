package matrix

import (
	"strings"
	"testing"

	"envfix/internal/machine"
)

// TestCovers: the rows that most answers stand on.
func TestCovers(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct {
		torch, build, platform, sm string
		native, ptx                bool
	}{
		{"2.14.1", "cu126", "linux-x86_64", "6.1", true, false}, // sm_60 covers 6.1
		{"2.14.1", "cu126", "linux-x86_64", "7.0", true, false},
		{"2.14.1", "cu130", "linux-x86_64", "7.0", false, false},
		{"2.14.1", "cu130", "linux-x86_64", "8.9", true, false}, // sm_86 covers Ada
		{"2.15.0", "cu132", "linux-x86_64", "7.5", true, false},
		{"2.15.0", "cu132", "linux-aarch64", "7.5", false, false},
		{"2.15.0", "cu132", "linux-aarch64", "12.1", true, false}, // sm_120 covers GB10
		{"2.15.0", "cu132", "linux-aarch64", "11.0", true, false},
		{"2.15.0", "cu132", "linux-aarch64", "8.7", false, false}, // sm_80 not on Orin
		{"2.10.0", "cu128", "linux-x86_64", "7.0", true, false},
		{"2.7.1", "cu118", "linux-x86_64", "9.0", true, false},
		{"2.7.1", "cu118", "linux-x86_64", "12.0", false, false},
		{"2.7.1", "cu118", "linux-x86_64", "3.5", false, false}, // sm_37 is newer than 3.5
		{"1.12.1", "cu102", "linux-x86_64", "7.5", true, false}, // through sm_70
		{"2.5.1", "cu118", "windows-x86_64", "12.0", false, true},
	} {
		r, _ := m.Release(c.torch)
		os, arch, _ := strings.Cut(c.platform, "-")
		b, ok := r.Build(c.build, os, arch)
		if !ok {
			t.Errorf("no %s %s %s", c.torch, c.build, c.platform)
			continue
		}
		native, ptx := m.Covers(b.Native, b.PTX, machine.MustSM(c.sm))
		if native != c.native || ptx != c.ptx {
			t.Errorf("%s %s %s on %s: %v %v, want %v %v", c.torch, c.build, c.platform, c.sm, native, ptx, c.native, c.ptx)
		}
	}
}

// TestCodes: what the suffixes of cubins and PTX mean.
func TestCodes(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct {
		cubins, ptx, sm string
		native, jit     bool
	}{
		{"9.0a", "", "9.0", true, false},
		{"10.0a", "", "10.3", false, false},
		{"10.0f", "", "10.3", true, false},
		{"12.0f", "", "12.1", true, false},
		{"10.0", "", "10.1", false, false}, // PyTorch's list
		{"10.1", "", "11.0", true, false},  // Thor by its older name
		{"", "8.0", "12.0", false, true},
		{"", "12.0f", "12.1", false, true},
		{"", "9.0", "8.6", false, false},
		{"7.2", "", "7.5", false, false},
	} {
		l := &Library{Native: codesOf(t, c.cubins), PTX: codesOf(t, c.ptx)}
		native, jit := m.Covers(l.Native, l.PTX, machine.MustSM(c.sm))
		if native != c.native || jit != c.jit {
			t.Errorf("%q %q on %s: %v %v, want %v %v", c.cubins, c.ptx, c.sm, native, jit, c.native, c.jit)
		}
	}
}

func codesOf(t *testing.T, s string) (out []Code) {
	t.Helper()
	for _, w := range strings.Fields(s) {
		c, err := parseCode(w)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// TestCompanion: torchaudio 2.11.0 does not load beside a CUDA 13.2 torch.
func TestCompanion(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct{ torch, build, os, arch, want string }{
		{"2.14.1", "cu130", "linux", "x86_64", "2.11.0"},
		{"2.14.1", "cu132", "linux", "x86_64", ""},
		{"2.15.0", "cu132", "linux", "x86_64", ""},
		{"2.15.0", "mps", "macos", "arm64", "2.11.0"},
		{"2.9.1", "cu126", "linux", "x86_64", "2.9.1"},
	} {
		r, _ := m.Release(c.torch)
		b, ok := r.Build(c.build, c.os, c.arch)
		if !ok {
			t.Fatalf("no %v", c)
		}
		v, ok := b.Companion("torchaudio")
		if v.String() != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q %v", c, v, ok)
		}
	}
}

func TestFloor(t *testing.T) {
	m := embedded(t)
	for label, want := range map[string]string{"cu118": "450.80.02", "cu126": "525.60.13", "cu132": "580.65.06", "cu125": "525.60.13", "cu92": "", "cpu": ""} {
		f, ok := m.Floor(label)
		if f.Linux.String() != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", label, f.Linux, want)
		}
	}
}

func TestSizes(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct {
		torch, build, arch string
		download, disk     int
		measured           bool
	}{
		{"2.15.0", "cu132", "x86_64", 3000, 5600, true},
		{"2.7.1", "cu126", "x86_64", 2995, 5590, true},
		{"2.14.1", "cu126", "x86_64", 2995, 5590, false}, // as 2.7.1, the newest cu126 that was measured
		{"2.15.0", "cpu", "x86_64", 228, 870, false},     // its ratio is that of a CPU build elsewhere
		{"2.15.0", "xpu", "x86_64", 0, 0, false},
	} {
		got, ok := m.Size(c.torch, c.build, "linux", c.arch)
		if got.DownloadMB != c.download || got.DiskMB != c.disk || ok != c.measured {
			t.Errorf("%s %s: %d MB, %d MB on disk, %v", c.torch, c.build, got.DownloadMB, got.DiskMB, ok)
		}
	}
}
