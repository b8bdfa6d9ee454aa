package matrix

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/internal/machine"
	"envfix/internal/version"
)

// What is written is what is read; releases that say the same stand together.
func TestDists(t *testing.T) {
	floor := version.MustDotted("2.28")
	python, err := version.ParseSpecifier(">=3.10")
	if err != nil {
		t.Fatal(err)
	}
	linux := Files{OS: "linux", Arch: "x86_64", Tags: "cp310 cp39-abi3", Glibc: floor}
	asks := []string{"torch>=2.1,<2.9", "torchaudio; sys_platform == 'linux'"}
	text := EncodeDists([]Dist{
		{Package: "zeta", Versions: []string{"1.0"}, Files: []Files{{Sdist: true}}},
		{Package: "alpha", Versions: []string{"1.9"}, Unread: true},
		{Package: "alpha", Versions: []string{"1.2"}, Python: python, Requires: asks},
		{Package: "alpha", Versions: []string{"1.10"}, Python: python, Requires: asks},
		{Package: "alpha", Versions: []string{"1.8"}, Unread: true},
		{Package: "alpha", Versions: []string{"2.0"}, Files: []Files{linux, {OS: "macos", Tags: "py3", MacOS: version.MustDotted("14.0")}, {Sdist: true}}},
	}, "2026-11-23")
	m := withFile(t, DistsFile, string(text))
	got := m.DistsOf("alpha")
	if len(got) != 3 || m.HasDists("beta") || !m.HasDists("zeta") || m.DistsOf("beta") != nil {
		t.Fatalf("%d groups of alpha\n%s", len(got), text)
	}
	if d := got[1]; strings.Join(d.Versions, " ") != "1.10 1.2" || d.Python.String() != ">=3.10" || strings.Join(d.Requires, "|") != strings.Join(asks, "|") {
		t.Errorf("%+v", d)
	}
	if d := got[2]; !d.Unread || strings.Join(d.Versions, " ") != "1.9" {
		t.Errorf("%+v", d)
	}
	old, new := machine.Platform{OS: "linux", Arch: "x86_64", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.17")}}, machine.Platform{OS: "linux", Arch: "x86_64"}
	for _, c := range []struct {
		d      Dist
		python string
		p      machine.Platform
		want   Fit
	}{
		{got[0], "3.12", new, FitWheel}, {got[0], "3.12", old, FitSource}, {got[0], "3.8", new, FitSource},
		{got[1], "3.9", new, FitNone}, {got[1], "3.10", old, FitWheel}, {m.DistsOf("zeta")[0], "3.12", new, FitSource},
	} {
		if fit := c.d.Fit(c.python, c.p); fit != c.want {
			t.Errorf("%s %s: %v, want %v", c.d.Versions[0], c.python, fit, c.want)
		}
	}
}

func TestBadDists(t *testing.T) {
	for row, want := range map[string]string{
		`{package: "a", source: s, files: "linux-x86_64 nonsense", versions: "1.0"}`:                         "nonsense",
		`{package: "a", source: s, files: "linux-x86_64 py3 glibcx", versions: "1.0"}`:                       "dotted version",
		`{package: "a", source: s, requires: "torch"}`:                                                       "versions",
		`{package: "b", source: s, versions: "1.0"}` + "\n- " + `{package: "a", source: s, versions: "1.0"}`: "order of their names",
	} {
		text := "format: 1\nproof: metadata\nsources:\n  s: \"test\"\ndists:\n- " + row + "\n"
		if _, err := Load(overlaid(t, DistsFile, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// overlaid is the data with one file replaced.
func overlaid(t *testing.T, name, text string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, dir := range []string{"", "torch/"} {
		entries, err := os.ReadDir("../data/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if b, err := os.ReadFile("../data/" + dir + e.Name()); err == nil && strings.HasSuffix(e.Name(), ".yaml") {
				files[dir+e.Name()] = &fstest.MapFile{Data: b}
			}
		}
	}
	files[name] = &fstest.MapFile{Data: []byte(text)}
	return files
}

func withFile(t *testing.T, name, text string) *Matrix {
	t.Helper()
	m, err := Load(overlaid(t, name, text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
