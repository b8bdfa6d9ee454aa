package pyproject

import (
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/text"
)

func TestReadEnvironment(t *testing.T) {
	for _, c := range []struct{ dependency, want string }{
		{"numpy", "numpy"},
		{"numpy=1.26", "numpy==1.26.*"},
		{"numpy =1.26", "numpy==1.26.*"},
		{"numpy==1.26.4", "numpy==1.26.4"},
		{"numpy 1.26.*", "numpy==1.26.*"},
		{"numpy=1.26.4=py312h_0", "numpy==1.26.4"},
		{"numpy 1.26.4 py312h_0", "numpy==1.26.4"},
		{"numpy>=1.26,<2", "numpy>=1.26,<2"},
		{"numpy >=1.26, <2", "numpy>=1.26,<2"},
		{"numpy=*", "numpy"},
		{"x264=1!164.3095=h166bdaf_2", "x264==1!164.3095"},
		{"numpy=1.26,!=1.26.1", "numpy==1.26.*,!=1.26.1"},
		{"conda-forge::pytorch=2.5", "torch==2.5.*"},
		{"pytorch-gpu>=2.10", "torch>=2.10"},
		{"pytorch=2.12=cuda*", "torch==2.12"},
	} {
		e, err := ReadEnvironment([]byte("dependencies:\n- "+c.dependency+"\n"), "environment.yml", nil)
		if err != nil || len(e.Requirements) != 1 {
			t.Errorf("%q: %v, %v", c.dependency, e, err)
			continue
		}
		if q := e.Requirements[0]; q.Name+q.Spec.String() != c.want {
			t.Errorf("%q is %s%s, want %s", c.dependency, q.Name, q.Spec, c.want)
		}
	}
}

// A version that pip cannot read is that of a library of conda's: it stops nothing.
func TestVersionOfCondaAlone(t *testing.T) {
	e, err := ReadEnvironment([]byte("dependencies: [pytorch=2.5, jpeg=9e=h0b41bf4_3, a=1|=2]\n"), "environment.yml", nil)
	if err != nil || len(e.Requirements) != 1 || !strings.Contains(strings.Join(e.Notes, " "), `"jpeg=9e=h0b41bf4_3" is a version of conda's alone`) {
		t.Errorf("%v, %v", e, err)
	}
}

func TestReadEnvironmentWhole(t *testing.T) {
	whole := `name: work
channels: [pytorch, nvidia, conda-forge, bioconda]
dependencies:
  - python=3.11
  - pytorch=2.5
  - torchvision
  - pytorch-cuda=12.4
  - pip
  - pip: [rich, "einops>=0.8"]
`
	e, err := ReadEnvironment([]byte(whole), "environment.yml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Python != "==3.11.*" || e.CUDA != "12.4" || e.CPU || len(e.Requirements) != 2 {
		t.Errorf("%+v", e)
	}
	notes := strings.Join(e.Notes, "\n")
	if !strings.Contains(notes, "bioconda") || strings.Join(text.Each(e.Below, pep508.Requirement.Line), " ") != "rich einops>=0.8" {
		t.Errorf("%v, %q", e.Below, notes)
	}
	if e, err := ReadEnvironment([]byte("dependencies: [cpuonly, pytorch]"), "x", nil); err != nil || !e.CPU {
		t.Errorf("cpuonly: %+v, %v", e, err)
	}
	for _, bad := range []string{"dependencies: [1", "dependencies: [7]", "dependencies: ['a b c d>=']", "dependencies: ['a=1<2']", "dependencies: x"} {
		if _, err := ReadEnvironment([]byte(bad), "environment.yml", nil); err == nil || !strings.Contains(err.Error(), "environment.yml") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A lock of conda-lock is no wish without a word: it is refused by its name.
func TestCondaLock(t *testing.T) {
	_, err := Read([]byte("version: 1\npackage:\n- name: pytorch\n  version: 2.5.1\n  manager: conda\n"), "conda-lock.yml", nil)
	if err == nil || !strings.Contains(err.Error(), "conda-lock.yml is a lock of conda-lock") {
		t.Error(err)
	}
}
