package matrix

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/internal/machine"
	"envfix/internal/version"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestNeeds: what torch's own wheels were built against, and what a companion asks
// for without saying so.
func TestNeeds(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct{ pkg, version, os, want string }{
		{"torch", "2.2.2", "linux", "numpy<2"},
		{"torch", "2.2.2", "macos", "numpy<2"},
		{"torch", "2.3.1", "linux", ""},
		{"torch", "2.3.1", "windows", "numpy<2"},
		{"torch", "2.4.0", "windows", ""},
		{"torch", "1.12.1", "linux", "setuptools<82numpy<2"},
		{"torchcodec", "0.13.0", "linux", "system>=4,<9torch>=2.11"},
		{"torchcodec", "0.2.1", "macos", "torch>=2.6,<2.7"},
		{"transformers", "5.20.2", "linux", "torch>=2.6"},
		{"requests", "2.32.0", "linux", ""},
	} {
		got := ""
		for _, n := range m.Needs {
			if n.Package == c.pkg && n.Versions.Admits(version.MustPython(c.version)) && (n.OS == "" || n.OS == c.os) && n.Arch == "" {
				got += n.Of + n.Range.String()
			}
		}
		if got != c.want {
			t.Errorf("%s %s on %s: %q, want %q", c.pkg, c.version, c.os, got, c.want)
		}
	}
}

// TestBackend: MPS begins above the tag of its wheel.
func TestBackend(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct{ torch, arch, want string }{
		{"2.11.0", "arm64", "14.0"}, {"2.9.0", "arm64", "14.0"}, {"2.8.0", "arm64", "13.0"}, {"2.4.1", "arm64", "12.3"}, {"2.2.2", "x86_64", "12.3"},
	} {
		b, ok := m.Backend("mps", version.MustPython(c.torch), "macos", c.arch)
		if !ok || b.MinOS.String() != c.want || (c.arch == "x86_64") != (b.GPUs == "amd" && b.Warning != "") {
			t.Errorf("%s %s: %+v %v, want %s", c.torch, c.arch, b, ok, c.want)
		}
	}
	if _, ok := m.Backend("mps", version.MustPython("2.8.0"), "linux", "x86_64"); ok {
		t.Error("MPS on Linux")
	}
}

func TestTagAdmits(t *testing.T) {
	for _, c := range []struct {
		tag, python string
		want        bool
	}{
		{"cp312", "3.12", true}, {"cp312", "3.13", false}, {"cp312", "3.12t", false}, {"cp313t", "3.13t", true}, {"cp313t", "3.13", false},
		{"cp39-abi3", "3.9", true}, {"cp39-abi3", "3.14", true}, {"cp39-abi3", "3.8", false}, {"cp310-abi3", "3.9", false}, {"cp39-abi3", "3.13t", false},
		{"py3", "3.9", true}, {"py3", "3.14t", true}, {"py3", "2.7", false}, {"py310", "3.9", false}, {"py310", "3.12", true}, {"py2", "3.9", false},
		{"", "3.9", false}, {"cp", "3.9", false}, {"cp312", "x", false}, {"cp312", "", false},
	} {
		if got := tagAdmits(c.tag, c.python); got != c.want {
			t.Errorf("%q in Python %q: %v", c.tag, c.python, got)
		}
	}
}

func TestFits(t *testing.T) {
	spec := func(s string) version.Specifier {
		v, err := version.ParseSpecifier(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := "1.0"
	m := &Matrix{Files: []Files{
		{Package: "a", Versions: v, OS: "linux", Arch: "x86_64", Tags: "cp39-abi3", Glibc: version.MustDotted("2.31")},
		{Package: "a", Versions: v, OS: "macos", Arch: "arm64", Tags: "cp312", MacOS: version.MustDotted("14.0")},
		{Package: "b", Versions: v, Tags: "py3", Requires: spec(">=3.10")},
		{Package: "c", Versions: v, Sdist: true},
		{Package: "d", Versions: v, OS: "linux", Arch: "x86_64", Tags: "cp312", Musl: version.MustDotted("1.2")},
	}}
	linux := func(kind, libc string) machine.Platform {
		p := machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: kind}}
		if libc != "" {
			p.Libc.Version = version.MustDotted(libc)
		}
		return p
	}
	mac := machine.Platform{OS: "macos", Arch: "arm64", DistroVersion: "13.7"}
	newMac := machine.Platform{OS: "macos", Arch: "arm64", DistroVersion: "14.0"}
	for _, c := range []struct {
		pkg, python string
		p           machine.Platform
		want        Fit
	}{
		{"a", "3.12", linux("glibc", "2.31"), FitWheel},
		{"a", "3.12", linux("glibc", "2.28"), FitNone},
		{"a", "3.12", linux("glibc", ""), FitWheel}, // not known: excludes nothing
		{"a", "3.12", linux("musl", "1.2"), FitNone},
		{"a", "3.8", linux("glibc", "2.39"), FitNone},
		{"a", "3.12", mac, FitNone},
		{"a", "3.12", newMac, FitWheel},
		{"a", "3.13", newMac, FitNone},
		{"b", "3.12", mac, FitWheel},
		{"b", "3.9", mac, FitNone},
		{"c", "3.9", mac, FitSource},
		{"d", "3.12", linux("musl", "1.2"), FitWheel},
		{"d", "3.12", linux("glibc", "2.39"), FitNone},
		{"e", "3.12", mac, FitUnknown},
	} {
		if got := m.Fits(c.pkg, version.MustPython("1.0"), c.python, c.p); got != c.want {
			t.Errorf("%s, Python %s on %s %v: %v, want %v", c.pkg, c.python, c.p.OS, c.p.Libc, got, c.want)
		}
	}
	for text, want := range map[string]bool{"1.0": true, "1.0 2.0": true, "2.0 1.0": true, "1.0.1 11.0": false, "11.0 1.0": true, "": false} {
		if hasWord(text, "1.0") != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
	if got := m.Fits("a", version.MustPython("2.0"), "3.12", mac); got != FitUnknown {
		t.Errorf("a version that nobody looked at: %v", got)
	}
}

// TestFilesOfTheIndex: what the files say where Requires-Python does not.
func TestFilesOfTheIndex(t *testing.T) {
	m := embedded(t)
	linux := func(glibc string) machine.Platform {
		return machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted(glibc)}}
	}
	for _, c := range []struct {
		pkg, version, python, glibc string
		want                        Fit
	}{
		{"vllm", "0.19.1", "3.12", "2.28", FitSource},
		{"vllm", "0.19.1", "3.12", "2.31", FitWheel},
		{"vllm", "0.11.2", "3.12", "2.28", FitWheel},
		{"vllm", "0.11.0", "3.9", "2.28", FitWheel},
		{"vllm", "0.11.1", "3.9", "2.28", FitNone},
		{"xformers", "0.0.29.post3", "3.13", "2.28", FitSource},
		{"xformers", "0.0.29.post3", "3.12", "2.28", FitWheel},
		{"torchvision", "0.20.1", "3.13", "2.28", FitNone},
	} {
		if got := m.Fits(c.pkg, version.MustPython(c.version), c.python, linux(c.glibc)); got != c.want {
			t.Errorf("%s %s, Python %s, glibc %s: %v, want %v", c.pkg, c.version, c.python, c.glibc, got, c.want)
		}
	}
}

// TestEncodeFiles: what is written is read back.
func TestEncodeFiles(t *testing.T) {
	m := embedded(t)
	fsys := fstest.MapFS{}
	for name, text := range good {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	fsys[FilesFile] = &fstest.MapFile{Data: EncodeFiles(m.Files, "2026-11-22")}
	got, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmpopts.IgnoreFields(Files{}, "Source")
	if d := cmp.Diff(m.Files, got.Files, same, ignore); d != "" {
		t.Error("(-written +read)\n" + d)
	}
}

func TestKnownName(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct {
		name  string
		real  bool
		meant string
	}{
		{"torchx", true, ""}, {"torchao", true, ""}, {"pytorch-lightning", true, ""}, {"pytorch", false, "torch"}, {"tourch", false, "torch"},
		{"tensor-flow", false, "tensorflow"}, {"jax", true, ""}, {"cupy-cuda13x", true, ""}, {"torch-scatter", true, ""}, {"torch-cluster", true, ""},
		{"some-company-thing", false, ""},
	} {
		if real, meant := m.KnownName(c.name); real != c.real || meant.Meant != c.meant {
			t.Errorf("%s: %v %q, want %v %q", c.name, real, meant, c.real, c.meant)
		}
	}
}

// What an index is asked about: what no row tells of, also where files are listed and where
// another package needs it.
func TestUnread(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct {
		name, spec string
		unread     bool
	}{
		{"vllm", "", false}, {"vllm", "==0.0.1", true}, {"torch-scatter", "", false}, {"flash-attn", "", false}, {"numpy", "", false},
		{"cuda-tile", "", true}, {"pynvvideocodec", "", true}, {"paddlepaddle-gpu", "==2.0.2", true}, {"paddlepaddle-gpu", "==2.6.2", false},
		{"some-company-thing", "", true},
	} {
		if spec, _ := version.ParseSpecifier(c.spec); m.Unread(c.name, spec) != c.unread {
			t.Errorf("%s%s: unread %v", c.name, c.spec, !c.unread)
		}
	}
}

// TestFrameworks: the newest of each for a platform, and what it asks of it.
func TestFrameworks(t *testing.T) {
	m := embedded(t)
	for _, c := range []struct{ pkg, os, arch, ask, cuda string }{
		{"tensorflow", "linux", "x86_64", "tensorflow[and-cuda]", "12.5"},
		{"tensorflow", "windows", "x86_64", "tensorflow", "11.2"},
		{"jax", "linux", "aarch64", "jax[cuda13]", "13"},
		{"onnxruntime-gpu", "windows", "x86_64", "onnxruntime-gpu[cuda,cudnn]", "13"},
		{"cupy-cuda12x", "linux", "x86_64", "cupy-cuda12x[ctk]", "12"},
	} {
		rows := m.FrameworksOf(c.pkg, c.os, c.arch)
		if len(rows) == 0 || rows[0].Ask != c.ask || rows[0].CUDA != c.cuda {
			t.Errorf("%v: %+v", c, rows)
		}
	}
	if rows := m.FrameworksOf("jax", "windows", "x86_64"); rows != nil {
		t.Errorf("jax computes on the CPU on Windows: %+v", rows)
	}
}

func TestElsewhereOf(t *testing.T) {
	m := embedded(t)
	rows := m.ElsewhereOf("flash-attn", "linux", "x86_64")
	if len(rows) < 3 || rows[0].SHA256 == "" || strings.Contains(rows[0].URL, "{") || !slices.Equal(rows[0].Archs, []string{"8.0", "9.0", "10.0", "12.0"}) {
		t.Errorf("%+v", rows)
	}
	for _, e := range m.Elsewhere {
		for _, word := range []string{"torch", "release", "cuda", "abi", "python", "version", "arch", "short", "digits", "exact", "system"} {
			if n := strings.Count(e.URL, "{"+word+"}"); n > 0 {
				e.URL = strings.ReplaceAll(e.URL, "{"+word+"}", "")
			}
		}
		if strings.ContainsAny(e.URL, "{}") {
			t.Errorf("%s: %s has a word that nothing fills", e.Package, e.URL)
		}
	}
}

// TestElsewherePlatforms: each package of a row is for the platforms of the row, the second as
// the first.
func TestElsewherePlatforms(t *testing.T) {
	m := embedded(t)
	for _, name := range []string{"torch-scatter", "torch-sparse", "torch-cluster", "cuml-cu12", "cuvs-cu12"} {
		if rows := m.ElsewhereOf(name, "linux", "x86_64"); len(rows) == 0 {
			t.Errorf("%s: no row for Linux", name)
		}
		for _, e := range m.Elsewhere {
			if e.Package == name && (e.OS == "" || e.Arch == "") {
				t.Errorf("%s at %s is for any platform", name, e.Source)
			}
		}
	}
}

// TestFrameworkFloors: a row with a CUDA and without the oldest driver of a system it is
// for would let any driver do there.
func TestFrameworkFloors(t *testing.T) {
	const head = "format: 1\nproof: documentation\nsources: {s: a source}\nframeworks:\n- {package: f, ask: \"f[cuda]\", versions: \">=1\", cuda: \"13\", source: s, "
	for _, c := range []struct{ keys, want string }{
		{`driver: "580.65.06", driver_windows: "580"`, ""},
		{`driver: "580.65.06"`, "for Windows and WSL 2 (driver_windows)"},
		{`on: linux-x86_64, driver: "580.65.06"`, "for Windows and WSL 2 (driver_windows)"},
		{`on: linux-aarch64, driver: "580.65.06"`, ""},
		{`on: linux-aarch64, driver_windows: "580"`, "for Linux (driver)"},
		{`on: windows-x86_64, driver_windows: "580"`, ""},
		{`on: windows-x86_64, driver: "580.65.06"`, "for Windows and WSL 2 (driver_windows)"},
	} {
		_, faults := read(changed(t, "frameworks.yaml", "", head+c.keys+"}\n"), false)
		var got []string
		for _, f := range faults {
			got = append(got, f.String())
		}
		all := strings.Join(got, "\n")
		if c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("%s: %q, want %q", c.keys, all, c.want)
		}
	}
}
