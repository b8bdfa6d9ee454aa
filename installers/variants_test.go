package installers

import (
	"testing"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// variantsOf are builds of one release as `-variants.json` of an index names them.
func variantsOf(t *testing.T, rows map[string][]string) map[string]*matrix.Build {
	t.Helper()
	r, out := &matrix.Release{}, map[string]*matrix.Build{}
	for _, label := range []string{"cpu", "cu126", "cu128", "cu130", "cu132"} {
		sms, ok := rows[label]
		if !ok {
			continue
		}
		b := &matrix.Build{Release: r, Label: label, OS: "linux", Arch: "x86_64"}
		if label != "cpu" {
			b.CUDA = version.MustDotted(label[2:4] + "." + label[4:] + ".1")
		}
		for _, s := range sms {
			sm, err := machine.ParseSM(s)
			if err != nil {
				t.Fatal(err)
			}
			b.Native = append(b.Native, matrix.Code{SM: sm})
		}
		r.Builds = append(r.Builds, b)
		out[label] = b
	}
	return out
}

// TestVariantRule: what uv 0.13.9 chose with both variables set, from an index on
// loopback with these four variants.
func TestVariantRule(t *testing.T) {
	builds := variantsOf(t, map[string][]string{
		"cu126": {"5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "9.0"}, "cu128": {"7.5", "8.0", "8.6", "9.0", "10.0", "12.0"},
		"cu130": {"7.5", "8.0", "8.6", "9.0", "10.0", "12.0"}, "cu132": {"7.5", "8.0", "8.6", "9.0", "10.0", "12.0"}, "cpu": nil,
	})
	for _, c := range []struct{ sm, cuda, want string }{
		{"7.0", "13.0", "cu126"}, {"9.0", "13.2", "cu132"}, {"12.0", "12.8", "cu128"}, {"6.1", "13.0", "cu126"}, {"9.0", "13.0", "cu130"},
		{"7.0", "11.8", ""}, {"3.7", "13.2", ""},
		{"5.3", "13.0", "cu126"}, {"8.7", "13.2", "cu132"}, // torch has no code that runs there: the provider does not know
	} {
		sm, err := machine.ParseSM(c.sm)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if b, _ := variantFor(siblings(builds["cu126"]), VariantForce{c.cuda, sm}); b != nil {
			got = b.Label
		}
		if got != c.want {
			t.Errorf("capability %s, CUDA %s: %q, want %q", c.sm, c.cuda, got, c.want)
		}
	}
	volta := machine.SM{Major: 7}
	for label, want := range map[string]string{"cu126": "12.6 7.0", "cu128": "12.8 7.5", "cu132": "13.2 7.5"} {
		if f, ok := Variant(builds[label], []machine.SM{volta}); !ok || f.CUDA+" "+f.SM.String() != want {
			t.Errorf("%s: %v %v, want %s", label, f, ok, want)
		}
	}
	if f, ok := Variant(builds["cpu"], nil); ok {
		t.Errorf("a CPU build has %v", f)
	}
	twin := *builds["cu130"]
	twin.Label = "cu130_full"
	twin.Release.Builds = append(twin.Release.Builds, &twin)
	if f, ok := Variant(builds["cu130"], nil); ok {
		t.Errorf("one of two builds for one CUDA has %v", f)
	}
}

// TestVariantsOfTheData: every CUDA build that the data holds is chosen by its own
// values, or is one of two for the same CUDA.
func TestVariantsOfTheData(t *testing.T) {
	m := matrix.Embedded()
	chosen := 0
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			f, ok := Variant(b, nil)
			if !ok {
				continue
			}
			chosen++
			if got, _ := variantFor(siblings(b), f); got != b {
				t.Errorf("torch %s %s: %v chooses another", r.Torch, b.Label, f)
			}
		}
	}
	if chosen < 100 {
		t.Errorf("only %d builds can be chosen", chosen)
	}
}
