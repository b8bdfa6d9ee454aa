package index

import (
	"fmt"
	"strings"
	"testing"

	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/google/go-cmp/cmp"
)

// A companion is found by the torch that it pins; where nothing pins it, the
// newest that admits it, with a note.
func TestHarvestFindsCompanions(t *testing.T) {
	vision := func(v, torch, label string) testindex.Wheel {
		return testindex.Wheel{Name: "torchvision", Version: v, Tag: "cp312-cp312-manylinux_2_28_x86_64", Requires: []string{"numpy", torch},
			Files: map[string]string{"torchvision/version.py": fmt.Sprintf("__version__ = '%s+%s'\n", v, label)}}
	}
	for name, tt := range map[string]struct {
		wheels []testindex.Wheel
		want   map[string]string
		note   string
	}{
		"pinned":               {[]testindex.Wheel{vision("0.31.0", "torch==2.16.0", "cu132"), vision("0.30.0", "torch==2.15.0", "cu132"), vision("0.29.0", "torch==2.14.0", "cu130")}, map[string]string{"torchvision": "0.30.0"}, ""},
		"a range":              {[]testindex.Wheel{vision("0.30.0", "torch>=2.14.0", "cu132"), vision("0.29.0", "torch==2.14.0", "cu130")}, map[string]string{"torchvision": "0.30.0"}, "torchvision 0.30.0 declares torch>=2.14.0"},
		"built for CUDA 12":    {[]testindex.Wheel{vision("0.30.0", "torch==2.15.0", "cu128")}, map[string]string{"torchvision": ""}, ""},
		"built without CUDA":   {[]testindex.Wheel{vision("0.30.0", "torch==2.15.0", "cpu")}, map[string]string{"torchvision": "0.30.0"}, ""},
		"only older ones":      {[]testindex.Wheel{vision("0.29.0", "torch==2.14.0", "cu130"), vision("0.28.0", "torch>=1.0", "cu130")}, nil, "no torchvision of the index goes with torch 2.15.0"},
		"a pre-release":        {[]testindex.Wheel{vision("0.31.0rc1", "torch==2.15.0", "cu132"), vision("0.30.0", "torch==2.15.0", "cu132")}, map[string]string{"torchvision": "0.30.0"}, ""},
		"a specifier in error": {[]testindex.Wheel{vision("0.30.0", "torch=>2", "cu132")}, nil, "no torchvision of the index goes with torch 2.15.0"},
	} {
		x := testindex.Serve(t, append(tt.wheels, torchWheel("312"))...)
		d, err := open(t, x.URL).Harvest(t.Context(), &matrix.Matrix{}, version.MustPython("2.15.0"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := d.Release.Builds[0].Companions
		for k, v := range d.Release.Companions {
			if k != "triton" {
				got = map[string]string{k: v.String()}
			}
		}
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, tt.note) {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// What differs between the Pythons of a release, and what cannot be known, is
// for a person.
func TestHarvestAsksAPerson(t *testing.T) {
	other := torchWheel("314")
	other.Requires[2] = `nvidia-cudnn-cu13==9.27.0.1; platform_system == "Linux"`
	other.Requires[1] = "filelock"
	first := torchWheel("312")
	first.Requires[1] = "filelock" // no cuda-toolkit: which patch of 13.2?
	x := testindex.Serve(t, first, other)
	d, err := open(t, x.URL).Harvest(t.Context(), &matrix.Matrix{}, version.MustPython("2.15.0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"the index has no torchvision", "the index has no torchaudio",
		first.Filename() + ": which patch of CUDA 13.2?",
		"cu132 linux x86_64: no wheel between Python 3.12 and 3.14",
		other.Filename() + ": cudnn is 9.27.0.1, not 9.26.0.51 as in " + first.Filename(),
	}
	var missing []string
	for _, w := range want {
		if !strings.Contains(strings.Join(d.Notes, "\n"), w) {
			missing = append(missing, w)
		}
	}
	if len(missing) > 0 {
		t.Errorf("missing %q in %q", missing, d.Notes)
	}
	if text := d.YAML("a test", "2026-11-21").String(); !strings.Contains(text, "# review: cu132 linux x86_64: no wheel between Python 3.12 and 3.14\n") || !strings.Contains(text, `cuda: "13.2"`) {
		t.Error(text)
	}
}
