package propose

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// An index of files by their names, on loopback.
type files map[string][]byte

func (f files) wheel(name, v, tags string, requires ...string) {
	b := testindex.Wheel{Name: name, Version: v, Requires: requires}.Bytes()
	f[fmt.Sprintf("%s-%s-%s.whl", name, v, tags)] = b
}

// sdist adds an archive whose setup.py would leave a file where it is run.
func (f files) sdist(name, v, ran string, members map[string]string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	members["setup.py"] += fmt.Sprintf("open(%q, 'w')\nfrom setuptools import setup\nsetup()\n", ran)
	for _, inner := range slices.Sorted(maps.Keys(members)) {
		body := members[inner]
		_ = t.WriteHeader(&tar.Header{Name: name + "-" + v + "/" + inner, Mode: 0o644, Size: int64(len(body))})
		_, _ = t.Write([]byte(body))
	}
	_, _ = t.Close(), z.Close()
	f[fmt.Sprintf("%s-%s.tar.gz", name, v)] = b.Bytes()
}

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b, ok := f[filepath.Base(r.URL.Path)]; ok {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
		return
	}
	name := machine.NormalName(filepath.Base(r.URL.Path))
	var page strings.Builder
	for file := range f {
		if stem, _, _ := strings.Cut(file, "-"); machine.NormalName(stem) == name {
			fmt.Fprintf(&page, "<a href=\"/files/%s\">%s</a>\n", file, file)
		}
	}
	if page.Len() == 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<!DOCTYPE html><html><body>" + page.String() + "</body></html>"))
}

// asks is a loop on a machine without a GPU, and an index with every torch.
func asks(t *testing.T, f files) *Loop {
	t.Helper()
	m := matrix.Embedded()
	for _, release := range m.Releases {
		f.wheel("torch", release.Torch.String(), "py3-none-any")
	}
	f.wheel("numpy", "1.26.4", "py3-none-any")
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	h := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Bare,
		Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.35")}}}
	x := resolver.NewSession(m)
	return &Loop{UV: testindex.UV(t), Index: s.URL + "/simple", Platform: "x86_64-manylinux_2_35", System: h.Platform,
		Resolve:   func(r resolver.Request) *resolver.Choice { return x.Runs(h, r) },
		Framework: func(string) bool { return false }, Linked: func(string) bool { return false }, NoCode: func(string) string { return "" }, Wheels: func(string) bool { return false },
		Later: func(string) bool { return false }, Partly: func(string) bool { return false }, Removed: m.Removed}
}

func request(t *testing.T, lines ...string) resolver.Request {
	t.Helper()
	r := resolver.Request{CPU: true, Described: true, Today: "2026-11-21"}
	for _, l := range lines {
		q, err := pep508.Parse(l, "requirements.txt:1")
		if err != nil {
			t.Fatal(err)
		}
		r.Requirements = append(r.Requirements, q)
	}
	return r
}

func propose(t *testing.T, l *Loop, r resolver.Request) *Answer {
	t.Helper()
	a, err := l.Propose(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Older tools made zip archives; they are read as the others are.
func TestReadsAZip(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, body := range map[string]string{"old-1.0/PKG-INFO": "Metadata-Version: 1.0\nName: old\nVersion: 1.0\n",
		"old-1.0/old.egg-info/requires.txt": "numpy\n[de:python_version<'4']\nlang-de\n", "old-1.0/old/core.c": ""} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(body))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := Source{Name: "old", Version: "1.0"}
	if err := s.readZip(b.Bytes()); err != nil || s.Read != "egg-info" || !slices.Equal(s.Requires, []string{"numpy", `lang-de ; (python_version<'4') and extra == "de"`}) || s.Kind != "compiler" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := s.readZip(b.Bytes()[:40]); err == nil {
		t.Error("half an archive was read")
	}
}

// Without uv the index's files alone choose the Python: for the packages that are asked
// for, and for what those require.
func TestWithoutUVTheIndexChoosesThePython(t *testing.T) {
	f := files{}
	f.wheel("outer", "1.0", "py3-none-any", "inner<2")
	f.wheel("inner", "1.5", "cp310-cp310-manylinux_2_17_x86_64")
	f.wheel("inner", "2.0", "cp312-cp312-manylinux_2_17_x86_64")
	f.sdist("sourced", "1.0", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: sourced\nVersion: 1.0\n"})
	l := asks(t, f)
	l.UV = ""
	if a := propose(t, l, request(t, "torch", "sourced")); len(a.Build) != 1 || a.Build[0].Version != "1.0" {
		t.Errorf("built: %v", a.Build)
	}
	for line, python := range map[string]string{"outer": "3.12", "outer==1.0": "3.10", "inner<2": "3.10"} {
		if a := propose(t, l, request(t, "torch", line)); a.Python != python || a.Unasked == "" || len(a.Versions) > 0 {
			t.Errorf("%s: Python %s, want %s; %+v", line, a.Python, python, a)
		}
	}
}

// Sources that hold no code for the GPU are not built in vain.
func TestWhatServesNoGPUIsSetAside(t *testing.T) {
	f := files{}
	f.sdist("flash_attn", "2.8.3", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: flash-attn\nVersion: 2.8.3\n", "a.cu": ""})
	l := asks(t, f)
	for _, why := range []string{"", "flash-attn has no code for V100"} {
		l.NoCode = func(name string) string { return map[string]string{"flash-attn": why}[name] }
		a := propose(t, l, request(t, "torch", "numpy", "flash-attn"))
		if aside := slices.Contains(a.Aside, "flash-attn"); aside != (why != "") || aside == (len(a.Build) > 0) || aside && !slices.Contains(a.Said, "set aside: "+why) {
			t.Errorf("%q: aside %v, built %v, said %q", why, a.Aside, a.Build, a.Said)
		}
	}
}

// What has to be built is no reason beside a package that the matrix refuses, in either order.
func TestBuiltIsNoReasonBesideAnother(t *testing.T) {
	f := files{}
	for _, name := range []string{"later", "kernels"} {
		f.sdist(name, "1.0", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: " + name + "\nVersion: 1.0\n"})
	}
	l := asks(t, f)
	all := l.Resolve
	l.Wheels, l.Later = func(name string) bool { return name == "kernels" }, func(name string) bool { return name == "later" }
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		if pep508.Asks(r.Requirements, "kernels") || pep508.Asks(r.Requirements, "later") {
			return nil
		}
		return all(r)
	}
	for _, lines := range [][]string{{"later", "kernels"}, {"kernels", "later"}} {
		r := request(t, lines...)
		r.Requirements[0].From, r.Requirements[1].From = "", ""
		if a := propose(t, l, r); !slices.Equal(a.Plain, []string{"later"}) {
			t.Errorf("%q: %+v", lines, a)
		}
	}
}

// What does without its libraries stops no project, where the GPU is none of theirs.
func TestWhatWorksInPart(t *testing.T) {
	f := files{}
	f.wheel("partly", "1.0", "py3-none-any")
	l := asks(t, f)
	matrix := l.Resolve
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		if pep508.Asks(r.Requirements, "partly") {
			return nil
		}
		return matrix(r)
	}
	l.Partly = func(name string) bool { return name == "partly" }
	a := propose(t, l, request(t, "torch", "partly"))
	if said := strings.Join(a.Said, " "); a.Versions["partly"] != "1.0" || !strings.Contains(said, "partly is installed as it is asked for") {
		t.Errorf("%+v", a)
	}
}

// A framework's libraries for a GPU stop no project where none is here: it computes without.
func TestLibrariesForAGPUThatIsNotHere(t *testing.T) {
	f := files{}
	f.wheel("jax", "0.5.3", "py3-none-any")
	l := asks(t, f)
	matrix := l.Resolve
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		if pep508.Asks(r.Requirements, "jax") {
			return nil
		}
		return matrix(r)
	}
	l.Framework = func(name string) bool { return name == "jax" }
	if a := propose(t, l, request(t, "torch", "jax[cuda12]==0.5.3")); a.Versions["jax"] != "" {
		t.Errorf("a GPU is here: %+v", a)
	}
	l.NoGPU = true
	a := propose(t, l, request(t, "torch", "jax[cuda12]==0.5.3"))
	if said := strings.Join(a.Said, " "); a.Versions["jax"] != "0.5.3" || !strings.Contains(said, "jax[cuda12]==0.5.3 (requirements.txt:1) is installed as it is asked for") {
		t.Errorf("%+v", a)
	}
}

// A pin that has wheels for some Pythons alone decides the Python, and that is said.
func TestPinsOrderThePythons(t *testing.T) {
	f := files{}
	f.wheel("oldpin", "1.0", "cp310-cp310-manylinux_2_17_x86_64")
	f.wheel("oldpin", "2.0", "cp312-cp312-manylinux_2_17_x86_64")
	a := propose(t, asks(t, f), request(t, "torch", "oldpin==1.0"))
	if a.Python != "3.10" || a.Versions["oldpin"] != "1.0" {
		t.Errorf("%+v", a)
	}
	if said := strings.Join(a.Said, " "); !strings.Contains(said, "Python 3.10, not 3.12: oldpin==1.0 has no wheel for 3.12") {
		t.Error(said)
	}
}

// requires-python of the project bounds the choice.
func TestProjectsPython(t *testing.T) {
	f := files{}
	f.wheel("lib", "1.0", "py3-none-any")
	r := request(t, "torch", "lib")
	r.ProjectPython = ">=3.11,<3.12"
	if a := propose(t, asks(t, f), r); a.Python != "3.11" || len(a.Versions) == 0 {
		t.Errorf("%+v", a)
	}
}

// What has only source is described to uv by what its archive says; nothing of it runs.
func TestSourceIsReadAndNotRun(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	f := files{}
	f.sdist("onlysource", "1.4.2", ran, map[string]string{"PKG-INFO": "Metadata-Version: 1.0\nName: onlysource\nVersion: 1.4.2\n",
		"onlysource.egg-info/requires.txt": "needed>=1\n\n[extra]\nnever\n", "onlysource/kernel.cu": "", "setup.py": "import pkg_resources, os\n"})
	f.wheel("needed", "1.5", "py3-none-any")
	a := propose(t, asks(t, f), request(t, "torch", "onlysource"))
	if len(a.Build) != 1 || a.Build[0].Name != "onlysource" || a.Build[0].Read != "egg-info" || a.Build[0].Kind != "CUDA" {
		t.Fatalf("%+v", a)
	}
	if limits := fmt.Sprint(a.Build[0].Limits); !strings.HasPrefix(limits, "[setuptools<=") {
		t.Errorf("its setup.py imports what no later setuptools has: %s", limits)
	}
	if a.Versions["needed"] != "1.5" || a.Versions["onlysource"] != "1.4.2" {
		t.Error(a.Versions)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("its setup.py was run")
	}
}

// An archive that unpacks to much more than it is costs no more memory than another.
func TestArchiveOfZeros(t *testing.T) {
	f, members := files{}, map[string]string{}
	for i := range 100 {
		members[fmt.Sprintf("d%d/PKG-INFO", i)] = strings.Repeat("\x00", maxMember)
	}
	f.sdist("zeros", "1.0", "never", members)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := new(Source).read(f["zeros-1.0.tar.gz"]); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 100 { // a member is of one MiB
		t.Errorf("%d MiB were taken", n)
	}
}

// A project's own address is asked without the logins that this user has for its host.
func TestThreat13NoLoginForAProject(t *testing.T) {
	asked, login := 0, ""
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, login = asked+1, login+r.Header.Get("Authorization")
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(private.Close)
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine 127.0.0.1 login me password canary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := files{}
	f.wheel("lib", "1.0", "py3-none-any")
	for _, line := range []string{"lib @ " + private.URL + "/lib-1.0-py3-none-any.whl", "lib"} {
		l := asks(t, f)
		if line == "lib" {
			l.Override = request(t, "lib @ "+private.URL+"/lib-1.0-py3-none-any.whl").Requirements
		}
		asked = 0
		_, err := l.Propose(t.Context(), request(t, "torch", line))
		if login != "" || asked == 0 || err == nil {
			t.Errorf("%s: %d requests, login %q, %v", line, asked, login, err)
		}
	}
}

// A package that goes with an older torch alone gets that one, as the matrix admits it.
func TestAnotherTorch(t *testing.T) {
	f := files{}
	f.wheel("needsold", "1.0", "py3-none-any", "torch<2.8")
	a := propose(t, asks(t, f), request(t, "torch", "needsold"))
	if !strings.HasPrefix(strings.Join(a.Limits, " "), "torch==2.7") || a.Versions["needsold"] == "" {
		t.Errorf("%+v", a)
	}
}

// What others bring is chosen by the matrix, in the build that goes with torch.
func TestBrought(t *testing.T) {
	f := files{}
	f.wheel("tool", "1.0", "py3-none-any", "torchvision")
	f.wheel("torchvision", "0.1", "py3-none-any")
	m := matrix.Embedded()
	for _, release := range m.Releases {
		f.wheel("torchvision", release.Companions["torchvision"].String(), "py3-none-any")
	}
	a := propose(t, asks(t, f), request(t, "torch", "tool"))
	if newest := m.Releases[0].Companions["torchvision"].String(); !slices.Equal(a.Brought, []string{"torchvision"}) || a.Versions["torchvision"] == "0.1" || newest == "" {
		t.Errorf("%+v", a)
	}
}

// What is built keeps torch's family at what it imports, unless it asks first whether it
// is there.
func TestRemovedModules(t *testing.T) {
	l := asks(t, files{})
	for source, want := range map[string]string{
		"import numpy\nfrom torchvision.transforms.functional_tensor import rgb_to_grayscale\n":             "torchvision<0.17",
		"from torch._six import inf\nimport torchaudio.backend.sox_io\n":                                    "torch<2.0 torchaudio<2.9",
		"try:\n    from torchvision.transforms.functional_tensor import x\nexcept ImportError:\n    pass\n": "",
		"from torchvision.transforms.functional import x\nimport torch\n":                                   "",
		"from torch._sixty import inf\n":                                                                    "",
	} {
		if got := strings.Join(l.stale(imports([]byte(source))), " "); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
	f := files{}
	f.wheel("setuptools", "70.0", "py3-none-any")
	f.sdist("older", "1.0", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: older\nVersion: 1.0\n",
		"older/__init__.py": "from torch._six import inf\n"})
	a := propose(t, asks(t, f), request(t, "torch", "older"))
	if !slices.Contains(a.Limits, "torch<2.0") || !strings.HasPrefix(a.Versions["torch"], "1.") {
		t.Errorf("limits %q, torch %s: %q", a.Limits, a.Versions["torch"], a.Said)
	}
	a = propose(t, asks(t, f), request(t, "torch>=2.4", "older"))
	if len(a.Limits) > 0 || !strings.Contains(strings.Join(a.Said, "\n"), "older 1.0 imports what torch has no more since 2.0, and none before it runs here") {
		t.Errorf("limits %q: %q", a.Limits, a.Said)
	}
	l = asks(t, files{})
	l.Own = []string{"torch.nn", "torch._six.inf"} // the project's sources
	a = propose(t, l, request(t, "torch"))
	if !slices.Contains(a.Limits, "torch<2.0") || !slices.Contains(a.Said, "the project itself imports what torch has no more since 2.0: torch<2.0") {
		t.Errorf("limits %q: %q", a.Limits, a.Said)
	}
}

// What the project's own lock holds is held, as far as it runs here: torch's build only
// where the matrix admits it, and none of what the build of torch decides.
func TestLocked(t *testing.T) {
	f := files{}
	for _, v := range []string{"1.0", "1.5"} {
		f.wheel("lib", v, "py3-none-any", "deep")
		f.wheel("deep", v, "py3-none-any")
	}
	pins := func(lines ...string) []pep508.Requirement { return request(t, lines...).Requirements }
	l := asks(t, f)
	l.Locked = pins("lib==1.0", "deep==1.0", "triton==9.9", "torch==2.8.0+cu126")
	a := propose(t, l, request(t, "torch", "lib", "triton>=1"))
	if a.Versions["lib"] != "1.0" || a.Versions["deep"] != "1.0" || !slices.Contains(a.Limits, "torch==2.8.0") {
		t.Errorf("%+v", a)
	}
	l.Locked = pins("lib==1.0", "torch==0.4.1")
	a = propose(t, l, request(t, "torch", "lib"))
	if said := strings.Join(a.Said, " "); a.Versions["lib"] != "1.0" || !strings.Contains(said, "has torch==0.4.1, and no build of it runs here") {
		t.Errorf("%+v", a)
	}
	l.Locked = pins("lib==1.0", "deep==7")
	a = propose(t, l, request(t, "torch", "lib"))
	if said := strings.Join(a.Said, " "); a.Versions["lib"] != "1.5" || !strings.Contains(said, "is not followed: no set within it") {
		t.Errorf("%+v", a)
	}
}
