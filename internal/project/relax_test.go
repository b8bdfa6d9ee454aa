package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/text"
	"envfix/resolver"
)

// --relax takes what a file pins off a package, and with torch off its companions; what the
// command line says stays, and a name that no file asks for is refused.
func TestRelax(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(file, []byte("Torch==1.13.1+cu117\ntorchvision==0.14.1\nxformers==0.0.16 ; python_version > '3'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ relax, want string }{
		{"", "numpy<2|torch==1.13.1+cu117|torchvision==0.14.1|xformers==0.0.16 ; python_version > '3'"},
		{"torch", "numpy<2|torch|torchvision|xformers==0.0.16 ; python_version > '3'"},
		{"XFormers", "numpy<2|torch==1.13.1+cu117|torchvision==0.14.1|xformers ; python_version > '3'"},
		{"numpy", "is not understood"}, // the command line's own words
		{"pillow", "numpy<2|pillow|torch==1.13.1+cu117|torchvision==0.14.1|xformers==0.0.16 ; python_version > '3'"},
		{"scipy", "is not understood"},
		{"locked", "is not understood"},
	} {
		w := Wish{Arguments: []string{"numpy<2"}, Files: []string{file}}
		if c.relax != "" {
			w.Relax = []string{c.relax}
		}
		if c.relax == "pillow" {
			w.Arguments = append(w.Arguments, c.relax)
		}
		if c.relax == "locked" {
			w.Relax, w.Lock = []string{"torch"}, &pyproject.OwnLock{}
		}
		r, err := w.AsRequest(true, "2026-11-21", func() (*resolver.Policy, error) { return nil, nil })
		got := strings.Join(text.Each(r.Requirements, pep508.Requirement.Line), "|")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("--relax %s: %s, want %s", c.relax, got, c.want)
		}
	}
}

// The CUDA that a file names is that of its torch, and goes with it.
func TestRelaxCUDA(t *testing.T) {
	dir := tree(t, map[string]string{"environment.yml": "dependencies:\n- pytorch=1.7.1\n- cudatoolkit=11.0\n"})
	for relax, want := range map[string]string{"": "11.0", "Torch": "", "numpy": "11.0"} {
		w := Wish{Files: []string{filepath.Join(dir, "environment.yml")}}
		w.Relax = []string{relax}
		if err := w.Environment(); err != nil || w.CUDA != want || w.FileCUDA != (want != "") {
			t.Errorf("--relax %q: CUDA %q, of the file: %v, %v", relax, w.CUDA, w.FileCUDA, err)
		}
	}
}
