package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/team"
	"envfix/internal/testindex"
)

func fileText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func lockedPackages(t *testing.T, profile string) map[string]string {
	t.Helper()
	k, err := lock.DecodePylock([]byte(fileText(t, lock.PylockName(profile))))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range k.Packages {
		out[p.Name] = p.Version
	}
	return out
}

// What is asked for stays asked for: a target or a package is added to the others,
// never put in their place, and nothing goes that was not named.
func TestLockKeepsWishes(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "rich", Version: "13.0"})
	mirror := []string{"--mirror", "default=" + x.URL}
	dir := t.TempDir()
	const written = "# our machines\nrequirements = [\n    \"torch\",  # the point\n]\n\n[targets]\nrtx = 'gpu=12.0 driver=580 python=3.12'\n"
	writeText(t, filepath.Join(dir, "envfix.toml"), written)
	wantExit(t, lockIn(t, dir, append([]string{"lock"}, mirror...)...), fail.OK)
	if got := fileText(t, "envfix.toml"); got != written {
		t.Errorf("renewing changed envfix.toml:\n%s", got)
	}
	steps := []struct {
		args     []string
		code     int
		packages string // of profile rtx
		profiles string
	}{
		{[]string{"lock", "--target", "laptop=os=macos python=3.12"}, fail.OK, "numpy torch", "laptop rtx"},
		{[]string{"lock", "rich"}, fail.OK, "numpy rich torch", "laptop rtx"},
		{[]string{"lock", "add", "torchvision"}, fail.OK, "numpy rich torch torchvision", "laptop rtx"},
		{[]string{"lock", "remove", "rich"}, fail.OK, "numpy torch torchvision", "laptop rtx"},
		{[]string{"lock", "remove", "nosuch"}, fail.Usage, "numpy torch torchvision", "laptop rtx"},
		{[]string{"lock", "target", "add", "win=os=windows gpu=none python=3.12 index=default"}, fail.OK, "numpy torch torchvision", "laptop rtx win"},
		{[]string{"lock", "target", "remove", "laptop"}, fail.OK, "numpy torch torchvision", "rtx win"},
		{[]string{"lock", "target", "remove", "laptop"}, fail.Usage, "numpy torch torchvision", "rtx win"},
		{[]string{"lock", "add", "no-such-package"}, fail.Failed, "numpy torch torchvision", "rtx win"},
		{[]string{"lock"}, fail.OK, "numpy torch torchvision", "rtx win"},
	}
	for _, s := range steps {
		wantExit(t, lockIn(t, dir, append(s.args, mirror...)...), s.code)
		l, err := (&team.Team{Dir: "."}).Read()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range lockedPackages(t, "rtx") {
			names = append(names, name)
		}
		if got := strings.Join(sorted(names), " "); got != s.packages {
			t.Errorf("%q: packages %s, want %s", s.args, got, s.packages)
		}
		if got := strings.Join(l.Names(), " "); got != s.profiles {
			t.Errorf("%q: profiles %s, want %s", s.args, got, s.profiles)
		}
		wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	}
	want := strings.Replace(written, "# the point\n", "# the point\n    \"torchvision\",\n", 1) + "win = \"gpu=none index=default os=windows python=3.12\"\n"
	if d := cmp.Diff(want, fileText(t, "envfix.toml")); d != "" {
		t.Errorf("envfix.toml (-want +got):\n%s", d)
	}
	if _, err := os.Stat("pylock.laptop.toml"); err == nil {
		t.Error("the pylock of a target that is gone is still there")
	}
}

func sorted(s []string) []string {
	out := append([]string{}, s...)
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// A project's own file says what is asked for where it has [tool.envfix], and
// commands edit its dependencies as `uv add` does.
func TestLockInPyproject(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	const text = `[project]
name = "ours"
version = "1"
requires-python = ">=3.12,<3.13" # the cluster's
dependencies = ["torch"]

[tool.envfix.targets]
rtx = "gpu=12.0 driver=580"

[tool.uv]
constraint-dependencies = ["numpy<2.4"]
`
	x.Add(testindex.Wheel{Name: "numpy", Version: "2.4.0"})
	writeText(t, filepath.Join(dir, "pyproject.toml"), text)
	wantExit(t, lockIn(t, dir, "lock", "add", "torchvision", "--mirror", "default="+x.URL), fail.OK)
	if d := cmp.Diff(strings.Replace(text, `["torch"]`, `["torch", "torchvision"]`, 1), fileText(t, "pyproject.toml")); d != "" {
		t.Errorf("pyproject.toml (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"torch": "2.15.0", "torchvision": "0.29.2", "numpy": "2.3.0"}, lockedPackages(t, "rtx")); d != "" {
		t.Errorf("packages: the constraint and requires-python count (-want +got):\n%s", d)
	}
	writeText(t, filepath.Join(dir, "pyproject.toml"), strings.Replace(text, "driver=580", "driver=580 python=3.11", 1))
	wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.Usage) // 3.11 beside ">=3.12"
}

// Nothing of a requirements file is dropped without a word: it is followed, or
// refused by name.
func TestLockFollowsRequirementsFiles(t *testing.T) {
	x := teamIndex(t)
	numpy := testindex.Wheel{Name: "numpy", Version: "2.3.0"}
	x.Add(testindex.Wheel{Name: "numpy", Version: "2.4.0"}, testindex.Wheel{Name: "six", Version: "1.17.0"})
	one := testindex.Wheel{Name: "one", Version: "1.0"}
	target := []string{"--target", "rtx=gpu=12.0 driver=580 python=3.12", "--mirror", "default=" + x.URL}
	tests := []struct {
		name, text string
		code       int
		want       map[string]string
	}{
		{"constraints", "torch\nnumpy\n-c limits.txt\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.3.0"}},
		{"a constraint on what others bring", "torch\n-c limits.txt\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.3.0"}},
		{"hashes", "torch\nnumpy==2.3.0 --hash=sha256:" + numpy.SHA256() + "\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.3.0"}},
		{"another hash", "torch\nnumpy==2.3.0 --hash=sha256:" + strings.Repeat("0", 64) + "\n", fail.Integrity, nil},
		{"an editable project", "torch\n-e ./libs/mylib\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.4.0", "mylib": "", "six": "1.17.0"}},
		{"a project", "torch\n./libs/mylib\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.4.0", "mylib": "", "six": "1.17.0"}},
		{"a wheel beside it", "torch\none @ file:./libs/" + one.Filename() + "\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.4.0", "one": "1.0"}},
		{"a wheel elsewhere", "torch\none @ file:///tmp/" + one.Filename() + "\n", fail.Usage, nil},
		{"a wheel's path", "torch\n./libs/" + one.Filename() + "\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.4.0", "one": "1.0"}},
		{"a wheel's address", "torch\none @ " + x.URL + "FILES\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.4.0", "one": "1.0"}},
		{"another index", "torch\n--extra-index-url https://corp.example/simple\n", fail.Usage, nil},
		{"find-links", "torch\n--find-links ./libs\n", fail.Usage, nil},
		{"releases before the final one", "torch\nearly\n--pre\n", fail.OK, map[string]string{"torch": "2.15.0", "numpy": "2.4.0", "early": "2.0rc1"}},
		{"an unknown option", "torch\n--surprise\n", fail.Usage, nil},
	}
	x.Add(one, testindex.Wheel{Name: "early", Version: "1.0"}, testindex.Wheel{Name: "early", Version: "2.0rc1"})
	for _, tt := range tests {
		dir := t.TempDir()
		text := strings.Replace(tt.text, x.URL+"FILES", fileURL(t, x, "one", one.Filename()), 1)
		writeText(t, filepath.Join(dir, "requirements.txt"), text)
		writeText(t, filepath.Join(dir, "limits.txt"), "numpy<2.4\n")
		writeText(t, filepath.Join(dir, "libs", one.Filename()), string(one.Bytes()))
		writeText(t, filepath.Join(dir, "libs/mylib/pyproject.toml"), "[project]\nname = 'mylib'\nversion = '0.3'\ndependencies = ['six']\n[build-system]\nrequires = []\nbuild-backend = 'x'\n")
		got := lockIn(t, dir, append([]string{"lock", "-r", "requirements.txt"}, target...)...)
		if got != tt.code {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.code)
		}
		if tt.want != nil && got == fail.OK {
			if d := cmp.Diff(tt.want, lockedPackages(t, "rtx")); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, d)
			}
			wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
		}
	}
}

// What [tool.uv] says beside packages is passed on, refused by name, or named.
func TestLockFollowsToolUV(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "early", Version: "1.0"}, testindex.Wheel{Name: "early", Version: "2.0rc1"})
	for _, tt := range []struct {
		setting string
		code    int
		says    string
	}{
		{"prerelease = 'allow'", fail.OK, ""},
		{"exclude-newer = '2020-01-01'", fail.Failed, "torch"}, // everything is newer
		{"find-links = ['x']", fail.Usage, "tool.uv.find-links"},
		{"no-binary-package = ['early']", fail.Usage, "tool.uv.no-binary-package"},
		{"no-build-isolation-package = ['early']", fail.OK, "tool.uv.no-build-isolation-package is not followed"},
		{"managed = false", fail.OK, ""},
	} {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, "pyproject.toml"), "[project]\nname = 'a'\nversion = '1'\ndependencies = ['torch', 'early']\n[tool.envfix.targets]\nrtx = 'gpu=12.0 driver=580 python=3.12'\n[tool.uv]\n"+tt.setting+"\n")
		code, said := lockSays(t, dir, "lock", "--mirror", "default="+x.URL)
		if code != tt.code || !strings.Contains(said, tt.says) || tt.says == "" && strings.Contains(said, "not followed") {
			t.Errorf("%s: exit %d, want %d, and says, without %q:\n%s", tt.setting, code, tt.code, tt.says, said)
		}
		if code != fail.OK {
			continue
		}
		want := "1.0"
		if strings.HasPrefix(tt.setting, "prerelease") {
			want = "2.0rc1"
		}
		if got := lockedPackages(t, "rtx")["early"]; got != want {
			t.Errorf("%s: early %s, want %s", tt.setting, got, want)
		}
		wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	}
}

// A target without a GPU stays current, whatever build the default index has for it.
func TestLockWithoutAGPUIsCurrent(t *testing.T) {
	x := teamIndex(t)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+x.URL, "--target", "none=gpu=none os=linux index=default python=3.12"), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
}

// fileURL is where an index serves a file.
func fileURL(t *testing.T, x *testindex.Index, name, file string) string {
	t.Helper()
	return strings.TrimSuffix(strings.TrimSuffix(x.URL, "/"), "/simple") + "/files/" + file
}

// Targets that differ only by Python or driver are allowed: the best that fits is
// taken.
func TestLockOverlappingTargets(t *testing.T) {
	x := teamIndex(t)
	torch := testindex.Torch("2.15.0", "13.2", "sm_120")
	torch.Tag = "cp311-cp311-manylinux_2_28_x86_64"
	x.Add(torch)
	dir := t.TempDir()
	wantExit(t, lockIn(t, dir, "lock", "torch", "--mirror", "default="+x.URL, "--only-index", "default",
		"--target", "py311=gpu=12.0 driver=580 python=3.11", "--target", "py312=gpu=12.0 driver=580 python=3.12"), fail.OK)
	plan := []string{"plan", "--gpu", "12.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}
	wantExit(t, lockIn(t, dir, plan...), fail.OK)
	wantExit(t, lockIn(t, dir, append(plan, "--profile", "py312")...), fail.OK)
}

// A name that is like a known one is refused with the flag that lets it pass, and that
// flag holds for the check and for whoever locks again.
func TestLockAsNamed(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "numpyy", Version: "1.0"})
	dir := t.TempDir()
	args := []string{"lock", "torch", "Numpyy", "--mirror", "default=" + x.URL, "--target", "cpu=gpu=none python=3.12 index=default"}
	wantExit(t, lockIn(t, dir, args...), fail.Usage)
	wantExit(t, lockIn(t, dir, append(args, "--as-named", "Numpyy")...), fail.OK)
	if got := lockedPackages(t, "cpu")["numpyy"]; got != "1.0" {
		t.Errorf("numpyy %q", got)
	}
	if got := fileText(t, "envfix.toml"); !strings.Contains(got, `as-named = ["numpyy"]`) {
		t.Errorf("envfix.toml:\n%s", got)
	}
	wantExit(t, lockIn(t, dir, "lock", "--check", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--mirror", "default="+x.URL), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--target", "gpu=none"), fail.Usage) // a description without a name
}

// What a lock holds that nobody asked for by name stays beside what is added, and "." is
// the project, as for a plan.
func TestLockKeepsTheUnasked(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "rich", Version: "13.0"})
	mirror := []string{"--mirror", "default=" + x.URL}
	for _, tt := range []struct {
		project string
		args    []string
		want    []string // asked for
	}{
		{"", []string{"lock"}, []string{"rich", "torch", "torchvision"}},
		{"[project]\nname = 'x'\nversion = '0'\ndependencies = ['torch']\n", []string{"lock", "."}, []string{"rich"}},
	} {
		dir := t.TempDir()
		if tt.project != "" {
			writeText(t, filepath.Join(dir, "pyproject.toml"), tt.project)
		}
		wantExit(t, lockIn(t, dir, append(append(tt.args, "--target", "rtx=gpu=12.0 driver=580 python=3.12"), mirror...)...), fail.OK)
		wantExit(t, lockIn(t, dir, append([]string{"lock", "add", "rich"}, mirror...)...), fail.OK)
		l, err := (&team.Team{Dir: "."}).Read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, l.Input.Requirements); diff != "" || (tt.project != "") != (len(l.Input.Sources) > 0) {
			t.Errorf("%s (-want +got):\n%s", tt.args, diff)
		}
		if got := lockedPackages(t, "rtx"); got["torch"] == "" || got["rich"] == "" {
			t.Errorf("%s: %v", tt.args, got)
		}
	}
}

// `lock .` takes the file that `plan .` takes, whatever it is called; where nothing was
// asked for, it is said that what lies there was not read.
func TestLockOfProject(t *testing.T) {
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "rich", Version: "13.0"})
	flags := []string{"--mirror", "default=" + x.URL, "--only-index", "default", "--target", "rtx=gpu=12.0 driver=580 python=3.12"}
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "requirements.txt"), "torch\nrich\n")
	code, out := lockSays(t, dir, append([]string{"lock"}, flags...)...)
	wantExit(t, code, fail.OK)
	if lockedPackages(t, "rtx")["rich"] != "" || !strings.Contains(out, "requirements.txt was not read: `envfix lock .`") {
		t.Errorf("not said what was not read:\n%s", out)
	}
	wantExit(t, lockIn(t, dir, append([]string{"lock", "."}, flags[:4]...)...), fail.OK)
	if lockedPackages(t, "rtx")["rich"] == "" {
		t.Error("the project's list was not read")
	}
}
