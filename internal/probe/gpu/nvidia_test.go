package gpu

import (
	"regexp"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/text"

	"github.com/google/go-cmp/cmp"
)

func TestParseModule(t *testing.T) {
	tests := []struct{ in, version, flavour string }{
		{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release Build  (user@host)  Thu Feb 19\nGCC version:  gcc version 12.2.0", "595.45.04", "open"},
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023", "535.129.03", "proprietary"},
		{"NVRM version: NVIDIA UNIX aarch64 Kernel Module  580.142  Tue Jan 13", "580.142", "proprietary"},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build", "540.4.0", "open"},
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  1.02.03", "", ""},
		{"GCC version:  gcc version 12.2.0", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		v, flavour := parseModule(tt.in)
		if v.String() != tt.version || flavour != tt.flavour {
			t.Errorf("parseModule(%q) = %q, %q; want %q, %q", tt.in, v, flavour, tt.version, tt.flavour)
		}
	}
}

func TestParseSMI(t *testing.T) {
	r, err := parseSMI("535.183.01, 0, NVIDIA H100 80GB HBM3, GPU-0b2a8a5c-0000-1111-2222-333344445555, 00000000:3B:00.0, 81559, 9.0\n" +
		"535.183.01, 1, NVIDIA GB10, [N/A], [N/A], [Not Supported], [N/A]\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []machine.GPU{
		{Vendor: machine.NVIDIA, Name: "NVIDIA H100 80GB HBM3", SM: machine.MustSM("9.0"), UUID: "GPU-0b2a8a5c-0000-1111-2222-333344445555",
			PCIAddress: "0000:3b:00.0", MemoryBytes: 81559 << 20, Visible: true, Evidence: machine.FromSMI},
		{Vendor: machine.NVIDIA, Name: "NVIDIA GB10", Visible: true, Evidence: machine.FromSMI},
	}
	if diff := cmp.Diff(want, r.gpus); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "x, 0, a, b, c, d, 9.0", "\"a\n"} {
		if r, err := parseSMI(bad); err == nil {
			t.Errorf("parseSMI(%q) = %v; want an error", bad, r)
		}
	}
}

func TestGFXName(t *testing.T) {
	for v, want := range map[uint64]string{110000: "gfx1100", 90010: "gfx90a", 90402: "gfx942", 100306: "gfx1036", 110501: "gfx1151", 80003: "gfx803", 90012: "gfx90c", 120001: "gfx1201"} {
		if got := gfxName(v); got != want {
			t.Errorf("gfxName(%d) = %s; want %s", v, got, want)
		}
	}
}

func TestNVMLOwnVersion(t *testing.T) {
	for in, want := range map[string]string{"12.535.129.03": "535.129.03", "535.309.01": "535.309.01", "13.580.95.05": "580.95.05", "11.450.119.04": "450.119.04", "": "", "x": "", "1.2": ""} {
		if got := nvmlOwnVersion(in).String(); got != want {
			t.Errorf("nvmlOwnVersion(%q) = %q; want %q", in, got, want)
		}
	}
}

func TestParseWindowsDriver(t *testing.T) {
	for in, want := range map[string]string{"32.0.15.6636": "566.36", "31.0.15.5222": "552.22", "27.21.14.5671": "456.71", "1.2": "", "": ""} {
		if got := parseWindowsDriver(in).String(); got != want {
			t.Errorf("parseWindowsDriver(%q) = %q; want %q", in, got, want)
		}
	}
}

func TestChildEnv(t *testing.T) {
	got := childEnv([]string{"HOME=/h", "LD_PRELOAD=evil.so", "LD_BIND_NOW=1", "LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/opt/x::/usr/lib/wsl/lib"})
	want := []string{"HOME=/h", "LD_LIBRARY_PATH=/opt/x:/usr/lib/wsl/lib"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShortAddress(t *testing.T) {
	for in, want := range map[string]string{"00000000:3B:00.0": "0000:3b:00.0", "0000:3b:00.0": "0000:3b:00.0", "00010002:3B:00.0": "10002:3b:00.0", "": "", "x": "x"} {
		if got := shortAddress(in); got != want {
			t.Errorf("shortAddress(%q) = %q; want %q", in, got, want)
		}
	}
}

// FuzzParsers: whatever a driver's files or programs say, nothing panics, and no control
// character comes through.
func FuzzParsers(f *testing.F) {
	f.Add("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu")
	f.Add("535.183.01, 0, N, GPU-1, 00000000:3B:00.0, 81559, 9.0\n")
	f.Add("gfx_target_version 90010\n")
	f.Add("\n1002  AMD\n\t744c  Navi\n")
	f.Fuzz(func(t *testing.T, s string) {
		clean := func(s string) {
			if s != text.Printable(s) {
				t.Errorf("not printable: %q", s)
			}
		}
		parseModule(s)
		if r, err := parseSMI(s); err == nil {
			for _, g := range r.gpus {
				clean(g.Name + g.UUID + g.PCIAddress)
			}
		} else {
			clean(err.Error())
		}
		properties(s)
		clean(pciName(s, "1002:744c"))
		nvmlOwnVersion(s)
	})
}

// TestPatterns compiles what else would only panic on the machine that needs it.
func TestPatterns(t *testing.T) {
	for _, p := range []func() *regexp.Regexp{
		moduleText, libVersion,
	} {
		if p() == nil {
			t.Error("no pattern")
		}
	}
}
