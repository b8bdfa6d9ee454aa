package lock

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"envfix/internal/machine"
	"envfix/internal/version"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func packages() *Packages {
	return &Packages{
		LockVersion:    "1.0",
		Environments:   []string{"sys_platform == 'linux' and platform_machine == 'x86_64' and python_full_version >= '3.12' and python_full_version < '3.13'"},
		RequiresPython: "==3.12.*",
		CreatedBy:      "envfix",
		Packages: []Package{
			{Name: "torch", Version: "2.14.1+cu126", Index: "https://download.pytorch.org/whl/cu126", Wheels: []Wheel{{
				Name: "torch-2.14.1+cu126-cp312-cp312-manylinux_2_28_x86_64.whl", URL: "https://download.pytorch.org/whl/cu126/torch-2.14.1%2Bcu126-cp312-cp312-manylinux_2_28_x86_64.whl",
				Size: 900_000_000, Hashes: Hashes{digest}}}},
			{Name: "numpy", Version: "2.3.0", Wheels: []Wheel{{
				Name: "numpy-2.3.0-cp312-cp312-manylinux_2_28_x86_64.whl", URL: "https://files.example/numpy-2.3.0-cp312-cp312-manylinux_2_28_x86_64.whl",
				Size: 16_000_000, Hashes: Hashes{digest}}}},
		},
	}
}

func example(t *testing.T) (*Lock, []byte) {
	t.Helper()
	k, err := packages().Encode()
	if err != nil {
		t.Fatal(err)
	}
	v100 := Profile{
		Name: "v100", Torch: "2.14.1+cu126", Build: "cu126", CUDA: "12.6", CuDNN: "9.10.2.21", Python: "3.12", Arches: []string{"sm_70"},
		Match:   Match{OS: "linux", Arch: "x86_64", Libc: "glibc>=2.28", GPU: "nvidia", SMs: []string{"7.0"}, Driver: ">=525.60.13"},
		Driver:  Driver{Policy: "check-only", Branch: "580"},
		Pylock:  Pylock{File: "pylock.v100.toml", SHA256: Sum(k)},
		Size:    Size{Download: 916_000_000},
		Hosts:   []string{"files.example", "download.pytorch.org"},
		Verify:  []string{"torch.version.cuda == 12.6", "import torch"},
		Indexes: []Index{{"torch", "https://download.pytorch.org/whl/cu126"}},
	}
	return &Lock{
		Schema: Schema, RequiresEnvfix: ">=0.1", Matrix: Matrix{Version: "2026.11.2", SHA256: digest},
		Input:    Input{Requirements: []string{"torch", "numpy"}, Targets: []Target{{"v100", "driver=580 gpu=V100 os=linux python=3.12"}}},
		Profiles: []Profile{v100},
	}, k
}

func TestRoundTrip(t *testing.T) {
	l, _ := example(t)
	b, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	if d := cmp.Diff(l, got); d != "" {
		t.Errorf("decoded (-want +got):\n%s", d)
	}
	again, err := got.Encode()
	if err != nil || string(again) != string(b) {
		t.Errorf("a second Encode writes other bytes (%v)", err)
	}
}

// Every single-field change of lock and pylock must be refused. The fields are
// found in the text itself, so a new one is covered the day it is added.
func TestEveryChangeIsRefused(t *testing.T) {
	l, k := example(t)
	b, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	allow := func(string) bool { return true }
	accepts := func(lockText, pylock string) bool {
		got, err := Decode([]byte(lockText))
		if err != nil {
			return false
		}
		p, err := got.Profile("v100")
		if err != nil {
			return false
		}
		_, err = p.Bind([]byte(pylock), allow, allow)
		return err == nil
	}
	if !accepts(string(b), string(k)) {
		t.Fatal("the unchanged lock is refused")
	}
	changes := 0
	for _, m := range mutations(string(b)) {
		changes++
		if accepts(m, string(k)) {
			t.Errorf("accepted a changed lock:\n%s", firstDifference(string(b), m))
		}
	}
	for _, m := range mutations(string(k)) {
		changes++
		if accepts(string(b), m) {
			t.Errorf("accepted a changed pylock:\n%s", firstDifference(string(k), m))
		}
	}
	t.Logf("%d single-field changes, all refused", changes)
	if changes < 150 {
		t.Errorf("only %d changes were tried", changes)
	}
}

// mutations changes each value, drops each line, doubles each line and adds an
// unknown key after each line.
func mutations(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	join := func(l []string) string { return strings.Join(l, "\n") + "\n" }
	with := func(i int, repl ...string) string {
		return join(append(append(append([]string{}, lines[:i]...), repl...), lines[i+1:]...))
	}
	var out []string
	for i, line := range lines {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		out = append(out, with(i), with(i, line, line), with(i, line, "surprise = 1"))
		if j := strings.LastIndexAny(line, "0123456789abcdefghijklmnopqrstuvwxyz"); j >= 0 {
			c := byte('7')
			if line[j] == c {
				c = '3'
			}
			out = append(out, with(i, line[:j]+string(c)+line[j+1:]))
		}
	}
	return out
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return "- " + x[i] + "\n+ " + strings.Join(y[min(i, len(y)-1):min(i+1, len(y))], "")
		}
	}
	return "only longer"
}

// A person with commit rights can make all digests fit; what the two files say of
// each other, and the host allow-list, must then still hold.
func TestForgedDigests(t *testing.T) {
	forge := func(change func(*Lock, *Packages)) error {
		l, _ := example(t)
		k := packages()
		change(l, k)
		kb, err := marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		l.Profiles[0].Pylock.SHA256 = Sum(kb)
		b, err := l.Encode()
		if err != nil {
			return err
		}
		got, err := Decode(b)
		if err != nil {
			return err
		}
		_, err = got.Profiles[0].Bind(kb, func(index string) bool { return index == "https://download.pytorch.org/whl/cu126" },
			func(file string) bool { return strings.HasPrefix(file, "https://download.pytorch.org/") })
		return err
	}
	tests := map[string]func(*Lock, *Packages){
		"which is neither an index of the matrix": func(l *Lock, k *Packages) {
			k.Packages[0].Index = "https://download-pytorch.example/whl/cu126"
			l.Profiles[0].Indexes[0].URL = k.Packages[0].Index
		},
		"lies on look-alike-pytorch.org, which is neither its index": func(l *Lock, k *Packages) {
			k.Packages[0].Wheels[0].URL = strings.Replace(k.Packages[0].Wheels[0].URL, "download.pytorch.org", "look-alike-pytorch.org", 1)
			l.Profiles[0].Hosts = []string{"files.example", "look-alike-pytorch.org"}
		},
		"leaves the folder": func(l *Lock, k *Packages) {
			k.Packages[1].Wheels[0].URL, k.Packages[1].Wheels[0].Path = "", "../numpy-2.3.0-cp312-cp312-manylinux_2_28_x86_64.whl"
		},
		"want https without credentials": func(l *Lock, k *Packages) {
			k.Packages[1].Wheels[0].URL = "https://me:secret@files.example/numpy-2.3.0-cp312-cp312-manylinux_2_28_x86_64.whl"
		},
		"it has no sha256":            func(l *Lock, k *Packages) { k.Packages[0].Wheels[0].Hashes.SHA256 = "" },
		"its version is not":          func(l *Lock, k *Packages) { k.Packages[0].Version = "2.14.2+cu126" },
		"a wheel of torch":            func(l *Lock, k *Packages) { k.Packages[1].Wheels[0].Name = k.Packages[0].Wheels[0].Name },
		"stands twice":                func(l *Lock, k *Packages) { k.Packages = append(k.Packages, k.Packages[0]) },
		"want exactly one of wheels":  func(l *Lock, k *Packages) { k.Packages[0].Wheels = nil },
		"bytes to receive in one":     func(l *Lock, k *Packages) { k.Packages[0].Wheels[0].Size++ },
		"torch 2.9.0 in one":          func(l *Lock, k *Packages) { l.Profiles[0].Torch = "2.9.0" },
		"python 3.13 in one":          func(l *Lock, k *Packages) { l.Profiles[0].Python = "3.13" },
		"the index of torch":          func(l *Lock, k *Packages) { l.Profiles[0].Indexes[0].URL = "https://download.pytorch.org/whl/cu130" },
		"two profiles are called":     func(l *Lock, k *Packages) { l.Profiles = append(l.Profiles, l.Profiles[0]) },
		"profile name":                func(l *Lock, k *Packages) { l.Profiles[0].Name = "a.b" },
		"want pylock.v100.toml":       func(l *Lock, k *Packages) { l.Profiles[0].Pylock.File = "../pylock.v100.toml" },
		"url and name disagree":       func(l *Lock, k *Packages) { k.Packages[1].Wheels[0].URL = "https://files.example/evil.whl" },
		"want exactly one of url and": func(l *Lock, k *Packages) { k.Packages[1].Wheels[0].Path = k.Packages[1].Wheels[0].Name },
	}
	for want, change := range tests {
		if err := forge(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

func TestRefusedUnread(t *testing.T) {
	l, _ := example(t)
	good, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"it is empty":               " \n",
		"unresolved merge conflict": "<<<<<<< HEAD\n" + string(good),
		"schema 2 needs another":    strings.Replace(string(good), "schema = 1", "schema = 2", 1),
		"no schema number":          "[tool]\nx = 1\n",
		"not a text file":           "schema = 1\x00",
		"more than the 8 MiB":       "# " + strings.Repeat("x", MaxBytes),
		"unknown key surprise":      string(good) + "\n[surprise]\nx = 1\n",
		"edited by hand":            string(good) + "\n# a comment\n",
		"line 3: toml: invalid":     "schema = 1\n\n[[[\n",
	}
	for want, text := range tests {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

func host(sm, driver string) machine.Machine {
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.39")}}}
	if sm != "" {
		h.GPUs = []machine.GPU{{Vendor: machine.NVIDIA, SM: machine.MustSM(sm), Visible: true}}
	}
	if driver != "" {
		h.Driver = &machine.Driver{Version: version.MustDotted(driver)}
	}
	return h
}

func TestPick(t *testing.T) {
	l, _ := example(t)
	cpu := Profile{Name: "cpu", Match: Match{OS: "linux", Arch: "x86_64", Libc: "glibc>=2.28", GPU: "none"}}
	l.Profiles = append(l.Profiles, cpu)
	tests := []struct {
		h    machine.Machine
		want string // the profile, or its error and details in one line each
	}{
		{host("7.0", "580.95.05"), "v100"},
		{host("", ""), "cpu"},
		{host("7.0", "470.256.02"), "this machine matches no profile of envfix.lock\nv100  driver: needs >=525.60.13, this machine has 470.256.02\ncpu  gpu: needs none, this machine has nvidia"},
		{host("7.0", ""), "this machine matches no profile of envfix.lock\nv100  driver: needs >=525.60.13, this machine has no driver\ncpu  gpu: needs none, this machine has nvidia"},
		{host("8.0", "580.95.05"), "this machine matches no profile of envfix.lock\nv100  compute-capabilities: needs 7.0, this machine has 8.0\ncpu  gpu: needs none, this machine has nvidia"},
	}
	for _, tt := range tests {
		p, _, err := l.Pick(tt.h, false)
		var got string
		if pick, ok := err.(*PickError); ok {
			got = strings.Join(append([]string{pick.Text}, pick.Details...), "\n")
		} else {
			got = p.Name
		}
		if got != tt.want {
			t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
		}
	}
}

// Of several profiles that fit the best is taken, and why is said.
func TestPickBest(t *testing.T) {
	l, _ := example(t)
	base := l.Profiles[0] // 7.0, driver >=525.60.13, Python 3.12
	with := func(name string, change func(*Profile)) Profile {
		p := base
		p.Name = name
		change(&p)
		return p
	}
	newer := with("newer", func(p *Profile) { p.Match.Driver = ">=580.65.06" })
	older := with("py311", func(p *Profile) { p.Python = "3.11" })
	wider := with("wider", func(p *Profile) { p.Match.SMs = []string{"7.0", "7.5"} })
	active := host("7.0", "550.54.14")
	active.Pythons = []machine.Python{{Version: "3.11.9", Active: true}}
	tests := []struct {
		profiles []Profile
		h        machine.Machine
		want     string
	}{
		{[]Profile{base, newer}, host("7.0", "595.45.04"), "newer"},
		{[]Profile{base, newer}, host("7.0", "550.54.14"), base.Name},
		{[]Profile{wider, base}, host("7.0", "550.54.14"), base.Name},
		{[]Profile{base, older}, host("7.0", "550.54.14"), base.Name},
		{[]Profile{base, older}, active, "py311"},
	}
	for _, tt := range tests {
		l.Profiles = tt.profiles
		p, why, err := l.Pick(tt.h, false)
		if err != nil || p.Name != tt.want {
			t.Errorf("got %v (%v), want %s", p, err, tt.want)
		}
		if fits := len(tt.profiles[0].Match.Check(tt.h)) + len(tt.profiles[1].Match.Check(tt.h)); (why != "") != (fits == 0) {
			t.Errorf("%s: why is %q", tt.want, why)
		}
	}
}

func TestDrift(t *testing.T) {
	k := packages()
	have := map[string]string{}
	for _, p := range k.Packages {
		have[p.Name] = p.Version
	}
	if d := k.Drift(have); d.Differs() || len(d.Extra) > 0 {
		t.Errorf("what holds exactly the lock differs: %+v", d)
	}
	have["numpy"], have["rich"], have["pip"] = "1.0", "13.0", "26"
	delete(have, "torch")
	want := []string{"torch 2.14.1+cu126 is missing", "numpy 1.0, the lock has 2.3.0", "rich 13.0 is installed, and the lock does not name it"}
	if d := cmp.Diff(want, k.Drift(have).Lines()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Git for Windows writes CRLF for LF: the content is the same.
func TestLineEnds(t *testing.T) {
	l, _ := example(t)
	good, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode([]byte(strings.ReplaceAll(string(good), "\n", "\r\n"))); err != nil {
		t.Error(err)
	}
	b, err := packages().Encode()
	if err != nil {
		t.Fatal(err)
	}
	l.Profiles[0].Pylock.SHA256 = Sum(b)
	if _, err := l.Profiles[0].Bind([]byte(strings.ReplaceAll(string(b), "\n", "\r\n")), func(string) bool { return true }, func(string) bool { return true }); err != nil && strings.Contains(err.Error(), "sha256") {
		t.Error(err)
	}
}

func TestDiff(t *testing.T) {
	old, _ := example(t)
	now, _ := example(t)
	now.Matrix.Version = "2026.12.1"
	now.Profiles[0].Torch = "2.14.2+cu126"
	later := packages()
	later.Packages[1].Version = "2.3.1"
	later.Packages = append(later.Packages, Package{Name: "filelock", Version: "4.0"})
	got := Diff(old, now, func(l *Lock, _ string) *Packages {
		if l == old {
			return packages()
		}
		return later
	})
	want := []string{
		"matrix 2026.11.2 → 2026.12.1",
		"v100: torch 2.14.1+cu126 → 2.14.2+cu126",
		"v100: numpy 2.3.0 → 2.3.1",
		"v100: filelock 4.0 is new",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("diff (-want +got):\n%s", d)
	}
	if same := Diff(old, old, func(*Lock, string) *Packages { return packages() }); len(same) != 0 {
		t.Errorf("a lock differs from itself: %q", same)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("schema = 1\n"))
	f.Add([]byte("lock-version = '1.0'\n[[packages]]\nname='a'\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := Decode(b); err == nil {
			again, err := l.Encode()
			if err != nil || string(again) != string(b) {
				t.Errorf("accepted input does not encode to itself: %v", err)
			}
		}
		if p, err := DecodePylock(b); err == nil {
			if _, err := p.Encode(); err != nil {
				t.Errorf("accepted pylock does not encode: %v", err)
			}
		}
	})
}
