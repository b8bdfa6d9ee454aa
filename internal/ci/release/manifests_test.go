package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManifests: what Homebrew and scoop read names each download with the digest
// that it has, and Ruby can parse the formula. Neither program is asked: they are not
// where tests run.
func TestManifests(t *testing.T) {
	r := trial(t)
	r.URL = "https://releases.example/envfix"
	for _, target := range r.Targets {
		name := target.name() + ".tar.gz"
		if target.os == "windows" {
			name = target.name() + ".zip"
		}
		r.write(name, []byte("the download for "+target.String()), 0o644)
	}
	manifests(r)
	formula, err := os.ReadFile(filepath.Join(r.Out, "envfix.rb"))
	if err != nil {
		t.Fatal(err)
	}
	pairs := regexp.MustCompile(`url "https://releases.example/envfix/1\.2\.3/([^"]+)"\s+sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(string(formula), -1)
	if len(pairs) != 4 {
		t.Fatalf("the formula names %d downloads, want 4:\n%s", len(pairs), formula)
	}
	for _, p := range pairs {
		if digest(filepath.Join(r.Out, p[1])) != p[2] {
			t.Errorf("%s has another digest", p[1])
		}
	}
	var scoop struct {
		Version, License, Homepage, Bin string
		Architecture                    map[string]struct{ URL, Hash string }
	}
	b, err := os.ReadFile(filepath.Join(r.Out, "envfix.scoop.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &scoop); err != nil {
		t.Fatal(err)
	}
	at := scoop.Architecture["64bit"]
	sum := digest(filepath.Join(r.Out, "envfix-windows-x86_64.zip"))
	if at.Hash != sum || !strings.HasSuffix(at.URL, "/1.2.3/envfix-windows-x86_64.zip") || scoop.Bin != "envfix.exe" || scoop.Version != "1.2.3" || scoop.Homepage == "" || scoop.License == "" {
		t.Errorf("scoop's manifest says %+v", scoop)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("not parsed, because ruby is not here")
	}
	output("ruby", "-c", filepath.Join(r.Out, "envfix.rb"))
}
