package machine

import (
	"unicode/utf16"

	"strings"
	"testing"

	"envfix/internal/version"

	"github.com/google/go-cmp/cmp"
)

// full is a machine with every field set.
func full() Machine {
	on, cuda := true, "12.6"
	return Machine{
		Format: Format,
		Platform: Platform{OS: "linux", Arch: "x86_64", Distro: "ubuntu", DistroLike: "debian", DistroVersion: "24.04",
			Libc: &Libc{Kind: "glibc", Version: version.MustDotted("2.39")}, Kernel: "6.8.0-45-generic", Environment: Bare, SecureBoot: &on, BootID: "b"},
		Privilege: "sudo",
		GPUs: []GPU{{Index: 0, Vendor: NVIDIA, Name: "Tesla V100-SXM2-32GB", SM: MustSM("7.0"), UUID: "GPU-5f3b1c1e-0000-1111-2222-333344445555", PCIID: "10de:1db5",
			Subsystem: "10de:1249", PCIAddress: "0000:3b:00.0", MemoryBytes: 34359738368, Visible: true, KernelDriver: "nvidia", Evidence: FromNVML},
			{Index: 1, Vendor: AMD, Name: "AMD Radeon RX 7900 XTX", GFX: "gfx1100", Visible: true, Evidence: FromKFD}},
		Driver:    &Driver{Version: version.MustDotted("580.95.05"), KernelModule: "open", LoadedVersion: version.MustDotted("580.95.05"), Evidence: FromNVML},
		Toolkits:  []Toolkit{{Version: version.MustDotted("11.8"), Path: "/usr/local/cuda-11.8"}},
		Pythons:   []Python{{Version: "3.12.4", Path: "/usr/bin/python3", Active: true, ExternallyManaged: true}},
		Installed: []Package{{Name: "torch", Version: "2.6.0+cu126", CUDA: &cuda, Requires: []string{"triton==3.2.0"}}},
		Tools:     []Tool{{Name: "uv", Version: "0.9.8", Path: "/home/ada/.local/bin/uv"}},
		Env:       map[string]string{"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
		Notes:     []string{"nvml: library not found"},
	}
}

func TestRoundTrip(t *testing.T) {
	data := full().Encode()
	m, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(m.Encode())); diff != "" {
		t.Errorf("encode, decode, encode (-first +second):\n%s", diff)
	}
}

func TestEncodeEmpty(t *testing.T) {
	want := `{
  "format": 1,
  "platform": {
    "os": "linux",
    "arch": "x86_64",
    "libc": null
  },
  "gpus": [],
  "driver": null,
  "cuda_toolkits": [],
  "pythons": [],
  "installed": [],
  "tools": [],
  "env": {},
  "notes": []
}
`
	got := string(Machine{Platform: Platform{OS: "linux", Arch: "x86_64"}}.Encode())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDecodeByHand: what a person would write, and what a newer envfix may add.
func TestDecodeByHand(t *testing.T) {
	m, err := Decode([]byte(`{"format": 1, "platform": {"os": "Linux", "arch": "amd64", "distro": null, "libc": {"kind": "glibc", "version": ""}, "moon": 3},
		"gpus": [{"name": "RTX\u001b[31m 5090", "pci_id": "0x10DE:0x2B85", "compute_capability": null, "mig": null}, {"name": "Radeon", "gfx": "gfx1100"}],
		"driver": {"version": "570.86.16", "loaded_version": null}, "installed": [{"name": "Torch_Vision", "version": "0.21.0"}],
		"env": {"CUDA_VISIBLE_DEVICES": 0, "PYTHONNOUSERSITE": true, "X": null, "Y": "\u0041"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Machine{Format: Format, Platform: Platform{OS: "linux", Arch: "x86_64", Libc: &Libc{Kind: "glibc"}},
		GPUs:   []GPU{{Index: 0, Vendor: NVIDIA, Name: "RTX 5090", PCIID: "10de:2b85"}, {Index: 1, Vendor: AMD, Name: "Radeon", GFX: "gfx1100"}},
		Driver: &Driver{Version: version.MustDotted("570.86.16")}, Installed: []Package{{Name: "torch-vision", Version: "0.21.0"}},
		Env: map[string]string{"CUDA_VISIBLE_DEVICES": "0", "PYTHONNOUSERSITE": "true", "X": "", "Y": "A"}}
	if diff := cmp.Diff(string(want.Encode()), string(m.Encode())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNormal: whatever was gathered can be read again.
func TestNormal(t *testing.T) {
	m := full()
	m.GPUs[0].Name = strings.Repeat("ä", 300)
	m.Installed = append(m.Installed, Package{Name: strings.Repeat("x", 300), Version: "1"})
	m.Notes = make([]string, maxList+1)
	m = Normal(m)
	if len(m.GPUs[0].Name) != 256 || len(m.Installed) != 1 || len(m.Notes) != maxList {
		t.Errorf("name of %d bytes, %d packages, %d notes", len(m.GPUs[0].Name), len(m.Installed), len(m.Notes))
	}
	if _, err := Decode(m.Encode()); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	const start = `{"format": 1, "platform": {"os": "linux", "arch": "x86_64"}`
	tests := []struct{ name, in, want string }{
		{"empty", " \n", "empty: facts are JSON, as `envfix facts --json` prints them"},
		{"truncated", start + `, "gpus": [{"index": 0`, "the file ends too early: its JSON is cut off"},
		{"garbage", "{]", "not JSON: invalid character ']' looking for beginning of object key string (byte 2)"},
		{"two values", start + "} {}", "not JSON: invalid character '{' after top-level value (byte 62)"},
		{"a list", "[1]", "not a JSON object: facts are JSON, as `envfix facts --json` prints them"},
		{"not UTF-8", "{\"format\": 1, \"x\": \"\xff\"}", "not UTF-8 text: facts are JSON, as `envfix facts --json` prints them"},
		{"UTF-16 that is cut off", "\xff\xfe{\x00", "the file ends too early: its JSON is cut off"},
		{"too large", strings.Repeat(" ", MaxBytes+1), "larger than 1024 KiB: facts are a few KiB of JSON"},
		{"newer", `{"format": 2, "platform": 7}`, "these facts need a newer envfix: their format is 2, this envfix reads 1"},
		{"no format", `{"platform": {}}`, "no `\"format\": 1`: these are not facts as `envfix facts --json` prints them"},
		{"a format that is none", `{"format": -1}`, "format -1 is none: these are not facts as `envfix facts --json` prints them"},
		{"wrong kind", start + `, "gpus": {}}`, "gpus: a list belongs there"},
		{"text for a number", start + `, "gpus": [{"memory_bytes": "80 GB"}]}`, "gpus.memory_bytes: a whole number belongs there"},
		{"no system", `{"format": 1}`, "platform.os is missing: one of linux, windows, macos"},
		{"unknown system", `{"format": 1, "platform": {"os": "plan9", "arch": "x86_64"}}`, `platform.os: "plan9" is none of linux, windows, macos`},
		{"an architecture of evil", `{"format": 1, "platform": {"os": "linux", "arch": "x86_64; rm -rf /"}}`, `platform.arch: "x86_64; rm -rf /" is not an architecture such as x86_64 or aarch64`},
		{"C library", `{"format": 1, "platform": {"os": "linux", "arch": "x86_64", "libc": {"kind": "bionic"}}}`, `platform.libc.kind: "bionic" is none of glibc, musl`},
		{"capability", start + `, "gpus": [{"compute_capability": "-1"}]}`, `"-1" is not a compute capability such as 8.6 or sm_86`},
		{"memory", start + `, "gpus": [{"memory_bytes": -5}]}`, "gpus[0].memory_bytes: -5 is not the size of a GPU's memory in bytes"},
		{"vendor", start + `, "gpus": [{"vendor": "matrox"}]}`, `gpus[0].vendor: "matrox" is none of nvidia, amd, intel, apple`},
		{"one index twice", start + `, "gpus": [{"index": 1}, {"index": 1}]}`, "gpus[1].index: 1 stands there twice"},
		{"PCI id", start + `, "gpus": [{"pci_id": "10de"}]}`, `gpus[0].pci_id: "10de" is not vendor:device such as 10de:1db5`},
		{"driver text", start + `, "driver": {"version": "9999;rm"}}`, `"9999;rm" is not a dotted version number`},
		{"driver number", start + `, "driver": {"version": "12.6"}}`, "driver: 12.6 is not the version of an NVIDIA driver such as 580.95.05"},
		{"driver without version", start + `, "driver": {}}`, "driver: no version; write `\"driver\": null` where there is no driver"},
		{"toolkit", start + `, "cuda_toolkits": [{"version": "", "path": "/x"}]}`, `cuda_toolkits[0].version: "" is not a CUDA version such as 12.6`},
		{"Python", start + `, "pythons": [{"version": "three"}]}`, `pythons[0].version: "three" is not a Python version such as 3.12.4`},
		{"environment", `{"format": 1, "platform": {"os": "linux", "arch": "x86_64", "environment": "cloud"}}`, `platform.environment: "cloud" is none of bare, wsl2, container, container-build, jetson, hpc-login`},
		{"a list as a variable", start + `, "env": {"A": [1]}}`, "env: text belongs there"},
		{"many GPUs", start + `, "gpus": [{}` + strings.Repeat(",{}", maxGPUs) + `]}`, "gpus: 1025 entries; no machine has more than 1024"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.in))
			if err == nil {
				t.Fatal("accepted")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzDecode: no panic, and what is accepted decodes to itself.
func FuzzDecode(f *testing.F) {
	f.Add(full().Encode())
	f.Add([]byte(`{"format":1,"platform":{"os":"darwin","arch":"arm64"},"gpus":[{},{"index":0}]}`))
	f.Add([]byte(`{"format":1,"platform":{"os":"linux","arch":"aarch64"},"env":{"A":"\u202e\ud800"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Errorf("the error is not printable: %q", err)
			}
			return
		}
		first := m.Encode()
		again, err := Decode(first)
		if err != nil {
			t.Fatalf("encoded facts are refused: %v\n%s", err, first)
		}
		if diff := cmp.Diff(string(first), string(again.Encode())); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
		if Changes(m, again) != nil {
			t.Error("decoding changed the fingerprint")
		}
		m.Anonymize("ada", "node7")
	})
}

// What PowerShell writes for `envfix facts --json > facts.json` is read, too.
func TestDecodeReadsWhatPowerShellWrites(t *testing.T) {
	const text = `{"format": 1, "platform": {"os": "windows", "arch": "x86_64"}, "notes": ["café"]}`
	want, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	little, big := []byte{0xff, 0xfe}, []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(text)) {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	for name, data := range map[string][]byte{"little": little, "big": big, "mark": []byte("\xef\xbb\xbf" + text)} {
		got, err := Decode(data)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}
