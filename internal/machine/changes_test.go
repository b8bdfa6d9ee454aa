package machine

import (
	"testing"

	"envfix/internal/version"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Machine)
		want   []string
	}{
		{"nothing", func(*Machine) {}, nil},
		{"what changes no plan", func(m *Machine) {
			m.Platform.Kernel, m.Platform.BootID, m.Notes = "6.8.0-50-generic", "c", nil
			m.Installed, m.GPUs[0].MemoryBytes, m.Driver.Evidence = nil, 1, FromProc
			m.Tools, m.Privilege = append(m.Tools, Tool{Name: "conda"}, Tool{Name: "git"}), "root"
		}, nil},
		{"a new driver", func(m *Machine) {
			m.Driver = &Driver{Version: version.MustDotted("570.26"), KernelModule: "proprietary", LoadedVersion: version.MustDotted("570.26")}
		},
			[]string{"driver 580.95.05 → 570.26", "kernel module open → proprietary", "loaded driver 580.95.05 → 570.26"}},
		{"no driver", func(m *Machine) { m.Driver = nil }, []string{"driver 580.95.05 → none"}},
		{"not loaded", func(m *Machine) { m.Driver.NotLoaded, m.Driver.LoadedVersion = true, version.Dotted{} }, []string{"loaded driver 580.95.05 → not loaded"}},
		{"another GPU", func(m *Machine) { m.GPUs[0].Name, m.GPUs[0].SM = "NVIDIA L4", MustSM("8.9") },
			[]string{"GPU 0 Tesla V100-SXM2-32GB (7.0) → NVIDIA L4 (8.9)"}},
		{"the same model again", func(m *Machine) { m.GPUs[0].UUID = "GPU-x" }, []string{"GPU 0: another Tesla V100-SXM2-32GB (7.0) stands there"}},
		{"a GPU less", func(m *Machine) { m.GPUs = m.GPUs[:1] }, []string{"GPU is gone: AMD Radeon RX 7900 XTX (gfx1100)"}},
		{"a GPU more", func(m *Machine) { m.GPUs = append(m.GPUs, GPU{Index: 2, Vendor: Intel, PCIID: "8086:56a0"}) }, []string{"GPU is new: intel 8086:56a0"}},
		{"a GPU lost", func(m *Machine) { m.GPUs[0].Visible = false }, []string{"GPU 0 usable → not usable"}},
		{"MIG", func(m *Machine) { m.GPUs[0].MIG = "1g.5gb" }, []string{"GPU 0: MIG none → 1g.5gb"}},
		{"another system", func(m *Machine) {
			m.Platform.DistroVersion, m.Platform.Libc, m.Platform.Environment = "22.04", &Libc{Kind: "glibc", Version: version.MustDotted("2.35")}, Container
		},
			[]string{"operating system linux ubuntu 24.04 → linux ubuntu 22.04", "C library glibc 2.39 → glibc 2.35", "environment bare → container"}},
		{"the installer is gone", func(m *Machine) { m.Tools = nil }, []string{"uv /home/ada/.local/bin/uv → none"}},
		{"the installer moved", func(m *Machine) { m.Tools = []Tool{{Name: "uv", Path: "/usr/bin/uv"}} }, []string{"uv /home/ada/.local/bin/uv → /usr/bin/uv"}},
		{"less privilege", func(m *Machine) { m.Privilege = "none" }, []string{"privilege sudo → none"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, now := full(), full()
			tt.change(&now)
			if diff := cmp.Diff(tt.want, Changes(before, now), cmp.Transformer("plain", func(d differences) []string { return d })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// A new tool changes no step, but makes another machine; a UUID the other way.
		})
	}
}

func TestAnonymize(t *testing.T) {
	m := full()
	m.GPUs[0].UUID = "GPU-5f3b1c1e-0000-1111-2222-333344445555"
	m.Platform.Kernel = "6.8.0-node7"
	m.Pythons[0].Path = "/home/ada/secret-project/.venv/bin/python3"
	m.Tools = []Tool{{Name: "uv", Path: "/Users/ada/uv"}, {Name: "conda", Path: `C:\Users\Ada L\miniconda3\conda.exe`}, {Name: "pip", Path: "/root"}, {Name: "git", Path: "/rootfs/bin/git"}}
	m.Env = map[string]string{
		"LD_LIBRARY_PATH":        "/usr/local/cuda/lib64:/home/ada/x/lib:/data/node7/lib",
		"NVIDIA_VISIBLE_DEVICES": "GPU-5f3b1c1e-0000-1111-2222-333344445555,MIG-5f3b1c1e-0000-1111-2222-333344445555",
		"PIP_INDEX_URL":          "https://mirror.corp.example/simple",
	}
	m.Notes = []string{"cannot read /home/ada/.bashrc"}
	want := full()
	want.Platform.BootID, want.Platform.Kernel = "", "6.8.0-…"
	want.GPUs[0].UUID = ""
	want.Pythons[0].Path = "~/…/python3"
	want.Tools = []Tool{{Name: "uv", Path: "~/…"}, {Name: "conda", Path: `~\…\conda.exe`}, {Name: "pip", Path: "~"}, {Name: "git", Path: "/rootfs/bin/git"}}
	want.Env = map[string]string{
		"LD_LIBRARY_PATH":        "/usr/local/cuda/lib64:~/…/lib:/data/…/lib",
		"NVIDIA_VISIBLE_DEVICES": "GPU-…,MIG-…",
		"PIP_INDEX_URL":          "https://…/simple",
	}
	want.Notes = []string{"cannot read ~/…"}
	original := string(m.Encode())
	got := m.Anonymize("node7", "ada", "x")
	if diff := cmp.Diff(string(want.Encode()), string(got.Encode())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(original, string(m.Encode())); diff != "" {
		t.Errorf("the original changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(string(got.Encode()), string(got.Anonymize("node7", "ada").Encode())); diff != "" {
		t.Errorf("twice is not once (-once +twice):\n%s", diff)
	}
}

func TestParseSM(t *testing.T) {
	for in, want := range map[string]SM{"9.0": {9, 0}, "sm_90": {9, 0}, "compute_120": {12, 0}, "121": {12, 1}, "7.5": {7, 5}} {
		if got, err := ParseSM(in); err != nil || got != want {
			t.Errorf("ParseSM(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "9", "x", "9.10", "0.5", "sm_", "-1.0", "99.0", "9.0a"} {
		if got, err := ParseSM(in); err == nil {
			t.Errorf("ParseSM(%q) = %v; want an error", in, got)
		}
	}
}

func TestParseLibc(t *testing.T) {
	tests := map[string]string{"glibc-2.28": "glibc 2.28", "GLIBC-2.17": "glibc 2.17", "musl-1.2": "musl 1.2", "musl": "musl"}
	for in, want := range tests {
		if l, err := ParseLibc(in); err != nil || l.String() != want {
			t.Errorf("ParseLibc(%q) = %q, %v; want %q", in, l.String(), err, want)
		}
	}
	for _, in := range []string{"", "glibc", "glibc-x", "bionic-1", "2.28"} {
		if l, err := ParseLibc(in); err == nil {
			t.Errorf("ParseLibc(%q) = %q; want an error", in, l.String())
		}
	}
}
