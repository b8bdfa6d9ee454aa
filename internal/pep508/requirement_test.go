package pep508

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	type want struct {
		Name, Spec, Label, Marker, URL string
		Extras                         []string
	}
	for _, c := range []struct {
		in   string
		want want
	}{
		{"torch", want{Name: "torch"}},
		{" Torch == 2.9.* ", want{Name: "torch", Spec: "== 2.9.*"}},
		{"torch==2.9.1+cu126", want{Name: "torch", Spec: "==2.9.1", Label: "cu126"}},
		{"torch==2.9.1+CU126", want{Name: "torch", Spec: "==2.9.1", Label: "cu126"}},
		{"torch>=2.6,<2.9", want{Name: "torch", Spec: ">=2.6,<2.9"}},
		{"torch (>=2.6,<2.9)", want{Name: "torch", Spec: ">=2.6,<2.9"}},
		{"flash_attn~=2.8", want{Name: "flash-attn", Spec: "~=2.8"}},
		{"vllm[Audio, video]>=0.10", want{Name: "vllm", Spec: ">=0.10", Extras: []string{"audio", "video"}}},
		{"torch>=2; python_version >= '3.10'", want{Name: "torch", Spec: ">=2", Marker: "python_version >= '3.10'"}},
		{"torch @ https://host/a;b.whl ; sys_platform == 'linux'", want{Name: "torch", URL: "https://host/a;b.whl", Marker: "sys_platform == 'linux'"}},
		{"torch==2.10.0+rocm7.0", want{Name: "torch", Spec: "==2.10.0", Label: "rocm7.0"}},
	} {
		r, err := Parse(c.in, "")
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		got := want{r.Name, r.Spec.String(), r.Label, r.Marker, r.URL, r.Extras}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.in, d)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, words := range map[string]string{
		"":                       "empty requirement",
		"==2.9":                  "does not begin with a package name",
		"torch 2.9":              "is not a version specifier",
		"torch==two":             "version specifier",
		"torch>=2.9.1+cu126":     "goes with == only",
		"torch==2.9.*+cu126":     "is not a local label",
		"torch==2.9.1+":          "version specifier",
		"torch==2.9+cu1,==2+cu2": "two labels",
		"torch[a":                "closing ]",
		"torch[a b]":             "name of an extra",
		"torch @ ":               "one URL",
		"torch ; rm -rf /":       "environment marker",
		"torch ; python_version": "environment marker",
		"torch-2.9.1-cp312-cp312-linux_x86_64.whl": "is a file or an address",
		"./wheels/torch.whl":                       "is a file or an address",
		"git+https://host/torch":                   "is a file or an address",
		"tor\x1bch":                                "is not a requirement",
		"torch=2.9":                                "version specifier",
	} {
		if _, err := Parse(in, ""); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: error %v, want one with %q", in, err, words)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"torch==2.9.1+cu126", "a[b]>=1;c", "x @ https://y", "a.b-_c", "torch (==2)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s, "")
		if err != nil {
			return
		}
		again, err := Parse(r.Text, "")
		if err != nil {
			t.Fatalf("%q was read, its own text %q was not: %v", s, r.Text, err)
		}
		if again.Name != r.Name || again.Label != r.Label || again.Spec.String() != r.Spec.String() || machine.NormalName(r.Name) != r.Name {
			t.Fatalf("%q: %+v became %+v", s, r, again)
		}
	})
}

func TestAsksFor(t *testing.T) {
	for line, want := range map[string]bool{
		"typing_extensions>=4 # why": true, " Typing.Extensions ; python_version < '3.11'\n": true,
		"typing-extensions-ext": false, "-r typing-extensions": false, "# typing-extensions": false, "": false,
	} {
		if got := AsksFor(line, "typing-extensions"); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestReadNames(t *testing.T) {
	of := Read([]string{"Typing.Extensions>=4", "-r other.txt", "", "torch"}, "a.txt")
	if got := Names(of); !slices.Equal(got, []string{"typing-extensions", "torch"}) || of[1].From != "a.txt" {
		t.Errorf("%v from %q", got, of[1].From)
	}
}
