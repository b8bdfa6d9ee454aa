package probe

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
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

func TestParseOSRelease(t *testing.T) {
	got := parseOSRelease("# comment\nID=\"rocky\"\nID_LIKE='rhel centos fedora'\nVERSION_ID=9.4\nNAME=\"A \\\"quoted\\\" \x1b[31mname\"\n=x\nbroken\n")
	want := map[string]string{"ID": "rocky", "ID_LIKE": "rhel centos fedora", "VERSION_ID": "9.4", "NAME": `A "quoted" name`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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

func TestParseCondaRecord(t *testing.T) {
	tests := map[string]CondaRecord{
		"pytorch-2.3.0-py3.11_cuda12.1_cudnn8.9.2_0.json": {"pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0"},
		"pytorch-cuda-12.1-ha16c6d3_5.json":               {"pytorch-cuda", "12.1", "ha16c6d3_5"},
		"history":                                         {},
		"x.json":                                          {},
	}
	for in, want := range tests {
		if got, _ := parseCondaRecord(in); got != want {
			t.Errorf("parseCondaRecord(%q) = %v; want %v", in, got, want)
		}
	}
}

func TestRedact(t *testing.T) {
	tests := map[string]string{
		"http://ada:geheim@proxy.example:3128":                      "http://***@proxy.example:3128",
		"https://token@mirror.example/simple https://b:c@d.example": "https://***@mirror.example/simple https://***@d.example",
		"https://mirror.example/a@b":                                "https://mirror.example/a@b",
		"/usr/lib\x1b[2J":                                           "/usr/lib",
	}
	for in, want := range tests {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q; want %q", in, got, want)
		}
	}
}

// TestEnviron: the variables that matter are kept, secrets never.
func TestEnviron(t *testing.T) {
	h := sysroot.New(sysroot.Options{OS: "linux", Env: []string{
		"CUDA_VISIBLE_DEVICES=0", "PIP_INDEX_URL=https://ada:geheim@mirror.example/simple", "UV_INDEX_CORP_PASSWORD=geheim", "UV_INDEX_CORP_USERNAME=ada",
		"UV_PUBLISH_TOKEN=geheim", "NVIDIA_API_KEY=geheim", "HF_TOKEN=geheim", "AWS_SECRET_ACCESS_KEY=geheim", "EDITOR=vi", "broken", "=x",
	}})
	want := map[string]string{"CUDA_VISIBLE_DEVICES": "0", "PIP_INDEX_URL": "https://***@mirror.example/simple"}
	if diff := cmp.Diff(want, environ(h)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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

// pyenv's Pythons are found by its shims too: they are on PATH where HOME is another
// one, and the shims themselves start nothing there.
func TestPyenvBesideItsShims(t *testing.T) {
	h := buildRoot(t, "testdata/roots/centos7.txtar").host()
	want := pythonPrograms(h)
	h.Home = "/home/other"
	if diff := cmp.Diff(want, pythonPrograms(h)); diff != "" {
		t.Errorf("(-own home +another home):\n%s", diff)
	}
	if len(want) == 0 || slices.ContainsFunc(want, func(p string) bool { return strings.Contains(p, "/shims/") }) {
		t.Errorf("found %v", want)
	}
}

// FuzzParsers: whatever a machine's files or a program say, nothing panics, and
// no control character comes through.
func FuzzParsers(f *testing.F) {
	f.Add("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu", "ID=debian\n")
	f.Add("535.183.01, 0, N, GPU-1, 00000000:3B:00.0, 81559, 9.0\n", "gfx_target_version 90010\n")
	f.Add("Name: torch\nVersion: 2\nRequires-Dist: triton\n\nx", "__version__ = '2.3.0+cu121'\ncuda = '12.1'\n")
	f.Add("\n1002  AMD\n\t744c  Navi\n", "0x00 0xffffffff 0x0\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		clean := func(s string) {
			if s != text.Printable(s) {
				t.Errorf("not printable: %q", s)
			}
		}
		parseModule(a)
		for _, v := range parseOSRelease(b) {
			clean(v)
		}
		if r, err := parseSMI(a); err == nil {
			for _, g := range r.gpus {
				clean(g.Name + g.UUID + g.PCIAddress)
			}
		} else {
			clean(err.Error())
		}
		properties(b)
		clean(pciName(a, "1002:744c"))
		var d Dist
		d.metadata([]byte(a))
		clean(d.Name + d.Version + strings.Join(d.Requires, ""))
		if r, ok := parseCondaRecord(a); ok {
			clean(r.Name + r.Version + r.Build)
		}
		elfArch([]byte(a))
		peArch([]byte(b))
		machArch([]byte(a))
		nvmlOwnVersion(a)
		clean(Redact(a))
	})
}

// A shim of pyenv answers only where the version chosen there has the program: the
// program itself is what a plan may name.
func TestToolsBehindShims(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"shims/uv", "shims/pip", "shims/conda", "versions/3.11.7/bin/uv", "versions/3.11.7/bin/pip", "versions/3.12.1/bin/pip"} {
		path := filepath.Join(root, ".pyenv", file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\nexit 127\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	write := os.WriteFile(filepath.Join(root, ".pyenv/version"), []byte("3.12.1\n"), 0o644)
	if write != nil {
		t.Fatal(write)
	}
	shims := filepath.Join(root, ".pyenv/shims")
	o := Options{Env: []string{"HOME=" + root, "PATH=" + shims, "PYENV_ROOT=" + root + "/.pyenv"}}
	o.NVML = "off"
	m := Gather(context.Background(), o)
	got := map[string]string{}
	for _, tool := range m.Tools {
		if strings.HasPrefix(tool.Path, root) {
			got[tool.Name] = strings.TrimPrefix(tool.Path, root)
		}
	}
	want := map[string]string{"uv": "/.pyenv/versions/3.11.7/bin/uv", "pip": "/.pyenv/versions/3.12.1/bin/pip"}
	if !maps.Equal(got, want) {
		t.Errorf("tools %v, want %v", got, want)
	}
}
