package matrix

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"envfix/data"

	"github.com/google/go-cmp/cmp"
)

// edited is the embedded data with one piece of text replaced.
func edited(t *testing.T, file, old, new string) *Matrix {
	t.Helper()
	fsys := fstest.MapFS{}
	names, _ := files(data.FS)
	for _, name := range names {
		text, err := data.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == file {
			if !strings.Contains(string(text), old) {
				t.Fatalf("%s does not hold %q", file, old)
			}
			text = []byte(strings.Replace(string(text), old, new, 1))
		}
		fsys[name] = &fstest.MapFile{Data: text}
	}
	m, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDiff(t *testing.T) {
	m := Embedded()
	for _, tt := range []struct {
		name, file, old, new string
		want                 []string
	}{
		{"nothing", "matrix.yaml", `version: "` + m.Version + `"`, `version: "2099.1.1"`, nil},
		{"a row moved", "torch/2.15.yaml", "releases:", "# a comment\n\nreleases:", nil},
		{"a date", "torch/2.15.yaml", "2026-10-28", "2026-10-29", []string{"torch 2.15.0: date: 2026-10-28 → 2026-10-29"}},
		{"a library of a set", "torch/2.15.yaml", `cudnn: "9.26.0.51", nccl: "2.30.7", triton: "3.9.0", cubins: "7.5 `, `cudnn: "9.26.0.52", nccl: "2.30.7", triton: "3.9.0", cubins: "7.5 `,
			[]string{"torch 2.15.0 cu132 linux x86_64: cudnn: 9.26.0.51 → 9.26.0.52"}},
		{"a generation", "arches.yaml", "name: Volta", "name: Volt", []string{"capability 7.0: name: Volta → Volt"}},
	} {
		var got []string
		for _, c := range Diff(m, edited(t, tt.file, tt.old, tt.new)) {
			got = append(got, c.String())
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	less := *m
	less.Defects = m.Defects[1:]
	less.Releases = m.Releases[1:]
	var gone, new int
	for _, c := range Diff(m, &less) {
		if strings.HasSuffix(c.String(), ": gone") {
			gone++
		}
	}
	for _, c := range Diff(&less, m) {
		if strings.HasSuffix(c.String(), ": new") {
			new++
		}
	}
	if want := 2 + len(m.Releases[0].Builds); gone != want || new != want {
		t.Errorf("%d gone, %d new; want %d", gone, new, want)
	}
}

// What is recorded of libraries reads back as it was.
func TestEncodeLibraries(t *testing.T) {
	m := Embedded()
	rows := m.Libraries[:40]
	fsys := fstest.MapFS{
		"matrix.yaml": &fstest.MapFile{Data: []byte("format: 1\nversion: \"2026.11.2\"\ndate: \"2026-11-21\"\n")},
		StackFile:     &fstest.MapFile{Data: EncodeLibraries(rows, "2026-11-21")},
		"torch":       &fstest.MapFile{Mode: 0o755 | fs.ModeDir},
	}
	got, _ := read(fsys, false)
	var want []string
	for _, l := range rows {
		want = append(want, fmt.Sprintf("%s %s %d %s %s %s", l.Package, l.Version, l.Major, l.Arch, Codes(l.Native), Codes(l.PTX)))
	}
	var have []string
	for _, l := range got.Libraries {
		have = append(have, fmt.Sprintf("%s %s %d %s %s %s", l.Package, l.Version, l.Major, l.Arch, Codes(l.Native), Codes(l.PTX)))
	}
	slices.Sort(want)
	slices.Sort(have)
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}
