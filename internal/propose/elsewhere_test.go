package propose

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/resolver"
)

// What is found without the build that a pin names, as a page of files has it, is installed
// without: the pin itself is on no index.
func TestBuildElsewhere(t *testing.T) {
	f := files{}
	f.wheel("scatter", "2.1.0", "py3-none-any")
	f.sdist("cluster", "1.6.0", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: cluster\nVersion: 1.6.0\n"})
	r := request(t, "torch", "scatter==2.1.0+pt113cu117", "cluster==1.6.0+pt113cu117")
	l := asks(t, f)
	for want, a := range map[string]*Answer{
		"torch scatter==2.1.0 cluster==1.6.0":            propose(t, l, r),
		"torch scatter==2.1.0+pt113cu117 cluster==1.6.0": l.Unresolved(t.Context(), r, "no uv"), // of what is no source nobody said what there is
	} {
		if got := strings.Join(text.Each(a.Installed(r).Requirements, pep508.Requirement.Line), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if said := "cluster==1.6.0+pt113cu117 (requirements.txt:1): the index has it in no such build, and cluster==1.6.0 without is installed"; !slices.Contains(a.Said, said) {
			t.Errorf("%q", a.Said)
		}
	}
}

// What another package requires and has wheels for an older Python alone is no reason to build
// it: uv says what it found, and that Python is next.
func TestPythonOfWhatOthersRequire(t *testing.T) {
	f := files{}
	f.wheel("lib", "1.0", "py3-none-any", "tok>=1,<2")
	f.wheel("tok", "1.0", "cp39-cp39-manylinux_2_17_x86_64")
	f.sdist("tok", "1.0", filepath.Join(t.TempDir(), "ran"), map[string]string{"PKG-INFO": "Metadata-Version: 2.2\nName: tok\nVersion: 1.0\n"})
	a := propose(t, asks(t, f), request(t, "torch", "lib"))
	if a.Python != "3.9" || len(a.Build) > 0 || !strings.Contains(strings.Join(a.Said, "\n"), "Python 3.9, not 3.12: tok") {
		t.Errorf("%+v", a)
	}
}

// A framework that stands in a list under both its names is asked for as the list does.
func TestBothNamesOfAFramework(t *testing.T) {
	l := &Loop{Framework: func(name string) bool { return name == "ort-gpu" }}
	c := &resolver.Choice{Ask: map[string]string{"ort": "ort-gpu==1.15.1", "ort-gpu": "ort-gpu==1.18.0"}}
	a := &Answer{}
	no := &refusal{"because you require ort-gpu==1.15.1 and ort-gpu==1.18.0, we can conclude that your requirements are unsatisfiable."}
	if !l.plainly(a, request(t, "ort==1.15.1", "ort-gpu==1.18.0"), c, no) || !slices.Equal(a.Plain, []string{"ort"}) {
		t.Errorf("%+v", a)
	}
}

// Of what has wheels for a Python alone that no torch of this machine has, that is said: uv
// names the Python that it was asked for.
func TestPythonWithoutTorch(t *testing.T) {
	f := files{}
	f.wheel("shapes", "0.13", "cp36-cp36m-manylinux_2_17_x86_64")
	f.wheel("shapes", "0.13", "cp37-cp37m-manylinux_2_17_x86_64")
	a := propose(t, asks(t, f), request(t, "torch>=2.7", "shapes==0.13"))
	if said := "shapes==0.13 has wheels for Python 3.7 alone, for which no torch runs here that the project admits"; a.Refused == "" || !slices.Contains(a.Said, said) {
		t.Errorf("%+v", a)
	}
}

// What others require of setuptools they mostly import pkg_resources of, which setuptools 82
// has no more: wandb 0.13.5 beside it cannot be imported. Who needs a later one gets it.
func TestPkgResources(t *testing.T) {
	f := files{}
	f.wheel("old", "1.0", "py3-none-any", "setuptools")
	f.wheel("new", "1.0", "py3-none-any", "setuptools>=82")
	f.wheel("setuptools", "81.0.0", "py3-none-any")
	f.wheel("setuptools", "82.0.0", "py3-none-any")
	for asked, want := range map[string]string{"old": "81.0.0", "new": "82.0.0", "old setuptools": "81.0.0", "old setuptools>=82": "82.0.0", "old by hand": "82.0.0"} {
		files, hand := strings.CutSuffix(asked, " by hand")
		r := request(t, strings.Fields(files)...)
		if hand {
			r.Requirements = append(r.Requirements, pep508.Requirement{Name: "setuptools", Text: "setuptools"})
		}
		if a := propose(t, asks(t, f), r); a.Versions["setuptools"] != want {
			t.Errorf("%s: setuptools %q, not %s (%s)", asked, a.Versions["setuptools"], want, a.Refused)
		}
	}
}
